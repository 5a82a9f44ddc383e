"""systemd's protocols: readiness and the watchdog on a socket of the test, and sockets that systemd passes."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import unittest

import support

UNITS = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "systemd"


class Manager:
    """Receives the messages that systemd would receive on $NOTIFY_SOCKET."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name)
        self.socket.settimeout(support.DEADLINE)

    def next(self):
        return self.socket.recv(4096).decode()

    def until(self, word):
        while self.next() != word:
            pass


class Service(support.Case):
    def manager(self, name):
        manager = Manager(name)
        self.addCleanup(manager.socket.close)
        return manager

    def serve_as_service(self, *flags, **environment):
        server = self.start("serve", "--web.listen-address=127.0.0.1:0", f"--history.path={self.history}",
                            "--sample.interval=100ms", *flags, env={**self.environment, **environment},
                            stdout=subprocess.DEVNULL)
        server.wait_address()
        return server

    def test_readiness_is_told_when_it_serves_and_stopping_before_it_ends(self):
        path = str(self.folder / "notify")
        manager = self.manager(path)
        server = self.serve_as_service(NOTIFY_SOCKET=path)
        self.assertEqual(manager.next(), "READY=1")
        self.assertEqual(server.get("/-/healthy").status, 200)
        server.send(signal.SIGTERM)
        self.assertEqual(manager.next(), "STOPPING=1")
        self.assertEqual(server.wait(), 0)

    def test_the_watchdog_hears_more_than_once(self):
        name = f"rightsize-test-{os.getpid()}"
        manager = self.manager("\0" + name)
        server = self.serve_as_service(NOTIFY_SOCKET="@" + name, WATCHDOG_USEC="200000")
        self.assertEqual(manager.next(), "READY=1")
        for _ in range(3):
            self.assertEqual(manager.next(), "WATCHDOG=1")
        server.send(signal.SIGTERM)
        manager.until("STOPPING=1")

    def test_somebody_elses_watchdog_is_not_ours(self):
        path = str(self.folder / "notify")
        manager = self.manager(path)
        server = self.serve_as_service(NOTIFY_SOCKET=path, WATCHDOG_USEC="100000", WATCHDOG_PID="1")
        self.assertEqual(manager.next(), "READY=1")
        server.send(signal.SIGTERM)
        self.assertEqual(manager.next(), "STOPPING=1")

    def test_a_manager_that_is_gone_does_no_harm(self):
        server = self.serve_as_service(NOTIFY_SOCKET=str(self.folder / "nobody"), WATCHDOG_USEC="100000")
        self.assertEqual(server.get("/-/healthy").status, 200)

    def activated(self, *sockets, flags=()):
        """Starts the program with these sockets as descriptors 3, 4, ... A shell starts it, because the variable must
        contain the program's pid."""
        # Moves the sockets to other numbers first, so that they do not collide.
        copies = [os.dup2(s.fileno(), 100 + i) for i, s in enumerate(sockets)]
        handover = " ".join(f"{3 + i}<&{c}" for i, c in enumerate(copies))
        script = f'exec env LISTEN_PID=$$ LISTEN_FDS={len(sockets)} "$@" {handover}'
        server = support.Process(["bash", "-c", script, "bash", support.EXPORTER, "serve",
                                  f"--history.path={self.history}", "--sample.interval=100ms", *flags],
                                 env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 pass_fds=copies)
        for c in copies:
            os.close(c)
        self.addCleanup(self._end, server)
        return server

    def test_sockets_that_are_given_replace_the_default_address(self):
        with socket.create_server(("127.0.0.1", 0)) as first, \
                socket.socket(socket.AF_UNIX) as second:
            path = str(self.folder / "http")
            second.bind(path)
            second.listen()
            server = self.activated(first, second)
            host, port = server.wait_address()
            self.assertEqual(port, first.getsockname()[1])
            self.assertEqual(server.get("/-/healthy").status, 200)
            support.wait_until(lambda: server.said("unix:" + path), "the Unix socket in the log")
            self.assertFalse(server.said("9877"))
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                self.assertIn(b" 200 ", client.recv(4096))
            self.assertEqual(server.stop(), 0)
            self.assertTrue(pathlib.Path(path).exists(), "whoever made the socket removes it")

    def test_who_comes_while_it_restarts_is_answered_by_the_next_one(self):
        with socket.create_server(("127.0.0.1", 0)) as first, socket.socket(socket.AF_UNIX) as second:
            path = str(self.folder / "http")
            second.bind(path)
            second.listen()
            for _ in range(2):
                server = self.activated(first, second)
                server.wait_address()
                self.assertEqual(server.get("/-/healthy").status, 200)
                self.assertEqual(server.stop(), 0)
            with socket.create_connection(first.getsockname(), support.DEADLINE) as tcp, \
                    socket.socket(socket.AF_UNIX) as unix:
                unix.settimeout(support.DEADLINE)
                unix.connect(path)
                for client in (tcp, unix):
                    client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                self.activated(first, second)
                for client in (tcp, unix):
                    self.assertIn(b" 200 ", client.recv(4096))

    def test_the_first_line_of_the_log_says_which_page_to_open(self):
        """A person who starts the server looks for the page. The lines about the start come after it."""
        server = self.serve("--jobs.recognise", "--forward.token-file=/nonexistent")
        server.says("msg=privileges")
        server.says("have no effect: set --forward.url")
        self.assertRegex(server.log[0], r"msg=listening address=127\.0\.0\.1:\d+ url=http://127\.0\.0\.1:\d+/")

    def test_a_server_that_cannot_start_says_first_what_it_found(self):
        server = self.start("serve", "--web.listen-address=nowhere.invalid:1", f"--history.path={self.history}")
        self.assertEqual(server.wait(), 1)
        self.assertEqual([bool(server.said(text)) for text in ("msg=privileges", "msg=\"cannot serve\"")], [True, True])
        self.assertIn("cannot serve", server.log[-1])

    def test_a_descriptor_that_does_not_listen_is_named(self):
        with socket.socket(socket.AF_INET) as idle:
            server = self.activated(idle)
            self.assertEqual(server.wait(), 1)
            server.says("descriptor 3.*no listening stream socket")

    @unittest.skipUnless(shutil.which("systemd-socket-activate"), "systemd is not installed")
    def test_systemd_itself_starts_it_at_the_first_connection(self):
        path = str(self.folder / "http")
        activator = support.Process(["systemd-socket-activate", f"--listen={path}", support.EXPORTER, "serve",
                                     f"--history.path={self.history}"], env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(self._end, activator)
        support.wait_until(lambda: pathlib.Path(path).exists(), "the socket")

        def ask():
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(support.DEADLINE)
                client.connect(path)
                client.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
                return b" 200 " in client.recv(4096)
        support.wait_until(ask, "an answer")
        self.assertEqual(activator.stop(), 0)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_the_units_are_correct_and_hardened(self):
        folder = self.folder / "units"
        folder.mkdir()
        for unit in UNITS.glob("rightsize-exporter.s*"):
            text = unit.read_text().replace("/usr/bin/rightsize-exporter", support.EXPORTER)
            (folder / unit.name).write_text(text)
        for name in ("rightsize-exporter.service", "rightsize-exporter.socket"):
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(folder / name)], capture_output=True,
                                  text=True, timeout=support.DEADLINE, check=False)
            said = [line for line in done.stderr.splitlines() if "rightsize" in line]
            self.assertEqual((done.returncode, said), (0, []), done.stderr)
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=40", "--no-pager",
                               str(folder / "rightsize-exporter.service")], capture_output=True, text=True,
                              timeout=support.DEADLINE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.splitlines()[-1:] + done.stderr.splitlines())


if __name__ == "__main__":
    support.main()
