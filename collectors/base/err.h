/* An error message for people, on the caller's stack: a code and one sentence.
 *
 * Functions return the code (0 or a negative errno), and fill the text if `e` is not NULL. Some
 * errors are normal, such as a process that ended or a machine without a GPU. For these errors,
 * functions return the code without a text. Callers add context with err_wrap. Libraries never
 * log. */
#ifndef COLLECTORS_BASE_ERR_H
#define COLLECTORS_BASE_ERR_H

#define ERR_TEXT_MAX 512

struct err {
	int code;
	char text[ERR_TEXT_MAX];
};

/* err_set and err_system return `code`, so that "return err_set(e, -EINVAL, ...)" is one line. A
 * text that is too long is cut, and ends with "...". */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Like err_set, but appends ": " and the system's text for `code`. */
int err_system(struct err *e, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "format: " before the text of `e`. Returns e->code. */
int err_wrap(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
