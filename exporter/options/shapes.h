/*
 * What the text of an option may be, where not any that is not empty. It is looked at when the options are read, so that a
 * slip of the pen is an error at the start, not a server that answers nothing or a request that fails a day later.
 */
#ifndef EXPORTER_OPTIONS_SHAPES_H
#define EXPORTER_OPTIONS_SHAPES_H

#include <stdbool.h>

struct text_shape {
	bool (*fits)(const char *text); /* any thread */
	const char *accepted;           /* to go on after "accepted is" */
	bool may_hold_secret;           /* what has an @ in it is not repeated */
};

extern const struct text_shape shape_address, shape_url, shape_forward_url, shape_metrics_path,
	shape_host_name, shape_rate;

/* ---- texts with parts ---- */

#define LISTEN_TEXT_MAX   128
#define CURRENCY_CODE_LEN 3

/* "HOST:PORT", "[IPV6]:PORT" or ":PORT". Whether there is such a host shows when it is opened. */
struct listen_address {
	char host[LISTEN_TEXT_MAX]; /* "" = every address */
	char port[8];
	bool numeric_v6;
};
bool listen_address_parse(struct listen_address *ret, const char *text);

/* "EUR=1.16": US dollars for one unit. Whether there is such a currency shows when a catalogue has it or not. */
struct catalogue_currency_rate {
	char currency[CURRENCY_CODE_LEN + 1];
	double usd;
};
bool currency_rate_parse(struct catalogue_currency_rate *ret, const char *text);

#endif
