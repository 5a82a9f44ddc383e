/*
 * What the text of an option may be, where not any that is not empty. It is looked at when the options are read, so that a
 * slip of the pen is an error at the start, not a server that answers nothing or a request that fails a day later.
 */
#ifndef EXPORTER_OPTION_SHAPES_H
#define EXPORTER_OPTION_SHAPES_H

#include <stdbool.h>

struct text_shape {
	bool (*fits)(const char *text); /* may look at all of the program's tables; any thread */
	const char *accepted;           /* to go on after "accepted is" */
	bool may_hold_secret;           /* what has an @ in it is not repeated */
};

extern const struct text_shape shape_address, shape_url, shape_forward_url, shape_metrics_path,
	shape_host_name, shape_rate;

#endif
