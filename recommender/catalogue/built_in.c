/* The catalogue compiled into the program. */
#include "recommender/catalogue/catalogue.h"

/* The file recommender/catalogue/servers.csv, embedded by deploy/cmake/Embed.cmake. */
extern const unsigned char servers_csv[];
extern const size_t servers_csv_size;

int catalogue_built_in(struct catalogue **ret, struct err *e)
{
	return catalogue_from_csv(ret, (const char *)servers_csv, servers_csv_size, "built-in", e);
}
