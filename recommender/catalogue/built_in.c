/* The catalogue that comes with the program. */
#include "recommender/catalogue/catalogue.h"

extern const unsigned char
	servers_csv[]; /* recommender/catalogue/servers.csv, by deploy/cmake/Embed.cmake */
extern const size_t servers_csv_size;

int catalogue_built_in(struct catalogue **ret, struct err *e)
{
	return catalogue_from_csv(ret, (const char *)servers_csv, servers_csv_size, "built-in", e);
}
