/*
 * A libnvidia-ml.so.1 of our own, for machines without a GPU. It plays a scenario: words of the
 *form KEY=VALUE, from the variable RIGHTSIZE_FAKE_NVML of the environment, or from fake_nvml_play.
 *
 *	gpus=8                        how many (1)
 *	init=9                        what nvmlInit answers (0)
 *	processes=0:100:512:40:c,...  GPU:PID:MIB:PERCENT:KIND; kinds are c(ompute), g(raphics),
 *m(ps); 0 MIB is "not told"; the GPU may be "0.1", slice 1 of GPU 0 mig=0 this GPU is split into
 *two slices lost=1                        this GPU fell off the bus records=32 _v3 writes records
 *of 32 bytes; records=cleared: of 24, after it cleared all room fail=NAME:3,...               these
 *functions answer so hang=NAME                     this function returns only after
 *fake_nvml_release
 *
 * The first GPU has 2 corrected ECC errors and is held down by its power cap (0x04) and heat
 *(0x40).
 */
#ifndef TESTS_SUPPORT_FAKE_NVML_H
#define TESTS_SUPPORT_FAKE_NVML_H

/*
 * Replaces the scenario; "" is one GPU without processes. Forgets how often functions were called.
 */
void fake_nvml_play(const char *scenario);

/* Waits until some function hangs as the scenario says. */
void fake_nvml_await_hang(void);
/* Ends all hanging, for good until the next fake_nvml_play. */
void fake_nvml_release(void);

/* How often a function was called since the scenario began; waits until it was. */
unsigned fake_nvml_calls(const char *name);
void fake_nvml_await_call(const char *name);

#endif
