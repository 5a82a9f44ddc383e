/* Reports a failed read of the history to the historian. */
#ifndef EXPORTER_HISTORY_READ_FAILED_H
#define EXPORTER_HISTORY_READ_FAILED_H

struct app;

/* Makes the historian check the file when `code` is -EBADMSG, and set it aside when it is corrupt.
 * Any thread may call it. */
void history_read_failed(struct app *app, int code);

#endif
