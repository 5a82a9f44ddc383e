/* Layout: linux/netlink.h, netlink(7). */
#include "collectors/process/netlink.h"

#include <assert.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>

bool netlink_skip(struct bytes *b, size_t len)
{
	if (len > b->len)
		return false;
	b->data += len;
	b->len -= len;
	return true;
}

static void number_at(struct bytes b, size_t offset, void *out, size_t size)
{
	if (offset <= b.len && size <= b.len - offset)
		memcpy(out, b.data + offset, size);
}

uint16_t netlink_u16(struct bytes b, size_t offset)
{
	uint16_t v = 0;

	number_at(b, offset, &v, sizeof v);
	return v;
}

uint32_t netlink_u32(struct bytes b, size_t offset)
{
	uint32_t v = 0;

	number_at(b, offset, &v, sizeof v);
	return v;
}

uint64_t netlink_u64(struct bytes b, size_t offset)
{
	uint64_t v = 0;

	number_at(b, offset, &v, sizeof v);
	return v;
}

static size_t padded_length(size_t len)
{
	return (len + NLMSG_ALIGNTO - 1) & ~(size_t)(NLMSG_ALIGNTO - 1);
}

/* Skips `len` bytes and the padding after them. At the end of `rest`, the padding may be
 * missing. */
static void skip_padded(struct bytes *rest, size_t len)
{
	len = padded_length(len);
	netlink_skip(rest, len < rest->len ? len : rest->len);
}

bool netlink_next(struct bytes *rest, struct netlink_message *ret)
{
	size_t len = netlink_u32(*rest, offsetof(struct nlmsghdr, nlmsg_len));

	if (len < NLMSG_HDRLEN || len > rest->len)
		return false;
	*ret = (struct netlink_message){
		.type = netlink_u16(*rest, offsetof(struct nlmsghdr, nlmsg_type)),
		.body = {rest->data + NLMSG_HDRLEN, len - NLMSG_HDRLEN},
	};
	skip_padded(rest, len);
	return true;
}

bool netlink_error(const struct netlink_message *m, int *ret)
{
	if (m->type != NLMSG_ERROR || m->body.len < sizeof(int32_t))
		return false;
	*ret = (int)(int32_t)netlink_u32(m->body, 0);
	return true;
}

#define ATTRIBUTE_HEADER sizeof(struct nlattr)
#define ATTRIBUTE_TYPE   0x3fff /* the upper bits are NLA_F_NESTED and NLA_F_NET_BYTEORDER */

bool netlink_attribute(struct bytes *rest, struct netlink_attribute *ret)
{
	size_t len = netlink_u16(*rest, offsetof(struct nlattr, nla_len));

	if (len < ATTRIBUTE_HEADER || len > rest->len)
		return false;
	*ret = (struct netlink_attribute){
		.type = netlink_u16(*rest, offsetof(struct nlattr, nla_type)) & ATTRIBUTE_TYPE,
		.value = {rest->data + ATTRIBUTE_HEADER, len - ATTRIBUTE_HEADER},
	};
	skip_padded(rest, len);
	return true;
}

void netlink_generic(struct netlink_request *ret, const struct netlink_command *c,
	uint16_t attribute, const void *value, size_t len)
{
	struct nlmsghdr header = {
		.nlmsg_type = c->family,
		.nlmsg_flags = c->acknowledge ? NLM_F_REQUEST | NLM_F_ACK : NLM_F_REQUEST,
	};
	struct genlmsghdr generic = {.cmd = c->command, .version = c->version};
	struct nlattr a = {.nla_len = (uint16_t)(ATTRIBUTE_HEADER + len), .nla_type = attribute};
	size_t start = NLMSG_HDRLEN + GENL_HDRLEN;

	*ret = (struct netlink_request){.len = start + padded_length(ATTRIBUTE_HEADER + len)};
	assert(ret->len <= sizeof ret->data);
	header.nlmsg_len = (uint32_t)ret->len;
	memcpy(ret->data, &header, sizeof header);
	memcpy(ret->data + NLMSG_HDRLEN, &generic, sizeof generic);
	memcpy(ret->data + start, &a, sizeof a);
	memcpy(ret->data + start + ATTRIBUTE_HEADER, value, len);
}
