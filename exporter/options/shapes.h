/* The forms that the texts of options may have. The form is checked when the option is read, so a
 * typing error stops the program at its start. Otherwise the error might show only in a request a
 * day later. */
#ifndef EXPORTER_OPTIONS_SHAPES_H
#define EXPORTER_OPTIONS_SHAPES_H

#include <stdbool.h>

struct text_shape {
	bool (*fits)(const char *text); /* any thread */
	const char *accepted;           /* text after "accepted is " in the error message */
	/* true = if the text contains "@", it may contain a password, so error messages do not show
	 * it */
	bool may_hold_secret;
};

extern const struct text_shape shape_address, shape_url, shape_forward_url, shape_store_url,
	shape_header, shape_metrics_path, shape_host_name, shape_rate, shape_job_name,
	shape_job_space;

/* ---- parsed texts ---- */

#define NO_LISTEN_ADDRESS "none" /* the listen address of a server that has only a Unix socket */
#define LISTEN_TEXT_MAX   128
#define CURRENCY_CODE_LEN 3

/* The parts of "HOST:PORT", "[IPV6]:PORT" or ":PORT". Parsing does not resolve the host. */
struct listen_address {
	char host[LISTEN_TEXT_MAX]; /* "" = every address */
	char port[8];
	bool numeric_v6;
};
bool listen_address_parse(struct listen_address *ret, const char *text);

/* The parts of a text such as "EUR=1.16": a currency, and the US dollars for one unit of it.
 * Parsing does not check that the currency exists. */
struct catalogue_currency_rate {
	char currency[CURRENCY_CODE_LEN + 1];
	double usd;
};
bool currency_rate_parse(struct catalogue_currency_rate *ret, const char *text);

#endif
