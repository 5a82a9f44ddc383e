/* The catalogue compiled into the program. */
#include "recommender/catalogue/unpack.h"

/* The file recommender/catalogue/built_in.pack, embedded by deploy/cmake/Embed.cmake. */
extern const unsigned char built_in_pack[];
extern const size_t built_in_pack_size;

int catalogue_built_in(struct catalogue **ret, struct err *e)
{
	return catalogue_from_pack(ret, built_in_pack, built_in_pack_size, "built-in", e);
}
