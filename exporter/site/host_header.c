#include "exporter/site/host_header.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "collectors/base/scan.h"

static bool is_port(const char *text, size_t n)
{
	return n == 0 || (text[0] == ':' && strspn(text + 1, "0123456789") == n - 1);
}

/* Copies the host of a Host header to `out`, without the port, the brackets of an IPv6 address and
 * the final dot of a name. */
static bool host_of(const char *header, char out[HOST_NAME_MAX_BYTES])
{
	size_t len = strlen(header), n = strcspn(header, ":");
	struct slice host = {header, n};

	if (header[0] == '[') {
		const char *end = strchr(header, ']');

		if (!end)
			return false;
		n = (size_t)(end - header) + 1;
		host = (struct slice){header + 1, n - 2};
	} else if (n && header[n - 1] == '.') {
		host.len--;
	}
	if (host.len == 0 || host.len >= HOST_NAME_MAX_BYTES || !is_port(header + n, len - n))
		return false;
	slice_copy(host, out, HOST_NAME_MAX_BYTES);
	return true;
}

static bool is_address(const char *host)
{
	unsigned char address[16];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static bool is_below(const char *domain, const char *host)
{
	size_t n = strlen(domain), len = strlen(host);

	return len > n && strcasecmp(host + len - n, domain) == 0;
}

static bool is_listed(const struct text_list *names, const char *host)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->text[i];

		if (strcasecmp(name, host) == 0 || (name[0] == '.' && is_below(name, host)) ||
			strcmp(name, "*") == 0)
			return true;
	}
	return false;
}

/* Returns true if `host` is this machine's name (nodename of uname(2)). The nodename may include
 * the domain, so `host` may be the whole nodename, or its part before the first dot. */
static bool is_this_machine(const char *host)
{
	struct utsname u;

	if (uname(&u) != 0 || !u.nodename[0])
		return false;
	if (strcasecmp(host, u.nodename) == 0)
		return true;
	u.nodename[strcspn(u.nodename, ".")] = '\0';
	return strcasecmp(host, u.nodename) == 0;
}

bool host_header_is_ours(const struct text_list *names, const char *header)
{
	char host[HOST_NAME_MAX_BYTES];

	if (!header || !host_of(header, host))
		return false;
	return is_address(host) || strcasecmp(host, "localhost") == 0 ||
	       is_below(".localhost", host) || is_listed(names, host) || is_this_machine(host);
}
