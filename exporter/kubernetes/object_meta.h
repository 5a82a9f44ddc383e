/* Reads the metadata of an object of the Kubernetes API: its name, its UID, and which object owns
 * it. Users of the cluster choose most of these texts, so each has a maximum size and is checked
 * for valid characters. Pure functions. */
#ifndef EXPORTER_KUBERNETES_OBJECT_META_H
#define EXPORTER_KUBERNETES_OBJECT_META_H

#include <stdbool.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/scan.h"

/* Sizes include the NUL. A namespace is a DNS label (63 bytes), a pod's name a DNS subdomain (253
 * bytes), and a UID has 36 bytes. A kind has 63 bytes at most (apiextensions validates it as a DNS
 * label). */
#define POD_SPACE_MAX   64
#define POD_NAME_MAX    254
#define POD_UID_MAX     37
#define OBJECT_KIND_MAX 64

/* Maximum size of the JSON text that is read, in bytes. An object may have 1.5 MiB
 * (--max-request-bytes of etcd), but only its metadata is requested: all annotations together have
 * at most 256 KiB, and the rest of the metadata is small. */
#define OBJECT_JSON_MAX (1u << 20)
/* A label or annotation with a longer value is ignored. Labels have 63 bytes at most. */
#define OBJECT_WORD_MAX 1000

/* The owner of an object. A text is "" if the API did not send it or it has an invalid form. */
struct owner_reference {
	char group[POD_NAME_MAX]; /* API group; "" = the core group, to which pods belong */
	char kind[OBJECT_KIND_MAX];
	char name[POD_NAME_MAX], uid[POD_UID_MAX];
};

struct object_meta {
	char name[POD_NAME_MAX], uid[POD_UID_MAX];
	char generate_name[POD_NAME_MAX]; /* prefix from which the name was made; "" = none */
	bool owned;
	/* The owner that manages the object ("controller": true). If there is none, the first
	 * owner. Valid if `owned` is true. */
	struct owner_reference owner;
};

/* Reads a JSON text with the member "metadata". Appends to `words` the labels and annotations that
 * name jobs (recognise_is_pod_word), as KEY=VALUE strings that end in NUL; `words` may be NULL.
 * Returns -EBADMSG if the metadata lacks a valid name or a UID. */
int object_meta_read(struct slice json, struct object_meta *ret, struct buf *words, struct err *e);

/* Returns true if `name` is a DNS subdomain, and can therefore safely be a part of a URL's path. */
bool object_name_is_valid(const char *name);

#endif
