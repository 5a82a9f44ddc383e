/* libcurl.so.4 as libcurl 7.61 would be: the functions that exporter/client/download.c loads are those
 * of the system's libcurl, but options and functions of later versions are unknown. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

#include <curl/curl.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

/* The newest option of 7.61, CURLOPT_DISALLOW_USERNAME_IN_URL. Options are numbered in the order of
 * their versions, above the base of their type. */
#define NEWEST      278
#define BASE_OF_ALL 10000

static void *in_system(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen(SYSTEM_LIBCURL, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol)
		abort();
	return symbol;
}

#define FORWARD(type, name, parameters, arguments)                                                 \
	__attribute__((visibility("default"))) type name parameters                                \
	{                                                                                          \
		type(*real) parameters;                                                            \
                                                                                                   \
		*(void **)&real = in_system(#name);                                                \
		return real arguments;                                                             \
	}

FORWARD(CURLcode, curl_global_init, (long flags), (flags))
FORWARD(CURL *, curl_easy_init, (void), ())
FORWARD(CURLcode, curl_easy_perform, (CURL * c), (c))
FORWARD(const char *, curl_easy_strerror, (CURLcode code), (code))
FORWARD(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),
	(list, text))

__attribute__((visibility("default"))) void curl_easy_cleanup(CURL *c)
{
	void (*real)(CURL *);

	*(void **)&real = in_system("curl_easy_cleanup");
	real(c);
}

__attribute__((visibility("default"))) void curl_slist_free_all(struct curl_slist *list)
{
	void (*real)(struct curl_slist *);

	*(void **)&real = in_system("curl_slist_free_all");
	real(list);
}

/* All arguments of options are long, curl_off_t or a pointer, which are passed alike. */
__attribute__((visibility("default"))) CURLcode curl_easy_setopt(CURL *c, CURLoption option, ...)
{
	CURLcode (*real)(CURL *, CURLoption, ...);
	va_list more;

	if ((int)option % BASE_OF_ALL > NEWEST)
		return CURLE_UNKNOWN_OPTION;
	va_start(more, option);
	void *value = va_arg(more, void *);

	va_end(more);
	*(void **)&real = in_system("curl_easy_setopt");
	return real(c, option, value);
}

__attribute__((visibility("default"))) CURLcode curl_easy_getinfo(CURL *c, CURLINFO info, ...)
{
	CURLcode (*real)(CURL *, CURLINFO, ...);
	va_list more;

	va_start(more, info);
	void *value = va_arg(more, void *);

	va_end(more);
	*(void **)&real = in_system("curl_easy_getinfo");
	return real(c, info, value);
}
