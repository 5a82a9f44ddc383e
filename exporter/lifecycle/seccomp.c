/* Forbids system calls that the server never makes. */
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/core/loose_thread.h"
#include "exporter/lifecycle/privileges.h"

/* The table lists the forbidden calls and not the allowed ones: after an update, the C library, the
 * resolver, TLS or NVIDIA's library may make new calls, which must not stop the server. */
/* clang-format off */
static const uint32_t forbidden[] = {
	/* becoming another program */
	SYS_execve, SYS_execveat,
	/* reading, changing and stopping other processes; to measure them, the server needs only
	 * /proc */
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_pidfd_send_signal,
	SYS_process_madvise, SYS_process_mrelease, SYS_kcmp, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
	SYS_setpriority, SYS_ioprio_set, SYS_sched_setaffinity, SYS_sched_setparam, SYS_sched_setscheduler,
	SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,
	/* becoming another user or group */
	SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
	SYS_setfsuid, SYS_setfsgid,
	/* changing the view of file systems and namespaces */
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen,
	SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_setns, SYS_unshare,
	SYS_open_by_handle_at, SYS_mknodat, SYS_swapon, SYS_swapoff, SYS_quotactl, SYS_acct,
	/* changing the kernel and the machine */
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot,
	SYS_bpf, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname,
	SYS_setdomainname, SYS_syslog,
	/* unused calls in which many kernel vulnerabilities were found */
	SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_add_key,
	SYS_request_key, SYS_keyctl, SYS_personality,
#ifdef __x86_64__
	SYS_fork, SYS_vfork, SYS_mknod, SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
};
/* clang-format on */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define NUMBERS_END  0x40000000U /* x32 numbers of the calls begin here (asm/unistd.h) */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define NUMBERS_END  UINT32_MAX
#else
#define ARCHITECTURE 0 /* call numbers are unknown: no filter */
#define NUMBERS_END  UINT32_MAX
#endif

#define FIELD(name)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define UNLESS_SKIP(v, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), 0, (n))
#define IF_SKIP(v, n)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (n), 0)
#define BELOW_SKIP(v, n)  BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (v), 0, (n))
#define ALLOW             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define HAS_SKIP(v, n)    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (v), (n), 0)
#define REFUSE            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

/* Loads the low half of the i-th argument of the system call. An argument has 64 bits (little
 * endian). If it is an int, its low half is the whole value. */
#define LOW_HALF(i) FIELD(args[i])

/* Flags of clone(2) that create namespaces. Most exploits that gain root begin with a user
 * namespace. CLONE_NEWTIME is missing, because only clone3 accepts it. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
		CLONE_NEWPID | CLONE_NEWNET)

/* These checks run before the list of forbidden calls. */
static const struct sock_filter checks[] = {
	FIELD(arch),
	IF_SKIP(ARCHITECTURE, 1),
	REFUSE,
	FIELD(nr),
	BELOW_SKIP(NUMBERS_END, 1),
	REFUSE,
	/* Signal 0 only checks that a process exists. */
	UNLESS_SKIP(SYS_kill, 4),
	LOW_HALF(1),
	IF_SKIP(0, 1),
	REFUSE,
	ALLOW,
	/* Allow new threads, including loose threads (loose_thread.h). Forbid new processes and
	 * namespaces. */
	UNLESS_SKIP(SYS_clone, 6),
	LOW_HALF(0),
	IF_SKIP(LOOSE_THREAD_FLAGS, 3),
	HAS_SKIP(NAMESPACES, 1),
	HAS_SKIP(CLONE_THREAD, 1),
	REFUSE,
	ALLOW,
	/* A filter cannot read the flags of clone3. Answer ENOSYS, so that the C library calls
	 * clone instead. */
	UNLESS_SKIP(SYS_clone3, 1),
	UNKNOWN,
	/* Forbid calls that type text into the terminal, and calls that make a descriptor send
	 * signals to other processes. */
	UNLESS_SKIP(SYS_ioctl, 7),
	LOW_HALF(1),
	IF_SKIP(TIOCSTI, 3),
	IF_SKIP(FIOSETOWN, 2),
	IF_SKIP(SIOCSPGRP, 1),
	UNLESS_SKIP(TIOCLINUX, 1),
	REFUSE,
	ALLOW,
	UNLESS_SKIP(SYS_fcntl, 6),
	LOW_HALF(1),
	IF_SKIP(F_SETOWN, 2),
	IF_SKIP(F_SETOWN_EX, 1),
	UNLESS_SKIP(F_SETSIG, 1),
	REFUSE,
	ALLOW,
	/* Allow prlimit(2) only for this process: lowering a limit of another process can end that
	 * process. */
	UNLESS_SKIP(SYS_prlimit64, 4),
	LOW_HALF(0),
	IF_SKIP(0, 1),
	REFUSE,
	ALLOW,
};

int seccomp_forbid(void)
{
	/* Allow only signals to the process itself, which abort(3) and raise(3) send. */
	const struct sock_filter own_signals[] = {
		UNLESS_SKIP(SYS_tgkill, 4),
		LOW_HALF(0),
		IF_SKIP((uint32_t)getpid(), 1),
		REFUSE,
		ALLOW,
	};
	struct sock_filter
		code[ARRAY_LEN(checks) + ARRAY_LEN(own_signals) + 2 * ARRAY_LEN(forbidden) + 1];
	size_t n = 0;

	if (ARCHITECTURE == 0)
		return -ENOSYS;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		code[n++] = checks[i];
	for (size_t i = 0; i < ARRAY_LEN(own_signals); i++)
		code[n++] = own_signals[i];
	for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
		code[n++] = (struct sock_filter)UNLESS_SKIP(forbidden[i], 1);
		code[n++] = (struct sock_filter)REFUSE;
	}
	code[n++] = (struct sock_filter)ALLOW;

	struct sock_fprog program = {.len = (unsigned short)n, .filter = code};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
