/* A table of devices by name. */
#include "collectors/machine/devices.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"

/* Finds the device called `name`. The search starts after the device that was found last, because
 * the kernel lists devices in the same order each time. */
static struct device *find_device(struct devices *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++) {
		size_t at = (d->expected + i) % d->n;

		if (strcmp(d->device[at].name, name) == 0) {
			d->expected = at + 1;
			return &d->device[at];
		}
	}
	return NULL;
}

struct device *devices_see(struct devices *d, struct slice name)
{
	char clean[DEVICE_NAME_MAX];

	utf8_clean(name.data, name.len, clean, sizeof clean);
	struct device *found = find_device(d, clean);

	if (!found) {
		if (d->n == DEVICES_MAX)
			return NULL;
		GROW(d->device, d->n, d->room);
		found = &d->device[d->n++];
		*found = (struct device){0};
		memcpy(found->name, clean, sizeof clean);
		d->changed = true;
	}
	if (found->seen)
		return NULL;
	found->seen = true;
	return found;
}

void devices_sweep(struct devices *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (!d->device[i].seen)
			continue;
		if (kept != i)
			d->device[kept] = d->device[i];
		d->device[kept++].seen = false;
	}
	d->changed = d->changed || d->n != kept;
	d->n = kept;
	d->expected = 0;
}

void devices_done(struct devices *d)
{
	free(d->device);
	*d = (struct devices){0};
}
