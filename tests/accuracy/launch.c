/* Starts a job for other programs to observe: accuracy_launch [--enter GROUP]... -- COMMAND...
 *
 * The program prints the job's pid. The job executes COMMAND only after the program has read a line
 * from stdin. The program then waits for the job, and prints its status from waitpid(2). --enter
 * moves the job into a control group before COMMAND starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void enter(const char *group)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/cgroup.procs", group);
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1) {
		perror(path);
		_exit(127);
	}
	close(fd);
}

static _Noreturn void become(char **argv, int ready, int go)
{
	char byte;
	int i = 1;

	for (; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--enter") != 0)
			enter(argv[i]);
	close(ready);
	if (read(go, &byte, 1) != 1 || !argv[i])
		_exit(127);
	close(go);
	execvp(argv[i + 1], argv + i + 1);
	perror(argv[i + 1]);
	_exit(127);
}

int main(int argc, char **argv)
{
	char line[16];
	char byte;
	int ready[2], go[2], status;

	(void)argc;
	if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		return 1;
	pid_t job = fork();

	if (job < 0)
		return 1;
	if (job == 0)
		become(argv, ready[1], go[0]);
	close(ready[1]);
	/* read() returns 0 when the job has entered its group and closed the pipe. */
	if (read(ready[0], &byte, 1) != 0)
		return 1;
	printf("%d\n", (int)job);
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin) || write(go[1], "g", 1) != 1)
		return 1;
	waitpid(job, &status, 0);
	printf("%d\n", status);
	return 0;
}
