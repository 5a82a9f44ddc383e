/* The text of /proc/PID/fdinfo/FD for DRM descriptors, in each driver's layout. The texts are
 * formats for printf(): a test gives the numbers. */
#ifndef TESTS_SUPPORT_FDINFO_SAMPLES_H
#define TESTS_SUPPORT_FDINFO_SAMPLES_H

/* amdgpu, Linux 6.1. Arguments: client id, VRAM in KiB, time of gfx and compute in ns. */
#define FDINFO_AMDGPU                                                                              \
	"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t731\n"                                      \
	"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t%llu\n"                     \
	"drm-memory-vram:\t%llu KiB\ndrm-memory-gtt: \t8192 KiB\ndrm-memory-cpu: \t0 KiB\n"        \
	"drm-engine-gfx:\t%llu ns\ndrm-engine-compute:\t%llu ns\ndrm-engine-dec:\t0 ns\n"

/* amdgpu, Linux 6.12. Each memory region is listed under its old and its new name. */
#define FDINFO_AMDGPU_REGIONS                                                                      \
	"drm-driver:\tamdgpu\ndrm-client-id:\t88\ndrm-pdev:\t0000:03:00.0\n"                       \
	"drm-total-cpu:\t0\ndrm-shared-cpu:\t0\ndrm-active-cpu:\t0\ndrm-resident-cpu:\t0\n"        \
	"drm-total-gtt:\t6 MiB\ndrm-shared-gtt:\t0\ndrm-resident-gtt:\t6 MiB\n"                    \
	"drm-total-vram:\t300 MiB\ndrm-shared-vram:\t0\ndrm-resident-vram:\t256 MiB\n"             \
	"drm-memory-vram:\t262144 KiB\ndrm-memory-gtt: \t6144 KiB\n"                               \
	"amd-evicted-vram:\t45056 KiB\namd-requested-vram:\t307200 KiB\n"                          \
	"drm-engine-gfx:\t1000000 ns\n"

/* i915 of a card with its own memory. Two video engines share one name. */
#define FDINFO_I915                                                                                \
	"pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t911\n"                                      \
	"drm-driver:\ti915\ndrm-client-id:\t%llu\ndrm-pdev:\t0000:4d:00.0\n"                       \
	"drm-total-system0:\t65 MiB\ndrm-shared-system0:\t16 MiB\ndrm-resident-system0:\t64 MiB\n" \
	"drm-total-local0:\t%llu MiB\ndrm-shared-local0:\t0\ndrm-active-local0:\t0\n"              \
	"drm-resident-local0:\t%llu MiB\ndrm-total-stolen-local0:\t0\n"                            \
	"drm-engine-render:\t%llu ns\ndrm-engine-copy:\t0 ns\n"                                    \
	"drm-engine-video:\t%llu ns\ndrm-engine-capacity-video:\t2\ndrm-engine-video-enhance:\t0 " \
	"ns\n"

/* The xe driver reports an engine's busy cycles and total cycles instead of time. There are four
 * compute engines. */
#define FDINFO_XE                                                                                  \
	"pos:\t0\nflags:\t0100002\nmnt_id:\t26\nino:\t685\n"                                       \
	"drm-driver:\txe\ndrm-client-id:\t%llu\ndrm-pdev:\t0000:8c:00.0\n"                         \
	"drm-total-system:\t0\ndrm-shared-system:\t0\ndrm-resident-system:\t0\n"                   \
	"drm-total-vram0:\t%llu KiB\ndrm-shared-vram0:\t0\ndrm-resident-vram0:\t%llu KiB\n"        \
	"drm-cycles-rcs:\t%llu\ndrm-total-cycles-rcs:\t%llu\n"                                     \
	"drm-cycles-ccs:\t%llu\ndrm-total-cycles-ccs:\t%llu\ndrm-engine-capacity-ccs:\t4\n"

/* i915 of an integrated GPU, which uses the memory of the system. */
#define FDINFO_INTEGRATED                                                                          \
	"drm-driver:\ti915\ndrm-client-id:\t5\ndrm-pdev:\t0000:00:02.0\n"                          \
	"drm-total-system0:\t65 MiB\ndrm-resident-system0:\t64 MiB\ndrm-engine-render:\t77 ns\n"

#endif
