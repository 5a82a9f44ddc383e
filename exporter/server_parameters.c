/* What may be asked about servers, by name. */
#include "exporter/server_parameters.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"

#define VENDORS_MAX 64

#if defined(__x86_64__)
#define NATIVE ARCHITECTURE_X86_64
#elif defined(__aarch64__)
#define NATIVE ARCHITECTURE_ARM64
#else
#define NATIVE ARCHITECTURE_UNKNOWN
#endif

/* A job's programs run where they were built for, which is what this program was built for, too. */
static const struct {
	const char *word;
	enum architecture architecture; /* UNKNOWN = any */
} architectures[] = {
	{"native", NATIVE},
	{"any", ARCHITECTURE_UNKNOWN},
	{"x86_64", ARCHITECTURE_X86_64},
	{"arm64", ARCHITECTURE_ARM64},
};

const char *architecture_choice(size_t i)
{
	return i < ARRAY_LEN(architectures) ? architectures[i].word : NULL;
}

/* As struct pick_options wants them: a bit each, none for any. */
static unsigned architecture_bits(const char *word)
{
	size_t i = 0;

	while (i < ARRAY_LEN(architectures) - 1 && strcmp(architectures[i].word, word) != 0)
		i++;
	return architectures[i].architecture == ARCHITECTURE_UNKNOWN ?
		       0 :
		       1u << architectures[i].architecture;
}

/* The catalogue's vendors, each once. */
static size_t vendors_of(const struct catalogue *c, const char *ret[VENDORS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && n < VENDORS_MAX; i++) {
		const char *vendor = c->server[i].vendor_id;
		size_t k = 0;

		while (k < n && strcmp(ret[k], vendor) != 0)
			k++;
		if (k == n)
			ret[n++] = vendor;
	}
	return n;
}

/* True when every vendor that was asked for is in the catalogue; otherwise r is filled. */
static bool vendors_ok(const struct catalogue *c, const struct pick_options *o, struct reply *r)
{
	const char *known[VENDORS_MAX + 1] = {0};
	size_t n = vendors_of(c, known);
	char message[256];

	for (size_t i = 0; i < o->vendors.n && n < VENDORS_MAX; i++) {
		size_t k = 0;

		while (k < n && strcmp(known[k], o->vendors.text[i]) != 0)
			k++;
		if (k < n)
			continue;
		snprintf(message, sizeof message, "vendor: \"%s\" is not in the catalogue %s",
			o->vendors.text[i], c->source);
		reply_error(r, 400, "bad_parameter", message, "accepted", known);
		return false;
	}
	return true;
}

bool server_options(const struct arguments *a, const struct catalogue *c, struct pick_options *ret,
	struct reply *r)
{
	*ret = (struct pick_options){
		.limit = argument_count(a, "limit"),
		.architectures = architecture_bits(argument_text(a, "architecture")),
	};
	ret->vendors.n = argument_texts(a, "vendor", &ret->vendors.text);
	return vendors_ok(c, ret, r);
}
