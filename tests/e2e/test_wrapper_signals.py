"""run: signals reach the same processes as without the wrapper, and timers and priorities apply to the job. Each test
also runs without the wrapper."""
import contextlib
import ctypes
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import unittest

from support import AS_ROOT, DEADLINE, EXPORTER, Case, main, python_job, wait_until

# A process group with a child in it, as timeout(1) makes one. Both print the signals that come, until a SIGQUIT or a
# SIGUSR1. The leader of a session already leads a group.
GROUP = python_job("""
import contextlib, os, signal, sys
wanted = {signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH, signal.SIGCONT, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
with contextlib.suppress(PermissionError):
    os.setpgid(0, 0)
child = os.fork()
who = "leader" if child else "member"
os.write(1, f"{who} ready\\n".encode())
name = ""
while name not in sys.argv[1:]:
    name = signal.Signals(signal.sigwait(wanted)).name
    os.write(1, f"{who} has {name}\\n".encode())
if child:
    # The child may not have had the signal.
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
""")
# Starts a program, answers each signal with a line to the program, and prints at its end which signals came.
CALLER = """
import contextlib, os, signal, subprocess, sys
group, command = sys.argv[1], sys.argv[2:]
wanted = {signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN, signal.SIGCHLD}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
if group == "same":
    os.setpgid(0, 0)
job = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=None if group == "same" else 0,
                       preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted))
came = []
while (info := signal.sigwaitinfo(wanted)).si_signo != signal.SIGCHLD:
    # The value of a queued signal is in the field of a child's status.
    came.append((signal.Signals(info.si_signo).name, info.si_status if info.si_code == -1 else None))
    with contextlib.suppress(BrokenPipeError):
        os.write(job.stdin.fileno(), b"told\\n")
code = job.wait()
while (info := signal.sigtimedwait(wanted - {signal.SIGCHLD}, 0)):
    came.append((signal.Signals(info.si_signo).name, info.si_status if info.si_code == -1 else None))
print("caller:", came, code if code >= 0 else 128 - code)
"""
SIGQUEUE = "import ctypes, os, signal; queue = ctypes.CDLL(None).sigqueue; queue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]\n"


def exit_code(status):
    """Returns the exit code as a shell shows it, after the wrapper has ended."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


class Terminal:
    """A program that leads the session of a terminal."""

    def __init__(self, case, command):
        self.case, self.output = case, b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, case.environment)
        self.status = None
        case.addCleanup(self._end)

    def _end(self):
        os.close(self.fd)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def read_until(self, *texts):
        def read():
            with contextlib.suppress(OSError):
                self.output += os.read(self.fd, 1000)
            return all(text in self.output for text in texts)
        os.set_blocking(self.fd, False)
        try:
            wait_until(read, texts)
        except AssertionError as missing:
            raise AssertionError(f"{missing}, but {self.output}") from None

    def type(self, keys):
        os.set_blocking(self.fd, True)
        os.write(self.fd, keys)

    def wait(self):
        def ended():
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
            return pid
        wait_until(ended, "the end")
        return exit_code(self.status)


class Both(Case):
    def both(self, command):
        """The command, alone and watched."""
        return command, [EXPORTER, *self.wrapper_arguments(command, flags=["--quiet"])]


class OfTheTerminal(Both):
    def test_end_a_job_that_makes_a_group_of_its_own(self):
        job = ["/usr/bin/timeout", "600", "sh", "-c", "echo ready; exec sleep 500"]
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            for command in self.both(job):
                terminal = Terminal(self, command)
                terminal.read_until(b"ready")
                terminal.type(key)
                self.assertEqual(terminal.wait(), 128 + number)

    def test_reach_all_of_a_group_that_the_job_makes(self):
        for command in self.both([*GROUP, "SIGQUIT"]):
            terminal = Terminal(self, command)
            terminal.read_until(b"leader ready", b"member ready")
            fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
            terminal.read_until(b"leader has SIGWINCH", b"member has SIGWINCH")
            # No process would continue the group: ^Z stops nothing, with or without the wrapper.
            terminal.type(b"\x1a\x03")
            terminal.read_until(b"leader has SIGINT", b"member has SIGINT")
            terminal.type(b"\x1c")
            self.assertEqual(terminal.wait(), 0)

    def test_do_not_reach_a_group_that_left_the_terminal_s(self):
        """The job leaves its group, as a job in a script does, which leads no group."""
        script = "trap '' INT; trap : USR1; \"$@\" & echo pid $!; trap 'echo interrupted' INT; while ! wait; do :; done; echo over"
        for command in self.both([*GROUP, "SIGUSR1"]):
            # A background job of a script ignores SIGINT. The job waits for SIGINT all the same.
            terminal = Terminal(self, ["/bin/sh", "-c", script, "-", *command])
            terminal.read_until(b"leader ready", b"member ready", b"pid ")
            terminal.type(b"\x03")
            terminal.read_until(b"interrupted")
            child = int(terminal.output.partition(b"pid ")[2].split()[0])
            os.kill(child, signal.SIGUSR1)
            terminal.read_until(b"leader has SIGUSR1", b"over")
            self.assertNotIn(b"has SIGINT", terminal.output)
            self.assertEqual(terminal.wait(), 0)

    def test_stop_such_a_group_and_let_it_go_on(self):
        """Runs it with the wrapper, as a shell does."""
        shell = python_job("""
import os, signal, subprocess, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen(sys.argv[1:], process_group=0)
os.tcsetpgrp(0, job.pid)
print("in front", flush=True)
while os.WIFSTOPPED(status := os.waitpid(job.pid, os.WUNTRACED)[1]):
    print("stopped", flush=True)
    os.killpg(job.pid, signal.SIGCONT)
os.tcsetpgrp(0, os.getpid())
print("ended", os.waitstatus_to_exitcode(status), flush=True)
""")
        for command in self.both([*GROUP, "SIGQUIT"]):
            terminal = Terminal(self, [*shell, *command])
            terminal.read_until(b"in front", b"leader ready", b"member ready")
            terminal.type(b"\x1a")
            terminal.read_until(b"stopped", b"leader has SIGCONT", b"member has SIGCONT")
            terminal.type(b"\x1c")
            terminal.read_until(b"ended 0")
            terminal.wait()


class OfTheKernel(Both):
    def test_are_the_job_s(self):
        """A pipe signals that it can be read. The process that requested the signal has executed the wrapper since."""
        for command in self.both(["sh", "-c", "echo ready; exec sleep 500"]):
            reader, writer = os.pipe()

            def ask():
                fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid())
                fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
            with open(reader, "rb"), open(writer, "wb", 0) as pipe:
                job = self.start_program(command, preexec_fn=ask, stdout=subprocess.PIPE)
                job.killed = True  # by the kernel, not by the test
                self.assertEqual(job.process.stdout.readline(), b"ready\n")
                pipe.write(b"!")
                code = job.wait()
            self.assertEqual(code if code >= 0 else 128 - code, 128 + signal.SIGIO)


class OfTheJob(Both):
    def caller_says(self, group, code):
        """Returns the output of a caller with a Python job, alone and watched."""
        said = []
        for command in self.both(python_job(code)):
            caller = self.start_program([*python_job(CALLER, group), *command], stdout=subprocess.PIPE)
            self.assertEqual(caller.process.wait(DEADLINE), 0, caller.log)
            said.append(caller.process.stdout.read().decode().splitlines())
            caller.wait()
        self.assertEqual(*said)
        return said[0]

    def test_to_its_parent_reach_the_caller(self):
        direct = "import os, signal, sys\nos.kill(os.getppid(), signal.{0})\nsys.exit(sys.stdin.readline() != 'told\\n')"
        # X servers do this. They conclude from it that a process waits for them.
        ignored = "import signal\nsignal.signal(signal.{0}, signal.SIG_IGN)\n" + direct
        # A process that ends with the job.
        by_child = ("import os, signal, sys\ncaller, (end, held) = os.getppid(), os.pipe()\nif os.fork() == 0:\n    os.close(held)\n"
                    "    os.kill(caller, signal.{0})\n    os.read(end, 1)\n    os._exit(0)\nsys.exit(sys.stdin.readline() != 'told\\n')")
        for group in ("same", "other"):
            for how, code, names in (("direct", direct, ("SIGUSR1", "SIGTERM")), ("ignored", ignored, ("SIGUSR1",)),
                                     ("by a child", by_child, ("SIGUSR1", "SIGTERM"))):
                for name in names:
                    with self.subTest(group=group, how=how, name=name):
                        self.assertEqual(self.caller_says(group, code.format(name)), [f"caller: [('{name}', None)] 0"])

    def test_right_before_its_end_reach_the_caller(self):
        """A child that outlives the job sends many signals. Checking each sender takes time, so the job has ended
        before the last check."""
        code = ("import os, signal\ncaller, (end, held) = os.getppid(), os.pipe()\nif os.fork():\n    os.close(held)\n    os.read(end, 1)\n"
                "    os._exit(0)\nfor _ in range(1000):\n    os.kill(caller, signal.SIGRTMIN)\nos.close(held)\n"
                "while os.read(0, 100):\n    pass")
        came = 1000 * [("SIGRTMIN", None)]
        self.assertEqual(self.caller_says("same", code), [f"caller: {came} 0"])

    def test_carry_what_they_carried(self):
        code = SIGQUEUE + "queue(os.getppid(), signal.SIGRTMIN, 4242)\ninput()"
        self.assertEqual(self.caller_says("same", code), ["caller: [('SIGRTMIN', 4242)] 0"])

    def test_to_its_group_come_once(self):
        """The signal reaches the job, and a caller that is in the group."""
        # The wrapper takes signals in the order of their numbers. The last one comes after all signals that the first
        # one causes.
        code = """
import os, signal
seen = []
signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
os.kill(0, signal.SIGTERM)
{wait}
os.kill(os.getppid(), signal.SIGRTMIN)
input()
print("job:", len(seen), flush=True)
"""
        for group, wait, came in (("same", "input()", "('SIGTERM', None), "), ("other", "", "")):
            with self.subTest(group=group):
                self.assertEqual(self.caller_says(group, code.format(wait=wait)),
                                 ["job: 1", f"caller: [{came}('SIGRTMIN', None)] 0"])


class OfTheJobWithoutParent(Both):
    """A wrapper without a parent, or with init as its parent, has no caller. Processes of the job that use the
    wrapper's PID then mean the job."""

    JOB = python_job("""
import os, signal, sys, time
came = []
signal.signal(signal.SIGTERM, lambda *_: came.append(1))
signal.signal(signal.SIGUSR1, lambda *_: came.append(1))
if os.fork() == 0:
    os.kill({number}, signal.{name})
    os._exit(0)
until = time.monotonic() + {wait}
while not came and time.monotonic() < until:
    time.sleep(0.01)
os.wait()
print("told", len(came))
""")

    def both_say(self, start, number, name, wait=60):
        said = []
        for command in self.both([part.replace("{number}", number).replace("{name}", name).replace("{wait}", str(wait))
                                  for part in self.JOB]):
            done = subprocess.run([*start, *command], capture_output=True, text=True, timeout=DEADLINE, env=self.environment,
                                  check=False)
            self.assertEqual(done.returncode, 0, done)
            said.append(done.stdout)
        self.assertEqual(*said)
        return said[0]

    @unittest.skipUnless(AS_ROOT, "only root may make a process 1")
    def test_are_its_own_where_it_is_process_1(self):
        for name in ("SIGTERM", "SIGUSR1"):
            with self.subTest(name=name):
                self.assertEqual(self.both_say(["unshare", "--pid", "--fork", "--mount-proc"], "1", name), "told 1\n")

    @unittest.skipUnless(AS_ROOT, "only root may make a process 1")
    def test_are_its_own_where_init_started_it(self):
        init = ["unshare", "--pid", "--fork", "--mount-proc", *python_job("""
import os, subprocess, sys
own = subprocess.Popen(["/bin/sh", "-c", 'export OWN=$$; exec "$@"', "-", *sys.argv[1:]])
sys.exit(own.wait())
""")]
        self.assertEqual(self.both_say(init, "int(os.environ['OWN'])", "SIGUSR1"), "told 1\n")
        # Neither init nor the job receives it.
        self.assertEqual(self.both_say(init, "1", "SIGWINCH", wait=0.2), "told 0\n")


class KeptByExecve(Both):
    def test_is_there_though_fork_does_not_keep_it(self):
        """Attributes are kept: the death signal, running timers, and a schedule that a child would not get."""
        job = python_job("""
import ctypes, os, signal
asked = ctypes.c_int(-1)
ctypes.CDLL(None).prctl(2, ctypes.byref(asked), 0, 0, 0)  # PR_GET_PDEATHSIG
print(asked.value, os.sched_getscheduler(0), os.sched_getparam(0).sched_priority)
for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    left, every = signal.getitimer(timer)
    print(900 < left < 1001, every)  # CPU time is told to the tick, also upwards
""")

        def set_up(policy, priority):
            ctypes.CDLL(None).prctl(1, signal.SIGUSR2, 0, 0, 0)  # PR_SET_PDEATHSIG
            for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
                signal.setitimer(timer, 1000, 500 + timer)
            # Only some users may set a real-time priority.
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
        for policy, priority in ((os.SCHED_BATCH, 0), (os.SCHED_RR, 5)):
            with self.subTest(policy=policy):
                options = {"stdin": subprocess.DEVNULL, "env": self.environment, "preexec_fn": lambda: set_up(policy, priority)}
                alone = subprocess.run(job, capture_output=True, check=True, **options)
                watched = self.run_job(job, flags=["--quiet"], **options)
                self.assertIn(b"12 ", alone.stdout)
                self.assertEqual(watched.stdout.decode().splitlines(), alone.stdout.decode().splitlines())

    def test_is_who_adopts(self):
        job = python_job("""
import ctypes
adopts = ctypes.c_int(-1)
ctypes.CDLL(None).prctl(37, ctypes.byref(adopts), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
print(adopts.value)
""")
        for adopts in (0, 1):
            for command in self.both(job):
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=self.environment, timeout=DEADLINE,
                                      preexec_fn=lambda on=adopts: ctypes.CDLL(None).prctl(36, on, 0, 0, 0))
                self.assertEqual(done.stdout, f"{adopts}\n")

    def test_is_the_death_that_the_caller_asked_for(self):
        """When the caller ends, the job ends, too. Waiting for the end of the streams is then not endless."""
        caller = python_job("""
import ctypes, signal, subprocess, sys
job = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE,
                       preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0))  # PR_SET_PDEATHSIG
print(job.stdout.readline().decode(), end="", flush=True)
""")
        job = ["sh", "-c", "echo $$; exec sleep 500"]
        for how, command in zip(("alone", "watched"), self.both(job)):
            with self.subTest(how=how):
                started = self.start_program([*caller, *command], stdout=subprocess.PIPE)
                pid = int(started.process.stdout.readline())
                self.assertEqual(started.process.wait(DEADLINE), 0)
                try:
                    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the end of the job")
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                started.wait()


class OfWhoWantsACore(Both):
    def test_are_the_job_s(self):
        """A supervisor sends these signals to a program that seems to hang."""
        numbers = (signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS)
        code = python_job(f"""
import signal
numbers = {{{', '.join(map(str, map(int, numbers)))}}}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", flush=True)
for _ in numbers:
    print(signal.sigwait(numbers), flush=True)
""")
        for command in self.both(code):
            job = self.start_program(command, stdout=subprocess.PIPE)
            self.assertEqual(job.process.stdout.readline(), b"ready\n")
            for number in numbers:
                os.kill(job.pid, number)
                self.assertEqual(job.process.stdout.readline(), b"%d\n" % number)
            self.assertEqual(job.wait(), 0)


class Queued(Both):
    def test_arrive_with_what_they_carry(self):
        code = python_job("""
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGRTMIN})
print("ready", flush=True)
for _ in range(2):
    info = signal.sigwaitinfo({signal.SIGUSR1, signal.SIGRTMIN})
    # The value of a queued signal is in the field of a child's status.
    print(info.si_signo, info.si_code, info.si_status, info.si_pid, flush=True)
""")
        queue = ctypes.CDLL(None, use_errno=True).sigqueue
        queue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
        for command in self.both(code):
            job = self.start_program(command, stdout=subprocess.PIPE)
            self.assertEqual(job.process.stdout.readline(), b"ready\n")
            for number, value in ((signal.SIGUSR1, 4242), (signal.SIGRTMIN, -7)):
                self.assertEqual(queue(job.pid, number, value), 0)
                self.assertEqual(job.process.stdout.readline().decode(), f"{int(number)} -1 {value} {os.getpid()}\n")
            self.assertEqual(job.wait(), 0)


if __name__ == "__main__":
    main()
