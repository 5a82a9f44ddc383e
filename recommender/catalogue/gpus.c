#include "recommender/catalogue/gpus.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"

/* Patterns of fnmatch(3), ignoring case. The first row that matches decides. NULL matches every text.
 * Accelerators that are no GPUs have a row, too, because some sources list them as GPUs.
 *
 * Sources for the names of servers without a usable model:
 * - learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated: the series NVv4, NVads V710, NGads
 *   V620 and ND MI300X have GPUs of AMD, and the other series NC, ND and NV have GPUs of NVIDIA.
 * - alibabacloud.com/help/en/ecs/user-guide/overview-of-instance-families: gn is for GPUs of NVIDIA, ga
 *   for GPUs of AMD, gp for Alibaba's own accelerator. */
static const struct {
	const char *model, *vendor_id, *name, *manufacturer;
} gpus[] = {
	{"*NVIDIA*", NULL, NULL, "NVIDIA"},
	{"*AMD*", NULL, NULL, "AMD"},
	{"*Radeon*", NULL, NULL, "AMD"},
	{"MI*[0-9][0-9]", NULL, NULL, "AMD"},
	{"MI*[0-9]X", NULL, NULL, "AMD"},
	{"V[567][0-9]0", NULL, NULL, "AMD"},
	{"S7150*", NULL, NULL, "AMD"},
	{"Xilinx*", NULL, NULL, "Xilinx"},
	{"*Arria*", NULL, NULL, "Altera"},
	{"AGF *", NULL, NULL, "Altera"},
	{"*Intel*", NULL, NULL, "Intel"},
	{"HL-2*", NULL, NULL, "Habana"},
	{"ct[0-9]*", "gcp", NULL, "Google"},
	{"tpu*", NULL, NULL, "Google"},
	{"NETINT*", NULL, NULL, "NETINT"},
	{"ALINPU*", NULL, NULL, "Alibaba"},
	{"*Tesla*", NULL, NULL, "NVIDIA"},
	{"*GeForce*", NULL, NULL, "NVIDIA"},
	{"*Quadro*", NULL, NULL, "NVIDIA"},
	{"RTX*", NULL, NULL, "NVIDIA"},
	{"GTX*", NULL, NULL, "NVIDIA"},
	{"[ABHL][0-9]0*", NULL, NULL, "NVIDIA"},
	{"A[0-9]000*", NULL, NULL, "NVIDIA"},
	{"A2", NULL, NULL, "NVIDIA"},
	{"A16", NULL, NULL, "NVIDIA"},
	{"G[BH][0-9]00*", NULL, NULL, "NVIDIA"},
	{"K80", NULL, NULL, "NVIDIA"},
	{"L4", NULL, NULL, "NVIDIA"},
	{"M[46]0", NULL, NULL, "NVIDIA"},
	{"P4", NULL, NULL, "NVIDIA"},
	{"P[14]0*", NULL, NULL, "NVIDIA"},
	{"T4*", NULL, NULL, "NVIDIA"},
	{"V100*", NULL, NULL, "NVIDIA"},
	{NULL, "alicloud", "ecs.*gn[0-9]*", "NVIDIA"},
	{NULL, "alicloud", "ecs.*ga[0-9]*", "AMD"},
	{NULL, "alicloud", "ecs.*gp[0-9]*", "Alibaba"},
	{NULL, "azure", "*_MI300X_*", "AMD"},
	{NULL, "azure", "*_V[67][12]0_*", "AMD"},
	{NULL, "azure", "Standard_NV*as_v4", "AMD"},
	{NULL, "azure", "Standard_N[CDV]*", "NVIDIA"},
};

static bool matches(const char *pattern, const char *text)
{
	return !pattern || fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

const char *gpus_manufacturer(const struct server *s)
{
	for (size_t i = 0; i < ARRAY_LEN(gpus); i++)
		if (matches(gpus[i].model, s->gpu_model) &&
			matches(gpus[i].vendor_id, s->vendor_id) &&
			matches(gpus[i].name, s->api_reference))
			return gpus[i].manufacturer;
	return "";
}

static bool contains_words(const char *text, const char *words)
{
	size_t len = strlen(words);

	for (const char *at = text; *at; at++)
		if (strncasecmp(at, words, len) == 0 && !isalnum((unsigned char)at[len]) &&
			(at == text || !isalnum((unsigned char)at[-1])))
			return len > 0;
	return false;
}

bool gpus_same_name(const char *a, const char *b)
{
	return contains_words(a, b) || contains_words(b, a);
}
