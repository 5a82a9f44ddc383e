/* Scores the change points of recommender/behaviour/segments.c on the Turing Change Point Dataset.
 * The two scores are those of that dataset's benchmark: F1 with a margin of five points, and the
 * covering of the annotators' segments. The dataset is not part of this project: give the folder of
 * a copy (annotations.json and datasets/). */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "recommender/behaviour/segments.h"

#define MARGIN     5
#define CUTS_MAX   256
#define PATH_BYTES 4096

/* Sorted indexes without duplicates. 0 is always included. */
struct cuts {
	size_t n;
	long at[CUTS_MAX];
};

static void cuts_add(struct cuts *c, long at)
{
	size_t i = c->n;

	for (size_t k = 0; k < c->n; k++)
		if (c->at[k] == at)
			return;
	if (c->n == CUTS_MAX)
		return;
	for (; i > 0 && c->at[i - 1] > at; i--)
		c->at[i] = c->at[i - 1];
	c->at[i] = at;
	c->n++;
}

/* Returns how many cuts of `truth` have a predicted cut within the margin. Each predicted cut
 * counts for one true cut only. */
static size_t hits(const struct cuts *truth, const struct cuts *predicted)
{
	bool taken[CUTS_MAX] = {false};
	size_t n = 0;

	for (size_t i = 0; i < truth->n; i++) {
		size_t nearest = CUTS_MAX;

		for (size_t k = 0; k < predicted->n; k++) {
			long distance = labs(predicted->at[k] - truth->at[i]);

			if (!taken[k] && distance <= MARGIN &&
				(nearest == CUTS_MAX ||
					distance < labs(predicted->at[nearest] - truth->at[i])))
				nearest = k;
		}
		if (nearest < CUTS_MAX) {
			taken[nearest] = true;
			n++;
		}
	}
	return n;
}

static double f1(const struct cuts *annotator, size_t annotators, const struct cuts *predicted)
{
	struct cuts all = {0};
	double recall = 0;

	for (size_t a = 0; a < annotators; a++) {
		for (size_t i = 0; i < annotator[a].n; i++)
			cuts_add(&all, annotator[a].at[i]);
		recall += (double)hits(&annotator[a], predicted) / (double)annotator[a].n /
			  (double)annotators;
	}

	double precision = (double)hits(&all, predicted) / (double)predicted->n;

	return 2 * precision * recall / (precision + recall);
}

static long segment_end(const struct cuts *c, size_t i, long n)
{
	return i + 1 < c->n ? c->at[i + 1] : n;
}

/* Returns the mean of each true segment's best overlap with a predicted segment, weighted by
 * length. */
static double covering(const struct cuts *truth, const struct cuts *predicted, long n)
{
	double sum = 0;

	for (size_t i = 0; i < truth->n; i++) {
		long from = truth->at[i], end = segment_end(truth, i, n);
		double best = 0;

		for (size_t k = 0; k < predicted->n; k++) {
			long f = predicted->at[k], e = segment_end(predicted, k, n);
			long both = (e < end ? e : end) - (f > from ? f : from);
			long either = (e > end ? e : end) - (f < from ? f : from);

			if (both > 0)
				best = fmax(best, (double)both / (double)either);
		}
		sum += (double)(end - from) * best;
	}
	return sum / (double)n;
}

struct series {
	size_t n, channels;
	double *channel[SEGMENTS_CHANNELS_MAX];
};

/* Fills gaps by linear interpolation, like the benchmark. */
static void interpolate(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t next = i;

		if (!isnan(v[i]) || isnan(v[i - 1]))
			continue;
		while (next < n && isnan(v[next]))
			next++;
		for (size_t k = i; k < next && next < n; k++)
			v[k] = v[i - 1] +
			       (v[next] - v[i - 1]) * (double)(k - i + 1) / (double)(next - i + 1);
	}
}

static void load(struct series *s, const json_t *data)
{
	size_t c;
	json_t *one;

	s->n = (size_t)json_integer_value(json_object_get(data, "n_obs"));
	json_array_foreach(json_object_get(data, "series"), c, one)
	{
		json_t *raw = json_object_get(one, "raw"), *value;
		size_t i;

		if (c == SEGMENTS_CHANNELS_MAX)
			break;
		s->channel[c] = xcalloc(s->n + 1, sizeof(double));
		json_array_foreach(raw, i, value) if (i < s->n) s->channel[c][i] =
			json_is_number(value) ? json_number_value(value) : (double)NAN;
		interpolate(s->channel[c], s->n);
		s->channels = c + 1;
	}
}

struct score {
	size_t n;
	double f1, cover;
};

static void score_one(const char *name, const json_t *data, json_t *annotations, size_t least,
	struct score *univariate)
{
	struct series s = {0};
	struct cuts annotator[16] = {0}, predicted = {0};
	size_t annotators = 0, n;
	const char *who;
	json_t *list;

	load(&s, data);
	json_object_foreach(annotations, who, list)
	{
		size_t i;
		json_t *cut;

		if (annotators == ARRAY_LEN(annotator))
			break;
		cuts_add(&annotator[annotators], 0);
		json_array_foreach(list, i, cut)
			cuts_add(&annotator[annotators], (long)json_integer_value(cut));
		annotators++;
	}

	size_t *cut = xcalloc(s.n + 1, sizeof *cut);

	n = segments_cut((const double *const *)s.channel, s.channels, s.n, least, cut);
	cuts_add(&predicted, 0);
	for (size_t i = 0; i < n; i++)
		cuts_add(&predicted, (long)cut[i]);

	double f = f1(annotator, annotators, &predicted), cover = 0;

	for (size_t a = 0; a < annotators; a++)
		cover += covering(&annotator[a], &predicted, (long)s.n) / (double)annotators;
	printf("%-20s %5zu points, %zu channel(s), %3zu cuts: F1 %.3f, cover %.3f\n", name, s.n,
		s.channels, n, f, cover);
	if (s.channels == 1) {
		univariate->n++;
		univariate->f1 += f;
		univariate->cover += cover;
	}
	for (size_t c = 0; c < s.channels; c++)
		free(s.channel[c]);
	free(cut);
}

int main(int argc, char **argv)
{
	char path[PATH_BYTES];
	json_error_t why;
	const char *name;
	json_t *of;
	struct score univariate = {0};

	if (argc != 2) {
		fputs("usage: bench_segments FOLDER (with annotations.json and datasets/)\n",
			stderr);
		return 2;
	}
	snprintf(path, sizeof path, "%s/annotations.json", argv[1]);

	json_t *annotations = json_load_file(path, 0, &why);

	if (!annotations) {
		fprintf(stderr, "%s: %s\n", path, why.text);
		return 1;
	}
	json_object_foreach(annotations, name, of)
	{
		snprintf(path, sizeof path, "%s/datasets/%s/%s.json", argv[1], name, name);

		json_t *data = json_load_file(path, 0, NULL);

		if (data)
			score_one(name, data, of, 1, &univariate);
		json_decref(data);
	}
	json_decref(annotations);
	printf("mean of %zu univariate series: F1 %.3f, cover %.3f\n", univariate.n,
		univariate.f1 / (double)univariate.n, univariate.cover / (double)univariate.n);
	return 0;
}
