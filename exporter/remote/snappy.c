/* A block consists of the length of the data, and then literals and copies. A copy means that
 * earlier bytes, which begin at most 64 KiB before, occur again. To find such bytes, a table stores
 * for each hash of 4 bytes where bytes with this hash were last seen. */
#include "exporter/remote/snappy.h"

#include <stdint.h>
#include <string.h>

#include "exporter/remote/varint.h"

#define TABLE_BITS   12
#define LEAST_COPY   4
#define LONGEST_COPY 64
#define FARTHEST     65535

/* TAG_COPY = a copy whose offset takes two bytes */
enum snappy_tag { TAG_LITERAL = 0, TAG_COPY = 2 };

static void put_bytes(struct buf *out, size_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++, v >>= 8)
		buf_addc(out, (char)(v & 0xff));
}

static void put_literal(struct buf *out, const uint8_t *data, size_t len)
{
	size_t most = len - 1;
	unsigned bytes = most >> 16 ? 4 : most >> 8 ? 2 : 1;

	if (len == 0)
		return;
	if (most < 60) {
		buf_addc(out, (char)(most << 2 | TAG_LITERAL));
	} else {
		buf_addc(out, (char)((59 + bytes) << 2 | TAG_LITERAL));
		put_bytes(out, most, bytes);
	}
	buf_add(out, data, len);
}

static void put_copy(struct buf *out, size_t offset, size_t len)
{
	while (len) {
		size_t part = len > LONGEST_COPY ? LONGEST_COPY : len;

		buf_addc(out, (char)((part - 1) << 2 | TAG_COPY));
		put_bytes(out, offset, 2);
		len -= part;
	}
}

static uint32_t group_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static size_t same_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
	size_t n = 0;

	while (b + n < end && a[n] == b[n])
		n++;
	return n;
}

void snappy_write(struct buf *out, const void *data, size_t len)
{
	uint32_t table[1 << TABLE_BITS] = {0};
	const uint8_t *first = data;
	size_t literal = 0, at = 0;

	varint_add(out, len);
	while (at + LEAST_COPY <= len) {
		uint32_t *slot = &table[group_at(first + at) * 2654435761u >> (32 - TABLE_BITS)];
		size_t before = *slot, n = 0;

		*slot = (uint32_t)at;
		if (before < at && at - before <= FARTHEST)
			n = same_bytes(first + before, first + at, first + len);
		if (n < LEAST_COPY) {
			at++;
			continue;
		}
		put_literal(out, first + literal, at - literal);
		put_copy(out, at - before, n);
		at += n;
		literal = at;
	}
	put_literal(out, first + literal, len - literal);
}
