/* Identifies the job of a run by its name, its namespace and its cluster. Two teams may each have a
 * job `load`.
 *
 * One text, the key, has all three parts: NAME, NAME|NAMESPACE or NAME|NAMESPACE|CLUSTER. If there
 * is a cluster, the namespace may be empty: NAME||CLUSTER. "|" stands for the control character
 * U+001F, which no part may have. Keys sort by name. A key is compared and stored like any other
 * text. People and other programs get the parts, never the key. */
#ifndef COLLECTORS_BASE_JOB_KEY_H
#define COLLECTORS_BASE_JOB_KEY_H

/* Sizes in bytes, NUL included. Kubernetes allows 63 bytes for a namespace (RFC 1123, a label). */
#define JOB_NAME_MAX  200 /* longer names are refused */
#define JOB_SPACE_MAX 64  /* for a namespace, and for a cluster */
#define JOB_KEY_MAX   (JOB_NAME_MAX + 2 * JOB_SPACE_MAX)

#define JOB_KEY_SEPARATOR '\x1f'

/* The parts of a key. A missing part is "". */
struct job_parts {
	char name[JOB_NAME_MAX], space[JOB_SPACE_MAX], cluster[JOB_SPACE_MAX];
};
struct job_parts job_key_parts(const char *key);

/* Writes the key of these parts. `space` and `cluster`: NULL or "" = the job has none. A part that
 * is too long is cut. */
void job_key_write(const char *name, const char *space, const char *cluster,
	char ret[static JOB_KEY_MAX]);

/* Returns the rest of the key after the name. The rest begins with a separator; "" = no namespace
 * and no cluster. All jobs of one namespace in one cluster have the same rest. */
const char *job_key_place(const char *key);

/* Writes the key for people: load, or load (namespace etl, cluster eu). The text is at most
 * JOB_TEXT_MAX bytes long, NUL included. */
#define JOB_TEXT_MAX (JOB_KEY_MAX + 32)
const char *job_key_text(const char *key, char ret[static JOB_TEXT_MAX]);

#endif
