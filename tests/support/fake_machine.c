/* Returns the server that the test sets, instead of exporter/this_server/this_server.c. */
#include "tests/support/fake_machine.h"

struct machine fake_machine;

bool this_server_now(struct app *app, struct machine *ret)
{
	(void)app;
	*ret = fake_machine;
	return *fake_machine.source;
}

void this_server_find(const struct options *o, struct machine *ret)
{
	(void)o;
	*ret = fake_machine;
}

const char *this_server_allocation_name(enum machine_allocation a)
{
	(void)a;
	return NULL;
}
