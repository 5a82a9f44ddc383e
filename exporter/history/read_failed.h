/* Reports a failed read of the history to the historian. */
#ifndef EXPORTER_HISTORY_READ_FAILED_H
#define EXPORTER_HISTORY_READ_FAILED_H

struct app;

/* When code is -EBADMSG (corrupt), the historian checks the file and sets it aside. Any thread. */
void history_read_failed(struct app *app, int code);

#endif
