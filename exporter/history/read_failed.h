/* A reader of the history met a damaged file. */
#ifndef EXPORTER_HISTORY_READ_FAILED_H
#define EXPORTER_HISTORY_READ_FAILED_H

struct app;

/*
 * A reader of the history failed with code, or did not (0). When the file is damaged the historian is told, which
 * checks it and sets it aside. Any thread.
 */
void history_read_failed(struct app *app, int code);

#endif
