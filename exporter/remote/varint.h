/* The encoding of whole numbers in protobuf and snappy: 7 bits in each byte, the lowest bits first.
 * If the highest bit of a byte is set, another byte follows. */
#ifndef EXPORTER_REMOTE_VARINT_H
#define EXPORTER_REMOTE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/base/buf.h"

static inline void varint_add(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addc(out, (char)((v & 0x7f) | 0x80));
	buf_addc(out, (char)v);
}

static inline size_t varint_size(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

#endif
