#include "collectors/base/thread.h"

#include <time.h>

/* Stack size of a thread. The deepest JSON that jansson parses needs less than half of this
 * size. */
#define STACK_SIZE ((size_t)512 * 1024)

int thread_start(pthread_t *ret, const char *name, void *(*function)(void *), void *context,
	struct err *e)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int code = pthread_create(ret, &attributes, function, context);

	pthread_attr_destroy(&attributes);
	if (code)
		return err_system(e, -code, "start the thread \"%s\"", name);
	pthread_setname_np(*ret, name);
	return 0;
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

bool thread_hurry(const sigset_t *signals)
{
	return signals && sigtimedwait(signals, NULL, &(struct timespec){0}) > 0;
}
