#include "exporter/core/capabilities.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *capabilities_not_enough(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = {{0}};
	/* Both capability numbers are below 32, so both bits are in half[0]. */
	const __u32 both = 1u << CAP_SYS_PTRACE | 1u << CAP_DAC_READ_SEARCH;
	bool has = syscall(SYS_capget, &head, half) == 0 && (half[0].effective & both) == both;

	return has ? "forbidden although the exporter has SYS_PTRACE and DAC_READ_SEARCH: by a user "
		     "namespace, AppArmor or SELinux" :
		     NULL;
}
