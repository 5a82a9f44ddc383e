/* Threads. */
#include "collectors/base/thread.h"

int thread_start(pthread_t *ret, const char *name, size_t stack, void *(*function)(void *),
	void *context, struct err *e)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	int code = pthread_create(ret, &attributes, function, context);

	pthread_attr_destroy(&attributes);
	if (code)
		return err_system(e, -code, "start the thread \"%s\"", name);
	pthread_setname_np(*ret, name);
	return 0;
}
