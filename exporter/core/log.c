#include "exporter/core/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/clock.h"
#include "collectors/base/job_key.h"
#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"

#define LOG_VALUE_MAX   1024
#define LOG_LINE_MAX    8192
#define LOG_PATIENCE_MS 200
#define LOG_HOLD_MAX    (64u << 10)

static const char *const level_names[] = {
	[LOG_LEVEL_DEBUG] = "debug",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_ERROR] = "error",
};

static struct {
	enum log_level least;
	bool json;
} setup = {LOG_LEVEL_INFO, false}; /* log_setup sets it before threads start */

/* The lines that wait for log_release. */
static struct {
	pthread_mutex_t lock;
	bool on;
	struct buf lines;
} hold = {.lock = PTHREAD_MUTEX_INITIALIZER};

void log_setup(const char *level, const char *format)
{
	for (unsigned i = 0; i < ARRAY_LEN(level_names); i++)
		if (strcmp(level, level_names[i]) == 0)
			setup.least = (enum log_level)i;
	setup.json = strcmp(format, "json") == 0;
}

/* Appends `text` in double quotes with the escapes of JSON, which are also valid in logfmt. */
static void add_quoted(struct buf *b, const char *text)
{
	buf_addc(b, '"');
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			buf_addf(b, "\\%c", c);
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c < 0x20 || c == 0x7f)
			buf_addf(b, "\\u%04x", c);
		else
			buf_addc(b, *p);
	}
	buf_addc(b, '"');
}

static bool plain(const char *text)
{
	if (!*text)
		return false;
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '"' || *p == '=' || *p == '\\' || *p == 0x7f)
			return false;
	return true;
}

static void add_pair(struct buf *b, const char *key, const char *value)
{
	char clean[LOG_VALUE_MAX];

	utf8_clean(value, strlen(value), clean, sizeof clean);
	if (setup.json) {
		buf_adds(b, b->len > 1 ? "," : "");
		add_quoted(b, key);
		buf_addc(b, ':');
		add_quoted(b, clean);
		return;
	}
	buf_addf(b, "%s%s=", b->len ? " " : "", key);
	if (plain(clean))
		buf_adds(b, clean);
	else
		add_quoted(b, clean);
}

static void add_job(struct buf *b, const char *key)
{
	struct job_parts p = job_key_parts(key);

	add_pair(b, "job_name", p.name);
	if (*p.space)
		add_pair(b, "namespace", p.space);
	if (*p.cluster)
		add_pair(b, "cluster", p.cluster);
}

bool log_write(const char *text, size_t len, int patience_ms)
{
	struct stat st;
	/* Write at most PIPE_BUF bytes to a pipe: after poll(2) has reported that the pipe is
	 * writable, such a write does not block (pipe(7)). */
	size_t most = fstat(STDERR_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? PIPE_BUF : len;

	for (size_t n; len > 0; text += n, len -= n) {
		struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
		int ready;

		n = len < most ? len : most;
		do
			ready = poll(&p, 1, patience_ms);
		while (ready < 0 && errno == EINTR);
		ssize_t put = ready > 0 ? write(STDERR_FILENO, text, n) : -1;

		if (put <= 0)
			return false;
		n = (size_t)put;
	}
	return true;
}

/* Writes a line. If stderr is blocked, the program must not wait for it: the line is dropped after
 * LOG_PATIENCE_MS. The next lines are then dropped at once, until a line can be written again. */
static void put_line(const struct buf *line)
{
	static atomic_ulong dropped;
	char number[24];

	if (!log_write(buf_text(line), line->len, atomic_load(&dropped) ? 0 : LOG_PATIENCE_MS)) {
		atomic_fetch_add(&dropped, 1);
		return;
	}
	unsigned long before = atomic_exchange(&dropped, 0);

	if (!before)
		return;
	snprintf(number, sizeof number, "%lu", before);
	log_line(LOG_LEVEL_WARN, "log lines were dropped: the reader of stderr was too slow",
		"dropped_lines", number, NULL);
}

void log_hold(void)
{
	if (setup.least == LOG_LEVEL_DEBUG)
		return;
	pthread_mutex_lock(&hold.lock);
	hold.on = true;
	hold.lines = BUF_MAX(LOG_HOLD_MAX);
	pthread_mutex_unlock(&hold.lock);
}

void log_release(void)
{
	pthread_mutex_lock(&hold.lock);
	struct buf lines AUTO(buf_done) = hold.lines;

	hold.lines = BUF_MAX(0);
	hold.on = false;
	pthread_mutex_unlock(&hold.lock);
	/* Use one write(2) for each line. A write of all lines to a pipe would be split at PIPE_BUF
	 * bytes: a line of another program could then appear in the middle of a line. */
	for (char *p = lines.data, *end; p && (end = strchr(p, '\n')); p = end + 1) {
		struct buf line AUTO(buf_done) = BUF_MAX(LOG_LINE_MAX);

		buf_add(&line, p, (size_t)(end + 1 - p));
		put_line(&line);
	}
}

/* Lets a line wait for log_release, and returns true. If the buffer is full, or if the line is an
 * error, writes all waiting lines and returns false. The caller then writes the line. After an
 * error the program may end, so no line may wait. */
static bool hold_line(enum log_level level, const struct buf *line)
{
	bool held = false;

	pthread_mutex_lock(&hold.lock);
	if (hold.on && level < LOG_LEVEL_ERROR) {
		buf_add(&hold.lines, line->data, line->len);
		held = !hold.lines.full;
	}
	bool release = hold.on && !held;

	pthread_mutex_unlock(&hold.lock);
	if (release)
		log_release();
	return held;
}

static void add_line(struct buf *b, enum log_level level, const char *message, va_list args)
{
	char ts[WALL_TEXT_MAX];
	const char *key;

	wall_text(ts, now_read().wall);
	buf_adds(b, setup.json ? "{" : "");
	add_pair(b, "ts", ts);
	add_pair(b, "level", level_names[level]);
	add_pair(b, "msg", message);
	while ((key = va_arg(args, const char *))) {
		const char *value = va_arg(args, const char *);

		/* Leave out a pair that may not fit: a truncated line could not be parsed. */
		if (!value || b->len + strlen(key) + 6 * LOG_VALUE_MAX >= LOG_LINE_MAX)
			continue;
		if (strcmp(key, "job_name") == 0)
			add_job(b, value);
		else
			add_pair(b, key, value);
	}
	buf_adds(b, setup.json ? "}\n" : "\n");
}

static void write_line(enum log_level level, bool may_wait, const char *message, va_list args)
{
	struct buf b AUTO(buf_done) = BUF_MAX(LOG_LINE_MAX);

	if (level < setup.least)
		return;
	add_line(&b, level, message, args);
	if (!may_wait || !hold_line(level, &b))
		put_line(&b);
}

void log_line(enum log_level level, const char *message, ...)
{
	va_list args;

	va_start(args, message);
	write_line(level, true, message, args);
	va_end(args);
}

void log_first(const char *message, ...)
{
	va_list args;

	va_start(args, message);
	write_line(LOG_LEVEL_INFO, false, message, args);
	va_end(args);
}

bool log_complaint_due(struct complaint *c)
{
	unsigned long n = ++c->times;

	while (n % 10 == 0)
		n /= 10;
	return n == 1;
}

bool log_complaint_over(struct complaint *c)
{
	bool said = c->times > 0;

	c->times = 0;
	return said;
}
