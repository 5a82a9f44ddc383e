/* A loose thread shares everything with the program, except its end. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/thread.h"
#include "exporter/core/loose_thread.h"

struct shared {
	struct loose_thread thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pid_t pid;
	int pipe[2];
	bool may_end;
};

static void *tell_pid_and_wait(void *context)
{
	struct shared *s = context;

	pthread_mutex_lock(&s->lock);
	s->pid = (pid_t)syscall(SYS_getpid);
	if (pipe2(s->pipe, O_CLOEXEC) < 0)
		s->pipe[0] = s->pipe[1] = -1;
	pthread_cond_broadcast(&s->changed);
	while (!s->may_end)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void start(struct shared *s, bool loose)
{
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->changed);
	assert_int_equal(loose_thread_start(&s->thread, loose, "test", tell_pid_and_wait, s, NULL),
		0);
	pthread_mutex_lock(&s->lock);
	while (!s->pid)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void end(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	s->may_end = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	loose_thread_join(&s->thread);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
}

static void it_is_a_process_that_shares_memory_locks_and_files(void **state)
{
	struct shared s = {0};

	(void)state;
	if (!LOOSE_THREADS)
		skip();
	start(&s, true);
	assert_int_not_equal(s.pid, getpid());
	assert_int_equal(write(s.pipe[1], "x", 1), 1);
	assert_true(loose_thread_cpu_ns(&s.thread) > 0);
	/* A wait for any child does not return the loose thread. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	end(&s);
	assert_int_equal(close(s.pipe[0]) + close(s.pipe[1]), 0);
	assert_int_equal(kill(s.pid, 0), -1);
}

static void without_loose_it_is_a_usual_thread(void **state)
{
	struct shared s = {0};

	(void)state;
	start(&s, false);
	assert_int_equal(s.pid, getpid());
	assert_true(loose_thread_cpu_ns(&s.thread) > 0);
	end(&s);
	assert_int_equal(close(s.pipe[0]) + close(s.pipe[1]), 0);
}

/* Starts a loose thread that never ends, and writes its pid to `fd`. Then ends this process. */
static _Noreturn void leave_beside_a_thread(int fd)
{
	static struct shared s;

	start(&s, true);
	loose_threads_leave(write(fd, &s.pid, sizeof s.pid) == sizeof s.pid ? 3 : 4);
}

/* Returns true when the process ends within ten seconds. Its new parent may be a process that does
 * not reap it, so a zombie has ended. */
static bool ends(pid_t pid)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 1000; i++) {
		AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

		if (n <= 0)
			return true;
		text[n] = '\0';
		if (strstr(text, ") Z "))
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

static void the_end_of_the_program_ends_it_and_its_pipes(void **state)
{
	int fds[2], status = 0;
	pid_t loose = 0;
	char c;

	(void)state;
	if (!LOOSE_THREADS)
		skip();
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0)
		leave_beside_a_thread(fds[1]);
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(read(fds[0], &loose, sizeof loose), sizeof loose);
	assert_int_equal(read(fds[0], &c, 1), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(close(fds[0]), 0);
	assert_int_not_equal(loose, pid);
	assert_true(ends(loose));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_process_that_shares_memory_locks_and_files),
		cmocka_unit_test(without_loose_it_is_a_usual_thread),
		cmocka_unit_test(the_end_of_the_program_ends_it_and_its_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
