/* A table of cloud vendors: their metadata services, the requests to send to the services
 * ("questions"), and the parsers of the answers. All addresses of the services are link-local. */
#ifndef EXPORTER_THIS_SERVER_VENDORS_H
#define EXPORTER_THIS_SERVER_VENDORS_H

#include <stdbool.h>
#include <stddef.h>

#include "exporter/this_server/this_server.h"

#define CLOUD_QUESTIONS_MAX 6
#define CLOUD_MARKS_MAX     4

struct cloud_question {
	const char *path;
	/* Parses the body into `ret`. Returns false when the body is not a response of this
	 * vendor. */
	bool (*take)(const char *body, size_t len, struct machine *ret);
	bool optional; /* true = the service may fail to answer this question */
};

struct cloud_vendor {
	const char *vendor_id; /* as in the catalogue */
	const char *address;   /* IPv4 address of the service; port 80 */
	/* On a server of this vendor, one of the texts in /sys/class/dmi/id begins with one of
	 * these marks. NULL ends the list. */
	const char *marks[CLOUD_MARKS_MAX];
	const char *header; /* "Name: value", sent with each question; NULL = none */
	/* For a service that demands a token: a PUT request to token_path with the header
	 * token_lifetime returns the token, and each question sends it in the header token_header.
	 * NULL = no token is needed. */
	const char *token_path, *token_lifetime, *token_header;
	struct cloud_question question[CLOUD_QUESTIONS_MAX]; /* a NULL path ends the list */
};

extern const struct cloud_vendor vendor_table[];
extern const size_t vendor_count;

/* Contents of the files of /sys/class/dmi/id that identify a vendor. */
struct dmi {
	char sys_vendor[96], product_name[96], bios_vendor[96], bios_version[96],
		chassis_asset_tag[96];
};

enum dmi_verdict {
	DMI_SILENT, /* no text could be read, so any vendor is possible */
	DMI_RULES_OUT,
	DMI_MATCHES,
};
enum dmi_verdict vendor_judge_dmi(const struct dmi *d, const struct cloud_vendor *v);

/* Fills `ret` from DMI alone. Leaves unknown members unchanged. */
void vendor_by_dmi(const struct dmi *d, struct machine *ret);

#endif
