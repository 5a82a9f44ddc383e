/* Which job a run is of: its name, and the namespace and the cluster in which it has this name. Two
 * teams may each have a job `load`.
 *
 * One text, the key, holds all three: NAME, NAME|NAMESPACE or NAME|NAMESPACE|CLUSTER, where "|" is
 * the control character U+001F, which no part may have. So the key of a job without a namespace and a
 * cluster is its name. Keys sort by name, and a key is compared and stored as any text. What people
 * and other programs read has the parts, never the key. */
#ifndef COLLECTORS_BASE_JOB_KEY_H
#define COLLECTORS_BASE_JOB_KEY_H

/* Sizes in bytes, NUL included. Kubernetes allows 63 bytes for a namespace (RFC 1123, a label). */
#define JOB_NAME_MAX  200 /* longer names are refused */
#define JOB_SPACE_MAX 64  /* of a namespace, and of a cluster */
#define JOB_KEY_MAX   (JOB_NAME_MAX + 2 * JOB_SPACE_MAX)

#define JOB_KEY_SEPARATOR '\x1f'

/* The parts of a key. A part that is not there is empty. */
struct job_parts {
	char name[JOB_NAME_MAX], space[JOB_SPACE_MAX], cluster[JOB_SPACE_MAX];
};
struct job_parts job_key_parts(const char *key);

/* Writes the key of these parts. NULL and "" = there is no such part. A part that is too long is
 * cut. */
void job_key_write(const char *name, const char *space, const char *cluster,
	char ret[static JOB_KEY_MAX]);

/* Returns the part of the key behind the name: the same text for all jobs of a namespace in a
 * cluster. */
const char *job_key_place(const char *key);

/* Writes the key for people: load, or load (namespace etl, cluster eu). The text is at most
 * JOB_TEXT_MAX bytes long, NUL included. */
#define JOB_TEXT_MAX (JOB_KEY_MAX + 32)
const char *job_key_text(const char *key, char ret[static JOB_TEXT_MAX]);

#endif
