#include "exporter/lifecycle/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/base/mem.h"
#include "exporter/lifecycle/switch_user.h"
#include "exporter/core/log.h"
#include "exporter/core/paths.h"

/* When the program ends, LeakSanitizer traces it by ptrace(2), so a program that is built with
 * LeakSanitizer must stay traceable. */
#ifdef __SANITIZE_ADDRESS__
#define IS_TRACED_BY_ITSELF true
#else
#define IS_TRACED_BY_ITSELF false
#endif

/* The condition under which a capability is kept. */
enum capability_need { NEED_ALWAYS, NEED_FILES_OF_OTHERS };

/* clang-format off */
static const struct {
	unsigned int number;
	enum capability_need need;
	const char *name;
} kept[] = {
	/* needed to read memory, I/O and environment of other users' processes in /proc */
	{CAP_SYS_PTRACE, NEED_ALWAYS, "sys_ptrace"},
	{CAP_DAC_READ_SEARCH, NEED_ALWAYS, "dac_read_search"},
	/* needed to receive exit events of processes (taskstats, proc connector) */
	{CAP_NET_ADMIN, NEED_ALWAYS, "net_admin"},
	/* needed to listen on ports below 1024 */
	{CAP_NET_BIND_SERVICE, NEED_ALWAYS, "net_bind_service"},
	/* needed to write a history, socket or cache that belongs to another user, such as the user
	 * who runs the wrappers */
	{CAP_DAC_OVERRIDE, NEED_FILES_OF_OTHERS, "dac_override"},
	/* needed by SQLite to give the -wal and -shm files to the owner of the history, because the
	 * wrappers of that user open them */
	{CAP_CHOWN, NEED_FILES_OF_OTHERS, "chown"},
};
/* clang-format on */

static void complain(const char *subject, int code)
{
	struct err e = {0};

	err_system(&e, code, "%s", subject);
	log_line(LOG_LEVEL_WARN, "a privilege could not be dropped", "err", e.text, NULL);
}

/* Returns true when another user owns the file or its folder. If the path does not exist, checks
 * the nearest existing folder. */
static bool place_is_of_others(const char *path)
{
	struct stat s;

	if (!path)
		return false;
	/* Do not call stat(2) on a disk that may never answer. Assume another owner. */
	if (path_is_remote(path))
		return true;
	if (stat(path, &s) == 0 && s.st_uid != geteuid())
		return true;
	AUTO(freep) char *folder = xstrdup(path);

	for (char *slash; (slash = strrchr(folder, '/')) != NULL;) {
		slash[slash == folder] = '\0';
		if (stat(folder, &s) == 0 || slash == folder)
			return s.st_uid != geteuid();
	}
	return stat(".", &s) == 0 && s.st_uid != geteuid();
}

static int keep_capabilities(uint64_t wanted, uint64_t *ret)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3] = {{0}};
	bool more = false;

	if (syscall(SYS_capget, &head, half) < 0)
		return -errno;
	*ret = 0;
	for (unsigned int i = 0; i < ARRAY_LEN(half); i++) {
		uint32_t mask = (uint32_t)(wanted >> (32 * i));

		more = more || (half[i].permitted & ~mask);
		half[i].permitted &= mask;
		/* After a change of the user, capabilities are permitted but not effective. */
		more = more || half[i].effective != half[i].permitted;
		half[i].effective = half[i].permitted;
		half[i].inheritable = 0;
		*ret |= (uint64_t)half[i].effective << (32 * i);
	}
	/* Clear the ambient set, because executed programs inherit it. Ignore errors, because Linux
	 * before 4.3 has no ambient set. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Call capset(2) only if the capabilities must change. The systemd unit of this program
	 * grants only the needed capabilities, and forbids capset(2). */
	return more && syscall(SYS_capset, &head, half) < 0 ? -errno : 0;
}

static void drop_capabilities(const struct options *o, const char *history_path, struct buf *names)
{
	/* With --security.user, the files belong to that user: switch_user has changed their
	 * owner. */
	bool others = !o->security_user &&
		      (place_is_of_others(history_path) || place_is_of_others(o->unix_socket) ||
			      place_is_of_others(o->catalogue_cache));
	uint64_t wanted = 0, left = 0;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (kept[i].need == NEED_ALWAYS || others)
			wanted |= UINT64_C(1) << kept[i].number;
	int code = keep_capabilities(wanted, &left);

	if (code) {
		complain("set capabilities", code);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (left >> kept[i].number & 1)
			buf_addf(names, "%s%s", names->len ? " " : "", kept[i].name);
}

static void hide_memory(void)
{
	if (!IS_TRACED_BY_ITSELF && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		complain("forbid core dumps", -errno);
}

void privileges_hide_secrets(const struct options *o)
{
	if (o->forward_token_file || o->store_token_file || o->store_basic_auth_file ||
		o->web_config_file)
		hide_memory();
}

int privileges_drop(const struct options *o, const char *history_path, struct err *e)
{
	struct buf names AUTO(buf_done) = BUF_MAX(256);
	const char *calls = "off";
	const char *cache = o->catalogue_refresh ? o->catalogue_cache : NULL;
	int failed = o->security_user ? switch_user(o->security_user, history_path, cache, e) : 0;

	if (failed)
		return failed;
	/* Other users must not be able to read new files, even in a folder that all users may open.
	 * The history may be in such a folder in Kubernetes. */
	umask(umask(S_IRWXO) | S_IRWXO);
	drop_capabilities(o, history_path, &names);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		complain("set no_new_privs", -errno);
	hide_memory();
	if (o->security_seccomp && !IS_TRACED_BY_ITSELF) {
		int code = seccomp_forbid();

		if (code)
			complain("forbid system calls", code);
		else
			calls = "on";
	}
	log_line(LOG_LEVEL_INFO, "privileges", "capabilities",
		names.len ? buf_text(&names) : "none", "seccomp", calls, NULL);
	return 0;
}
