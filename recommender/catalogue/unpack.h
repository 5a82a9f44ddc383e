/* Reads a packed catalogue: the form in which the built-in catalogue is compiled into the program.
 * recommender/catalogue/built_in.py makes it, and describes it. Everything is checked, so a damaged
 * pack gives an error. */
#ifndef RECOMMENDER_CATALOGUE_UNPACK_H
#define RECOMMENDER_CATALOGUE_UNPACK_H

#include "recommender/catalogue/catalogue.h"

/* Largest size after decompression. The pack of 2026-08 has 0.8 MiB. */
#define UNPACKED_MAX (8u << 20)

/* -EBADMSG: the data is damaged, and the message says where. If the builder refuses a row, returns
 * the builder's error (build.h). */
int catalogue_from_pack(struct catalogue **ret, const unsigned char *data, size_t len,
	const char *source, struct err *e);

/* Reads a pack that is already decompressed. catalogue_from_pack decompresses, then calls it. */
int catalogue_from_unpacked(struct catalogue **ret, const char *text, size_t len,
	const char *source, struct err *e);

#endif
