/* Reports a failed read of the history to the historian. */
#ifndef EXPORTER_HISTORY_READ_FAILED_H
#define EXPORTER_HISTORY_READ_FAILED_H

struct app;

/* Call it with the error of a failed read. If `code` is -EBADMSG, the historian checks the file of
 * the history, and sets it aside when it is corrupt. Does nothing for other codes. Any thread may
 * call it. */
void history_read_failed(struct app *app, int code);

#endif
