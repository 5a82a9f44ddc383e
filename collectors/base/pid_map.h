/* A hash table from pids to numbers, with open addressing. Zeroed memory is an empty table. */
#ifndef COLLECTORS_BASE_PID_MAP_H
#define COLLECTORS_BASE_PID_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_map {
	size_t n, n_slots;
	struct pid_slot {
		pid_t pid; /* 0 = the slot is free */
		uint32_t value;
	} * slot;
};

/* Returns a pointer to the number that is stored for `pid`, or NULL if the pid is not in the map.
 * The pointer is valid until the map changes. */
uint32_t *pid_map_find(const struct pid_map *m, pid_t pid);
/* Like pid_map_find, but adds a missing pid with the number 0. */
uint32_t *pid_map_add(struct pid_map *m, pid_t pid);
void pid_map_remove(struct pid_map *m, pid_t pid); /* the pid must be in the map */
void pid_map_clear(struct pid_map *m);             /* keeps the memory */
void pid_map_done(struct pid_map *m);

#endif
