/* A number for each of many process numbers: a hash table by open addressing. Zeroed memory is an empty one. */
#ifndef COLLECTORS_BASE_PID_MAP_H
#define COLLECTORS_BASE_PID_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_map {
	size_t n, n_slots;
	struct pid_slot {
		pid_t pid; /* 0 = free */
		uint32_t value;
	} * slot;
};

/* The number of a pid, valid until the map changes; NULL: it has none. */
uint32_t *pid_map_find(const struct pid_map *m, pid_t pid);
/* The same; a pid that has none gets 0. */
uint32_t *pid_map_add(struct pid_map *m, pid_t pid);
void pid_map_remove(struct pid_map *m, pid_t pid); /* one that has a number */
void pid_map_clear(struct pid_map *m);             /* keeps the room */
void pid_map_done(struct pid_map *m);

#endif
