/*
 * The vendors' metadata services: which questions each answers, and what the answers say. One table row a vendor.
 * Addresses are link-local and no answer leaves the machine.
 */
#ifndef EXPORTER_THIS_SERVER_VENDORS_H
#define EXPORTER_THIS_SERVER_VENDORS_H

#include <stdbool.h>
#include <stddef.h>

#include "exporter/this_server/this_server.h"

#define CLOUD_QUESTIONS_MAX 6
#define CLOUD_MARKS_MAX     4

struct cloud_question {
	const char *path;
	/* Takes what the body says; false: it is not from this vendor. */
	bool (*take)(const char *body, size_t len, struct machine *ret);
	bool optional; /* an answer other than 200 says nothing */
};

struct cloud_vendor {
	const char *vendor_id; /* as in the catalogue */
	const char *address;   /* of the service, IPv4; port 80 */
	/* What a text of /sys/class/dmi/id begins with on such a machine; NULL ends. */
	const char *marks[CLOUD_MARKS_MAX];
	const char *header; /* "Name: value", sent with each question; NULL = none */
	/* A PUT that gives the token to send with each question; NULL = none is needed. */
	const char *token_path, *token_lifetime, *token_header;
	struct cloud_question question[CLOUD_QUESTIONS_MAX]; /* path NULL ends */
};

extern const struct cloud_vendor vendor_table[];
extern const size_t vendor_count;

/* The texts of /sys/class/dmi/id that tell a vendor. */
struct dmi {
	char sys_vendor[96], product_name[96], bios_vendor[96], bios_version[96],
		chassis_asset_tag[96];
};

enum dmi_verdict {
	DMI_SILENT, /* nothing could be read: it may be any */
	DMI_RULES_OUT,
	DMI_MATCHES,
};
enum dmi_verdict vendor_judge_dmi(const struct dmi *d, const struct cloud_vendor *v);

/* What DMI says without asking anybody; ret is left as it is where it does not say. */
void vendor_by_dmi(const struct dmi *d, struct machine *ret);

#endif
