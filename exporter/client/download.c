#include "exporter/client/download.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <curl/curl.h>

#include "collectors/base/mem.h"
#include "exporter/client/failure.h"

#define REDIRECTS_MAX 3L
#define BEARER_MAX    (16u << 10)
/* Options of libcurl by their numbers: older headers lack the new names, and newer headers warn
 * about the old names. QUICK_EXIT is CURLOPT_QUICK_EXIT (7.87). PROTOCOLS_STR and REDIR_STR are
 * CURLOPT_PROTOCOLS_STR and CURLOPT_REDIR_PROTOCOLS_STR (7.85). PROTOCOLS and REDIR_PROTOCOLS are
 * the same options of older versions, whose values are bits. */
#define QUICK_EXIT      ((CURLoption)(CURLOPTTYPE_LONG + 322))
#define PROTOCOLS_STR   ((CURLoption)(CURLOPTTYPE_OBJECTPOINT + 318))
#define REDIR_STR       ((CURLoption)(CURLOPTTYPE_OBJECTPOINT + 319))
#define PROTOCOLS       ((CURLoption)(CURLOPTTYPE_LONG + 181))
#define REDIR_PROTOCOLS ((CURLoption)(CURLOPTTYPE_LONG + 182))
#define HTTP_AND_HTTPS  3L

/* The functions of libcurl that are loaded, with the types of curl.h. */
#define CALLS(X)                                                                                   \
	X(curl_global_init)                                                                        \
	X(curl_easy_init)                                                                          \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_perform)                                                                       \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_strerror)                                                                      \
	X(curl_easy_cleanup)                                                                       \
	X(curl_slist_append)                                                                       \
	X(curl_slist_free_all)

/* curl.h also defines macros with these two names. Undefine them, because the functions are meant
 * here. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member is declared */
#define CALL_POINTER(name) __typeof__(&(name)) name;
struct calls {
	CALLS(CALL_POINTER)
};

struct download {
	void *library;
	struct calls call;
	CURL *curl;
	const struct download_options *options;
	struct http_response *answer; /* response of the current transfer */
	char reason[CURL_ERROR_SIZE];
};

#ifdef CURL_INSIDE /* the build contains libcurl, as for the program in a Python wheel */
static int load(struct download *d, struct err *e)
{
	(void)e;
#define CALL_TAKE(name) d->call.name = name;
	CALLS(CALL_TAKE)
	return 0;
}
#else
static int load(struct download *d, struct err *e)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

	for (size_t i = 0; i < ARRAY_LEN(names) && !d->library; i++)
		d->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		return err_set(e, -ENOSYS, "libcurl is not installed (%s)", names[0]);
#define CALL_LOAD(name)                                                                            \
	{                                                                                          \
		void *symbol = dlsym(d->library, #name);                                           \
                                                                                                   \
		if (!symbol)                                                                       \
			return err_set(e, -ENOSYS, "libcurl has no %s", #name);                    \
		memcpy(&d->call.name, &symbol, sizeof symbol);                                     \
	}
	CALLS(CALL_LOAD)
	return 0;
}
#endif

static size_t on_body(char *data, size_t size, size_t n, void *context)
{
	struct download *d = context;

	buf_add(&d->answer->body, data, size * n);
	/* a smaller number than size * n aborts the transfer */
	return d->answer->body.full ? 0 : size * n;
}

static size_t on_header(char *line, size_t size, size_t n, void *context)
{
	struct download *d = context;

	if (size * n > 5 && memcmp(line, "HTTP/", 5) == 0)
		response_headers_clear(d->answer); /* drop the headers of a redirect */
	response_headers_read(d->answer, line, size * n);
	return size * n;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
	curl_off_t up)
{
	struct download *d = context;

	(void)total;
	(void)now;
	(void)up_total;
	(void)up;
	return d->options->stop && atomic_load_explicit(d->options->stop, memory_order_relaxed);
}

/* Allows http:// and https:// only, for the URL and for redirects. */
static bool set_protocols(struct download *d)
{
	__typeof__(d->call.curl_easy_setopt) set = d->call.curl_easy_setopt;

	if (set(d->curl, PROTOCOLS_STR, "http,https") == CURLE_OK)
		return set(d->curl, REDIR_STR, "http,https") == CURLE_OK;
	return set(d->curl, PROTOCOLS, HTTP_AND_HTTPS) == CURLE_OK &&
	       set(d->curl, REDIR_PROTOCOLS, HTTP_AND_HTTPS) == CURLE_OK;
}

/* Sets the options for all transfers. Returns an error if libcurl is too old to know one of the
 * options in the long condition below. */
static int set_options(struct download *d, struct err *e)
{
	const struct download_options *o = d->options;
	__typeof__(d->call.curl_easy_setopt) set = d->call.curl_easy_setopt;
	CURL *c = d->curl;

	if (set(c, CURLOPT_NOSIGNAL, 1L) || !set_protocols(d) ||
		set(c, CURLOPT_FOLLOWLOCATION, 1L) || set(c, CURLOPT_MAXREDIRS, REDIRECTS_MAX) ||
		set(c, CURLOPT_SSL_VERIFYPEER, 1L) || set(c, CURLOPT_SSL_VERIFYHOST, 2L) ||
		set(c, CURLOPT_ACCEPT_ENCODING, "gzip") ||
		set(c, CURLOPT_USERAGENT, o->user_agent) ||
		set(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect_seconds * 1e3)) ||
		set(c, CURLOPT_TIMEOUT_MS, (long)(o->total_seconds * 1e3)) ||
		set(c, CURLOPT_LOW_SPEED_LIMIT, 1L) ||
		set(c, CURLOPT_LOW_SPEED_TIME, (long)o->idle_seconds) ||
		set(c, CURLOPT_WRITEFUNCTION, on_body) || set(c, CURLOPT_WRITEDATA, d) ||
		set(c, CURLOPT_HEADERFUNCTION, on_header) || set(c, CURLOPT_HEADERDATA, d) ||
		set(c, CURLOPT_XFERINFOFUNCTION, on_progress) || set(c, CURLOPT_XFERINFODATA, d) ||
		set(c, CURLOPT_NOPROGRESS, 0L) || set(c, CURLOPT_ERRORBUFFER, d->reason) ||
		(o->ca_file && set(c, CURLOPT_CAINFO, o->ca_file)))
		return err_set(e, -ENOSYS, "this libcurl is too old: 7.61 is needed");
	/* ca_file must replace all certificates that the system trusts. Most builds of libcurl also
	 * trust a folder of certificates, so remove this folder. Ignore an error: a TLS library
	 * without such folders refuses the option. */
	if (o->ca_file)
		set(c, CURLOPT_CAPATH, NULL);
	/* Do not wait for libcurl's resolver thread after a transfer. If the name server does not
	 * answer, that would delay the end of the program by minutes. libcurl before 7.87 does not
	 * have this option, so ignore an error. */
	set(c, QUICK_EXIT, 1L);
	return 0;
}

int download_open(struct download **ret, const struct download_options *o, struct err *e)
{
	struct download *d = xcalloc(1, sizeof *d);
	int code;

	d->options = o;
	code = load(d, e);
	if (code == 0 && d->call.curl_global_init(CURL_GLOBAL_DEFAULT))
		code = err_set(e, -ENOSYS, "libcurl cannot be initialised");
	if (code == 0) {
		d->curl = d->call.curl_easy_init();
		code = d->curl ? set_options(d, e) :
				 err_set(e, -ENOSYS, "libcurl cannot be initialised");
	}
	if (code) {
		download_close(d);
		return code;
	}
	*ret = d;
	return 0;
}

/* Closes the handle. The library stays loaded, because unloading its TLS state is not safe. */
void download_close(struct download *d)
{
	if (!d)
		return;
	if (d->curl)
		d->call.curl_easy_cleanup(d->curl);
	free(d);
}

/* Sets the error of a transfer without a complete answer. */
static int set_failure(struct download *d, const char *url, CURLcode result, struct err *e)
{
	long proxy_status = 0;

	if (d->answer->body.full)
		return err_set(e, -E2BIG, "%s: more than %zu bytes", url, d->answer->body.max);
	if (result == CURLE_ABORTED_BY_CALLBACK)
		return err_set(e, -ECANCELED, "%s: stopped", url);
	d->call.curl_easy_getinfo(d->curl, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
	return failure_set(&(struct failure){.url = url,
				   .curl = (int)result,
				   .proxy_status = (int)proxy_status,
				   .reason = d->reason[0] ? d->reason :
							    d->call.curl_easy_strerror(result),
				   .ca_option = d->options->ca_option},
		e);
}

static struct curl_slist *headers_with(struct download *d, const char *etag)
{
	struct curl_slist *headers =
		d->call.curl_slist_append(NULL, "X-Application-ID: rightsize-exporter");
	char line[sizeof d->answer->etag + 32];

	if (!etag || !*etag || strpbrk(etag, "\r\n"))
		return headers;
	snprintf(line, sizeof line, "If-None-Match: %s", etag);
	return d->call.curl_slist_append(headers, line);
}

/* Returns true if the file is a pipe. libcurl must not open a pipe, because it would wait for a
 * writer. */
static bool is_pipe(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Runs one transfer. Afterwards removes `headers` from the curl handle and frees them. */
static int perform(struct download *d, const char *url, struct curl_slist *headers, struct err *e)
{
	__typeof__(d->call.curl_easy_setopt) set = d->call.curl_easy_setopt;
	struct http_response *ret = d->answer;
	long status = 0;

	response_headers_clear(ret);
	ret->body.max = d->options->max_bytes;
	d->reason[0] = '\0';
	if (d->options->ca_file && is_pipe(d->options->ca_file)) {
		d->call.curl_slist_free_all(headers);
		return err_set(e, -EINVAL,
			"%s is a pipe: use a regular file, because it is read more than once",
			d->options->ca_file);
	}
	set(d->curl, CURLOPT_URL, url);
	set(d->curl, CURLOPT_HTTPHEADER, headers);
	CURLcode result = d->call.curl_easy_perform(d->curl);

	d->call.curl_easy_getinfo(d->curl, CURLINFO_RESPONSE_CODE, &status);
	set(d->curl, CURLOPT_HTTPHEADER, NULL);
	d->call.curl_slist_free_all(headers);
	ret->status = (int)status;
	return result == CURLE_OK ? 0 : set_failure(d, url, result, e);
}

int download_get(struct download *d, const char *url, const char *etag, struct http_response *ret,
	struct err *e)
{
	d->answer = ret;
	return perform(d, url, headers_with(d, etag), e);
}

static struct curl_slist *add_bearer(struct download *d, struct curl_slist *headers,
	const char *bearer)
{
	struct buf line AUTO(buf_done) = BUF_MAX(BEARER_MAX);

	buf_addf(&line, "Authorization: Bearer %s", bearer);
	headers = d->call.curl_slist_append(headers, buf_text(&line));
	if (line.data)
		explicit_bzero(line.data, line.len);
	return headers;
}

int download_get_as(struct download *d, const char *url, const char *bearer, const char *accept,
	struct http_response *ret, struct err *e)
{
	__typeof__(d->call.curl_easy_setopt) set = d->call.curl_easy_setopt;
	struct buf line AUTO(buf_done) = BUF_MAX(BEARER_MAX);

	d->answer = ret;
	buf_addf(&line, "Accept: %s", accept);
	struct curl_slist *headers =
		d->call.curl_slist_append(headers_with(d, NULL), buf_text(&line));

	set(d->curl, CURLOPT_FOLLOWLOCATION, 0L);
	int code = perform(d, url, add_bearer(d, headers, bearer), e);

	set(d->curl, CURLOPT_FOLLOWLOCATION, 1L);
	return code;
}

static struct curl_slist *post_headers(struct download *d, const struct download_post *p)
{
	struct buf type AUTO(buf_done) = BUF_MAX(BEARER_MAX);
	struct curl_slist *headers = headers_with(d, NULL);

	buf_addf(&type, "Content-Type: %s", p->content_type);
	headers = d->call.curl_slist_append(headers, buf_text(&type));
	/* Prevent the header Expect, which libcurl adds to large requests. If the server ignores
	 * it, libcurl waits for a second. */
	headers = d->call.curl_slist_append(headers, "Expect:");
	for (size_t i = 0; p->header && p->header[i]; i++)
		headers = d->call.curl_slist_append(headers, p->header[i]);
	return p->bearer ? add_bearer(d, headers, p->bearer) : headers;
}

int download_post(struct download *d, const struct download_post *p, struct http_response *ret,
	struct err *e)
{
	__typeof__(d->call.curl_easy_setopt) set = d->call.curl_easy_setopt;

	d->answer = ret;
	struct curl_slist *headers = post_headers(d, p);

	set(d->curl, CURLOPT_FOLLOWLOCATION, 0L);
	set(d->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->len);
	set(d->curl, CURLOPT_POSTFIELDS, p->body);
	set(d->curl, CURLOPT_USERPWD, p->user_password);
	int code = perform(d, p->url, headers, e);

	set(d->curl, CURLOPT_USERPWD, NULL);
	set(d->curl, CURLOPT_POSTFIELDS, NULL);
	set(d->curl, CURLOPT_HTTPGET, 1L);
	set(d->curl, CURLOPT_FOLLOWLOCATION, 1L);
	return code;
}
