/* Which cloud server this is. */
#include "exporter/machine.h"

bool machine_now(struct app *app, struct machine *ret)
{
	(void)app;
	*ret = (struct machine){0};
	return false;
}
