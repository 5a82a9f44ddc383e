/*
 * An error for people, on the caller's stack: a code and one sentence.
 *
 * Functions return the code (0 or a negative errno) and fill the text when e is not NULL. Expected
 * absence (a vanished process, no GPU) is a code alone. Callers wrap; libraries never log.
 */
#ifndef COLLECTORS_BASE_ERR_H
#define COLLECTORS_BASE_ERR_H

struct err {
	int code;
	char text[256];
};

/* Both return code, so that "return err_set(e, -EINVAL, ...)" is one line. Text is cut, never overrun. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": " and the system's text for code appended. */
int err_system(struct err *e, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "format: " before the text e already has; returns e->code. */
int err_wrap(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
