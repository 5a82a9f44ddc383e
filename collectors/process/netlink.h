/* Reads the messages and attributes of Netlink datagrams, and builds the few requests that we send.
 * These are pure functions. A length in a received datagram is checked before bytes are read. */
#ifndef COLLECTORS_PROCESS_NETLINK_H
#define COLLECTORS_PROCESS_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const unsigned char *data;
	size_t len;
};

struct netlink_message {
	uint16_t type;
	struct bytes body; /* the bytes after the header */
};

/* Reads the next message. Returns false at the end, or when the remaining bytes are malformed. */
bool netlink_next(struct bytes *rest, struct netlink_message *ret);

/* Reads the code of an error message; 0 = acknowledgement. Returns false for any other message. */
bool netlink_error(const struct netlink_message *m, int *ret);

struct netlink_attribute {
	uint16_t type; /* type of the attribute, without the flag bits */
	struct bytes value;
};

bool netlink_attribute(struct bytes *rest, struct netlink_attribute *ret);

/* Drops `len` bytes at the start. Returns false and drops none when fewer bytes are left. */
bool netlink_skip(struct bytes *b, size_t len);

/* Returns the native-endian number at an offset; 0 past the end. */
uint16_t netlink_u16(struct bytes b, size_t offset);
uint32_t netlink_u32(struct bytes b, size_t offset);
uint64_t netlink_u64(struct bytes b, size_t offset);

/* ---- a generic netlink request with one attribute ---- */
#define NETLINK_REQUEST_MAX 256

struct netlink_request {
	size_t len;
	_Alignas(4) unsigned char data[NETLINK_REQUEST_MAX];
};

struct netlink_command {
	uint16_t family;
	uint8_t command, version;
	/* Request an answer on success, too. The kernel always answers after a failure. */
	bool acknowledge;
};

/* Builds a request. An assertion checks that the value fits. */
void netlink_generic(struct netlink_request *ret, const struct netlink_command *c,
	uint16_t attribute, const void *value, size_t len);

#endif
