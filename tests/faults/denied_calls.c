/* A preloaded library. When the program calls listen() for the first time, the library makes all
 * system calls that a server must not make. It writes "CALL ERRNO" lines (0 = the call worked) to
 * the file named by $DENIED_CALLS. The arguments are wrong on purpose, so that a permitted call
 * does no harm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/mem.h"

#define CALL(name)                                                                                 \
	{                                                                                          \
#name, SYS_##name,                                                                 \
		{                                                                                  \
			-1, -1, -1, -1, -1                                                         \
		}                                                                                  \
	}
#define X32 0x40000000L

static const struct {
	const char *name;
	long number;
	long arguments[5];
} calls[] = {
	CALL(execve),
	CALL(execveat),
	CALL(ptrace),
	CALL(process_vm_readv),
	CALL(process_vm_writev),
	CALL(pidfd_getfd),
	CALL(pidfd_send_signal),
	CALL(process_madvise),
	CALL(process_mrelease),
	CALL(kcmp),
	CALL(tkill),
	CALL(rt_sigqueueinfo),
	CALL(rt_tgsigqueueinfo),
	CALL(setpriority),
	CALL(ioprio_set),
	CALL(sched_setaffinity),
	CALL(sched_setparam),
	CALL(sched_setscheduler),
	CALL(sched_setattr),
	CALL(migrate_pages),
	CALL(move_pages),
	{"fcntl that names who is signalled", SYS_fcntl, {-1, F_SETOWN}},
	{"fcntl that names which thread is signalled", SYS_fcntl, {-1, F_SETOWN_EX}},
	{"fcntl that chooses the signal", SYS_fcntl, {-1, F_SETSIG}},
	{"limits of another process", SYS_prlimit64, {1, -1}},
	{"kill", SYS_kill, {1, SIGURG}},
	{"tgkill", SYS_tgkill, {1, 1, SIGURG}},
	CALL(setuid),
	CALL(setgid),
	CALL(setreuid),
	CALL(setregid),
	CALL(setresuid),
	CALL(setresgid),
	CALL(setgroups),
	CALL(setfsuid),
	CALL(setfsgid),
	CALL(mount),
	CALL(umount2),
	CALL(pivot_root),
	CALL(chroot),
	CALL(open_tree),
	CALL(move_mount),
	CALL(fsopen),
	CALL(fsconfig),
	CALL(fsmount),
	CALL(fspick),
	CALL(mount_setattr),
	CALL(setns),
	CALL(unshare),
	{"clone with a user namespace", SYS_clone, {CLONE_NEWUSER | CLONE_THREAD, 0}},
	{"clone of a process", SYS_clone, {SIGCHLD | CLONE_SIGHAND, 0}},
	CALL(clone3),
	CALL(open_by_handle_at),
	CALL(mknodat),
	CALL(swapon),
	CALL(swapoff),
	CALL(quotactl),
	CALL(acct),
	CALL(init_module),
	CALL(finit_module),
	CALL(delete_module),
	CALL(kexec_load),
	CALL(kexec_file_load),
	CALL(reboot),
	CALL(bpf),
	CALL(settimeofday),
	CALL(clock_settime),
	CALL(adjtimex),
	CALL(clock_adjtime),
	CALL(sethostname),
	CALL(setdomainname),
	CALL(syslog),
	CALL(userfaultfd),
	CALL(io_uring_setup),
	CALL(io_uring_enter),
	CALL(io_uring_register),
	CALL(add_key),
	CALL(request_key),
	CALL(keyctl),
	CALL(personality),
	{"ioctl that types into a terminal", SYS_ioctl, {-1, TIOCSTI}},
	{"ioctl that pastes into a terminal", SYS_ioctl, {-1, TIOCLINUX}},
	{"ioctl that names who is signalled", SYS_ioctl, {-1, FIOSETOWN}},
	{"ioctl that names which group is signalled", SYS_ioctl, {-1, SIOCSPGRP}},
#ifdef __x86_64__
	CALL(fork),
	CALL(mknod),
	CALL(iopl),
	CALL(ioperm),
	CALL(modify_ldt),
	{"execve of x32", X32 | 520, {-1, -1, -1}},
	{"getpid of x32", X32 | SYS_getpid, {0}},
#endif
};

static void try_all(FILE *out)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		const long *a = calls[i].arguments;

		long code = syscall(calls[i].number, a[0], a[1], a[2], a[3], a[4]);

		/* The fork was permitted, and this process is the child. It must not go on as a
		 * second server. */
		if (calls[i].number == SYS_fork && code == 0)
			_exit(0);
		fprintf(out, "%s|%d\n", calls[i].name, code < 0 ? errno : 0);
	}
}

#ifdef __x86_64__
static sigjmp_buf back;

static void on_fault(int number)
{
	siglongjmp(back, number);
}

/* Calls getpid by the 32-bit entry point. A kernel without that entry point sends SIGSEGV. Then no
 * line is written. */
static void try_i386(FILE *out)
{
	struct sigaction action = {.sa_handler = on_fault}, before;
	long pid = -EPERM;

	sigaction(SIGSEGV, &action, &before);
	if (sigsetjmp(back, 1) == 0) {
		__asm__ volatile("int $0x80"
				 : "=a"(pid)
				 : "a"(20L)
				 : "memory", "cc", "r8", "r9", "r10", "r11");
		fprintf(out, "getpid of i386|%ld\n", pid < 0 ? -pid : 0);
	}
	sigaction(SIGSEGV, &before, NULL);
}
#else
static void try_i386(FILE *out)
{
	(void)out;
}
#endif

int listen(int fd, int backlog)
{
	static int (*real)(int, int);
	const char *path = getenv("DENIED_CALLS");

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "listen");
	FILE *out = path ? fopen(path, "wxe") : NULL;

	if (out) {
		try_all(out);
		try_i386(out);
		fclose(out);
	}
	return real(fd, backlog);
}
