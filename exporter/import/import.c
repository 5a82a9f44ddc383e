#include "exporter/import/import.h"

#include <string.h>

const struct import_source import_sources[] = {
	{"runs", false, import_run_lines, "what export prints: a run as JSON in each line"},
	{"sacct", false, import_sacct,
		"what Slurm's sacct --parsable2 prints, with its first line"},
	{"nextflow", false, import_nextflow, "a trace file of Nextflow, with or without trace.raw"},
	{"snakemake", false, import_snakemake, "a benchmark file of Snakemake, TSV or JSON lines"},
	{"resource-tracker", false, import_resource_tracker,
		"metrics of resource-tracker as CSV, or what its dumps() returns"},
	{"prometheus", true, import_prometheus,
		"the URL of a Prometheus that scrapes cAdvisor or process-exporter"},
	{0},
};

const struct import_source *import_source_find(const char *name)
{
	const struct import_source *s = import_sources;

	while (s->name && strcmp(s->name, name) != 0)
		s++;
	return s->name ? s : NULL;
}
