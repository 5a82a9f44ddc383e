/* clang-format off */
/* A libnvidia-ml.so.1 of our own, for machines without a GPU. It plays a scenario: words of the form
 * KEY=VALUE, from the environment variable RIGHTSIZE_FAKE_NVML or from fake_nvml_play().
 *
 * 	gpus=8                        number of GPUs (default 1)
 * 	init=9                        return code of nvmlInit (default 0)
 * 	processes=0:100:512:40:c,...  GPU:PID:MIB:PERCENT:KIND. Kinds are c(ompute), g(raphics), m(ps).
 * 	                              0 MIB = unknown. The GPU may be "0.1", slice 1 of GPU 0.
 * 	mig=0                         this GPU is split into two slices
 * 	lost=1                        this GPU fell off the bus
 * 	records=32                    _v3 writes records of 32 bytes;
 * 	records=cleared               _v3 writes records of 24 bytes after it cleared the whole buffer
 * 	fail=NAME:3,...               these functions return this code
 * 	hang=NAME                     this function returns only after fake_nvml_release()
 *
 * The first GPU has 2 corrected ECC errors, and is throttled by its power cap (0x04) and heat
 * (0x40). */
/* clang-format on */
#ifndef TESTS_SUPPORT_FAKE_NVML_H
#define TESTS_SUPPORT_FAKE_NVML_H

/* Replaces the scenario and resets the counts of calls. "" is one GPU without processes. */
void fake_nvml_play(const char *scenario);

/* Waits until a function hangs as planned by the scenario. */
void fake_nvml_await_hang(void);
/* Lets all hanging calls return. No call hangs until the next fake_nvml_play(). */
void fake_nvml_release(void);

/* fake_nvml_calls() returns how often the function was called since the scenario began.
 * fake_nvml_await_call() waits until it has been called once. */
unsigned fake_nvml_calls(const char *name);
void fake_nvml_await_call(const char *name);

/* Adds a sample of a process. An H100 with driver 580 takes a sample every 200 ms, and counts the
 * whole sample for the process that runs at that instant. After the first sample,
 * nvmlDeviceGetProcessUtilization() answers as that driver does, and ignores "processes". It
 * returns one sample for each process: the mean of all samples after the time that the caller
 * passes, in which a sample of another process counts as 0. fake_nvml_play() removes all
 * samples. */
void fake_nvml_sample(unsigned pid, unsigned percent);

#endif
