/*
 * What looks may cost where the kernel ends a process that used too much CPU time (RLIMIT_CPU): a wrapper that is killed
 * leaves its job to nobody, which a batch system's limit for the job would do to any that is watched for long enough. Up
 * to half of CPU_LIMIT_SHARE of the limit they come as often as was asked for; from then on ever more rarely, so that
 * the share lasts however long the job does. The rest is for the end, and for the history.
 */
#ifndef EXPORTER_CPU_LIMIT_H
#define EXPORTER_CPU_LIMIT_H

#define CPU_LIMIT_SHARE 0.8
/* Most intervals that a row is put off by. */
#define CPU_LIMIT_STRETCH_MAX 1000

/* The soft limit of this process in seconds, at which the kernel begins to send signals; INFINITY: there is none. */
double cpu_limit_seconds(void);

/* CPU time of all threads of this process until now. */
double cpu_limit_used(void);

/*
 * How many intervals it should be from one look to the next, at least 1, when so many seconds were used; INFINITY: no
 * more looks, as the share is used, or another that takes as long as the latest would leave too little for the end.
 */
double cpu_limit_stretch(double limit, double used, double look);

#endif
