/* Detects the format of a file by its first bytes and calls the matching reader. */
#include "exporter/catalogue/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <zlib.h>

#include "collectors/base/buf.h"
#include "collectors/base/file.h"
#include "exporter/catalogue/sql_dump.h"
#include "exporter/catalogue/scdata.h"

#define CHUNK 65536

/* Compressed formats that this program cannot read. Each row has the first bytes of such a file,
 * and the command that unpacks it, for the error message. */
static const struct {
	const char *magic;
	size_t len;
	const char *unpack;
} packed[] = {
	{"\xfd"
	 "7zXZ",
		5, "xz -dc"},
	{"BZh", 3, "bzip2 -dc"},
	{"\x28\xb5\x2f\xfd", 4, "zstd -dc"},
	{"PK\x03\x04", 4, "unzip -p"},
};

struct file_input {
	const char *path;
	gzFile file; /* gzread reads plain files too */
	const struct catalogue_file_options *options;
	char first[CHUNK];
	size_t n_first, bytes;
};

static void gzclosep(gzFile *f)
{
	if (*f)
		gzclose(*f);
}

static int read_error(struct file_input *in, struct err *e)
{
	int number = 0;
	const char *words = gzerror(in->file, &number);

	if (number == Z_ERRNO)
		return err_system(e, -errno, "read %s", in->path);
	return err_set(e, -EINVAL, "read %s: %s", in->path, words);
}

static int read_chunk(struct file_input *in, char *out, size_t *n, struct err *e)
{
	int got = gzread(in->file, out, CHUNK), number = Z_OK;

	/* Z_BUF_ERROR means that the gzip stream is cut off, although gzread returned the bytes
	 * before the cut. */
	gzerror(in->file, &number);
	if (got >= 0 && number == Z_BUF_ERROR)
		return err_set(e, -EINVAL, "read %s: the compressed file ends early", in->path);
	if (got < 0)
		return read_error(in, e);
	*n = (size_t)got;
	in->bytes += *n;
	if (in->options && in->options->progress)
		in->options->progress(in->options->progress_context, in->bytes);
	return 0;
}

static bool begins(const struct file_input *in, const char *text, size_t n)
{
	return in->n_first >= n && memcmp(in->first, text, n) == 0;
}

static const char *first_word(const struct file_input *in)
{
	const char *at = in->first, *end = in->first + in->n_first;

	if (begins(in, "\xef\xbb\xbf", 3))
		at += 3;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at < end ? at : "";
}

static bool is_dump(const struct file_input *in)
{
	static const char *const words[] = {"PRAGMA ", "BEGIN", "CREATE TABLE", "-- "};
	const char *at = first_word(in);
	size_t left = *at ? (size_t)(in->first + in->n_first - at) : 0;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (left > strlen(words[i]) && strncasecmp(at, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Calls `take` with each piece of the input in turn. Stops at the first error that `take` returns.
 * `to` is passed to `take`. */
static int each_chunk(struct file_input *in,
	int (*take)(void *to, const char *data, size_t n, struct err *e), void *to, struct err *e)
{
	AUTO(freep) char *chunk = xmalloc(CHUNK);
	size_t n = in->n_first;
	int code = 0;

	memcpy(chunk, in->first, n);
	while (code == 0 && n) {
		code = take(to, chunk, n, e);
		if (code == 0)
			code = read_chunk(in, chunk, &n, e);
	}
	return code;
}

static int add_text(void *to, const char *data, size_t n, struct err *e)
{
	struct buf *text = to;

	buf_add(text, data, n);
	return text->full ? err_set(e, -EFBIG, "more than %u MiB", CATALOGUE_TEXT_MAX >> 20) : 0;
}

static int from_text(struct catalogue **ret, struct file_input *in, struct err *e)
{
	struct buf text = BUF_MAX(CATALOGUE_TEXT_MAX);
	int code = each_chunk(in, add_text, &text, e);

	if (code == -EFBIG)
		err_wrap(e, "%s", in->path);
	if (code == 0)
		code = (*first_word(in) == '[' ? catalogue_from_json : catalogue_from_csv)(ret,
			buf_text(&text), text.len, in->path, e);
	buf_done(&text);
	return code;
}

/* ---- temporary files: for a database from standard input and for an SQL dump ---- */

struct scratch_database {
	char path[4096];
	int fd;
};

static int scratch_begin(struct scratch_database *s, const struct file_input *in, struct err *e)
{
	const char *where = in->options && in->options->scratch ? in->options->scratch :
								  "/tmp/rightsize-exporter";
	int n = snprintf(s->path, sizeof s->path, "%s.XXXXXX", where);

	s->fd = -1;
	if (n < 0 || (size_t)n >= sizeof s->path)
		return err_set(e, -ENAMETOOLONG, "%s: too long", where);
	s->fd = mkostemp(s->path, O_CLOEXEC);
	return s->fd < 0 ? err_system(e, -errno, "create %s", s->path) : 0;
}

static void scratch_end(struct scratch_database *s)
{
	char journal[sizeof s->path + 16];

	if (s->fd < 0)
		return;
	close(s->fd);
	unlink(s->path);
	snprintf(journal, sizeof journal, "%s-journal", s->path);
	unlink(journal);
}

static int add_bytes(void *to, const char *data, size_t n, struct err *e)
{
	const struct scratch_database *s = to;

	while (n) {
		ssize_t done = write(s->fd, data, n);

		if (done < 0 && errno != EINTR)
			return err_system(e, -errno, "write %s", s->path);
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static int copy_to(struct file_input *in, struct scratch_database *s, struct err *e)
{
	return each_chunk(in, add_bytes, s, e);
}

static int add_sql(void *to, const char *data, size_t n, struct err *e)
{
	return catalogue_dump_add(to, data, n, e);
}

static int run_dump(struct file_input *in, struct scratch_database *s, struct err *e)
{
	struct catalogue_dump *dump = NULL;
	int code = catalogue_dump_open(&dump, s->path, e);

	if (code == 0)
		code = each_chunk(in, add_sql, dump, e);
	int closed = catalogue_dump_close(dump, code == 0 ? e : NULL);

	return code ? code : closed;
}

static int from_scratch(struct catalogue **ret, struct file_input *in,
	int (*fill)(struct file_input *in, struct scratch_database *s, struct err *e),
	struct err *e)
{
	struct scratch_database s = {.fd = -1};
	int code = scratch_begin(&s, in, e);

	if (code == 0)
		code = fill(in, &s, e);
	if (code == 0)
		code = catalogue_from_scdata_as(ret, s.path, in->path, e);
	scratch_end(&s);
	return code;
}

static int from_packed(const struct file_input *in, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(packed); i++)
		if (begins(in, packed[i].magic, packed[i].len))
			return err_set(e, -EINVAL,
				"%s is packed: unpack it first, as with %s %s | rightsize-exporter "
				"catalogue import -",
				in->path, packed[i].unpack, in->path);
	return 0;
}

static int from_input(struct catalogue **ret, struct file_input *in, struct err *e)
{
	int code = read_chunk(in, in->first, &in->n_first, e);

	if (code == 0)
		code = from_packed(in, e);
	if (code)
		return code;
	if (begins(in, "SQLite format 3", 16)) {
		bool plain = gzdirect(in->file) && strcmp(in->path, "standard input") != 0;

		return plain ? catalogue_from_scdata(ret, in->path, e) :
			       from_scratch(ret, in, copy_to, e);
	}
	return is_dump(in) ? from_scratch(ret, in, run_dump, e) : from_text(ret, in, e);
}

/* Refuses inputs that may never end: a FIFO, a device, a terminal. Accepts a pipe of a shell, such
 * as <(command) or /dev/stdin: it ends when its command ends. The kernel keeps such a pipe in
 * pipefs; a FIFO is in the file system of its path. */
static int check_kind(const char *path, struct err *e)
{
	struct stat st;
	struct statfs in;

	if (stat(path, &st) != 0)
		return err_system(e, -errno, "read %s", path);
	if (S_ISREG(st.st_mode) ||
		(S_ISFIFO(st.st_mode) && statfs(path, &in) == 0 && in.f_type == PIPEFS_MAGIC))
		return 0;
	if (S_ISDIR(st.st_mode))
		return err_system(e, -EISDIR, "read %s", path);
	return err_set(e, -EINVAL,
		"read %s: not a regular file; to import from a pipe or a device, pass - and give "
		"the data on standard input",
		path);
}

static int open_input(const char *path, struct err *e)
{
	int code = check_kind(path, e);

	return code ? code : file_open(path, e);
}

int catalogue_from_file(struct catalogue **ret, const char *path,
	const struct catalogue_file_options *o, struct err *e)
{
	AUTO(freep) struct file_input *in = xcalloc(1, sizeof *in);
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open_input(path, e);

	if (fd < 0)
		return standard ? err_system(e, -errno, "open standard input") : fd;
	in->path = standard ? "standard input" : path;
	in->options = o;
	AUTO(gzclosep) gzFile file = gzdopen(fd, "rb");

	if (!file) {
		close(fd);
		return err_set(e, -ENOMEM, "open %s: no memory", path);
	}
	in->file = file;
	return from_input(ret, in, e);
}
