#include "collectors/gpu/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"

/* Maximum number of DRM clients of one run that are remembered. Any further client is counted each
 * time it is seen. */
#define CLIENTS_MAX 1024

void gpu_device_clear(struct gpu_device *d)
{
	for (size_t i = 0; i < GPU_N_VALUES; i++)
		d->value[i] = NAN;
	for (size_t i = 0; i < NVML_CLOCKS; i++)
		d->clock_hz[i] = NAN;
	for (size_t i = 0; i < NVML_ECC_TYPES; i++)
		d->ecc_errors[i] = NAN;
	d->throttle_known = false;
	d->throttle = 0;
	d->processes_unknown = false;
}

/* Keeps `kept` only if it equals `text`. The first text of a run is always kept. A text that a
 * driver gives is cleaned, because the history and other exporters accept only clean texts. */
static void keep_same(bool first, char *kept, size_t size, const char *text)
{
	char clean[GPU_NAME_MAX];

	utf8_clean_plain(text, strlen(text), '?', clean, size);
	if (first)
		text_copy(clean, kept, size);
	else if (strcmp(kept, clean) != 0)
		kept[0] = '\0';
}

void gpu_kind_add(struct gpu_kind *k, const struct gpu_device *d)
{
	keep_same(!k->used, k->manufacturer, sizeof k->manufacturer,
		d->manufacturer ? d->manufacturer : "");
	keep_same(!k->used, k->model, sizeof k->model, d->named ? d->name : "");
	k->used = true;
}

double gpu_add_known(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	return a + b;
}

void gpu_sum_add(struct gpu_sum *s, size_t device, double utilization, double vram_bytes)
{
	struct gpu_share *share = &s->share[device];

	share->used = true;
	share->utilization = gpu_add_known(share->utilization, utilization);
	share->vram_bytes = gpu_add_known(share->vram_bytes, vram_bytes);
	/* If two engines of one GPU are busy, the sum may exceed 1. They count as one busy GPU. */
	if (share->utilization > 1)
		share->utilization = 1;
}

bool gpu_sum_first(struct gpu_sum *s, size_t device, uint64_t client_id)
{
	for (size_t i = 0; i < s->n_clients; i++)
		if (s->client[i].id == client_id && s->client[i].device == device)
			return false;
	if (s->n_clients < CLIENTS_MAX) {
		GROW(s->client, s->n_clients, s->clients_room);
		s->client[s->n_clients++] = (struct gpu_client){device, client_id};
	}
	return true;
}

void gpu_sum_reset(struct gpu_sum *s, size_t n_devices)
{
	s->unknown = false;
	s->n_clients = 0;
	if (n_devices > s->shares_room) {
		s->share = xreallocarray(s->share, n_devices, sizeof *s->share);
		s->shares_room = n_devices;
	}
	s->n_shares = n_devices;
	for (size_t i = 0; i < n_devices; i++)
		s->share[i] = (struct gpu_share){.utilization = NAN, .vram_bytes = NAN};
}

void gpu_sum_done(struct gpu_sum *s)
{
	free(s->share);
	free(s->client);
	*s = (struct gpu_sum){0};
}
