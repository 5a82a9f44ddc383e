"""An exporter as in a DaemonSet: it sees all processes of the machine, from a network namespace of its own."""
import os
import socket
import subprocess
import unittest

from support import DEADLINE, EXPORTER, Case, main, samples, wait_until


class Daemon(Case):
    MACHINE = """
        mount -t sysfs sysfs /sys && ip link add fabric type bridge && ip link add eth5 type veth peer name vethx || exit 77
        mount --rbind / "$1" && shift || exit 77
        RIGHTSIZE_JOB_NAME=machines sleep 600 &
        RIGHTSIZE_JOB_NAME=own unshare --net sleep 600 &
        unshare --net --mount sh -c "$0" sh "$@" & server=$!
        read end
        kill $server
        wait $server"""
    LINKS = 'ip link add eth7 type veth peer name vethy || exit 77; exec "$@"'

    def daemon(self, pod, *flags):
        """Returns the samples of a server on a machine with the card eth5, the bridge "fabric" and two jobs. The
        server's pod has the card eth7."""
        host, name = self.folder / "host", self.folder / "socket"
        host.mkdir(exist_ok=True)
        flags = [flag.replace("HOST", str(host)) for flag in flags]
        server = self.start_program(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", self.MACHINE, pod, host,
             EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", f"--web.unix-socket={name}", f"--history.path={self.history}",
             "--sample.interval=100ms", "--jobs.recognise", *flags], stdin=subprocess.PIPE)
        wait_until(lambda: server.process.poll() is not None or server.said("listening"), "the server")
        if server.process.poll() == 77:
            self.skipTest(f"no network of its own may be made here: {server.log}")

        def ask():
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(DEADLINE)
                client.connect(str(name))
                client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                return samples(b"".join(iter(lambda: client.recv(1 << 16), b"")).decode().partition("\r\n\r\n")[2])

        def found():
            values = ask()
            known = {name for name, labels in values if ("job_name", "own") in labels}
            return ("rightsize_job_memory_bytes", frozenset({("job_name", "machines")})) in values and \
                "rightsize_job_network_received_bytes_total" in known and values
        # The process may be sampled before it is in its final place.
        values = wait_until(found, "both jobs")
        server.process.stdin.close()
        server.process.stdin = None
        self.assertEqual(server.wait(), 0)
        return values

    @unittest.skipUnless(os.geteuid() == 0, "only root may give a program a network of its own")
    def test_network_of_the_machine_is_that_of_its_first_process(self):
        """The network of the machine is that of process 1, not that of the pod. Otherwise the traffic of the pod would
        count as the machine's, and the machine's traffic as that of its jobs."""
        for what, pod, flags in (
                ("sysfs of the machine below its root", "mount -t sysfs sysfs /sys || exit 77; " + self.LINKS, ("--path.rootfs=HOST",)),
                ("sysfs of the machine", self.LINKS, ())):
            with self.subTest(what):
                values = self.daemon(pod, *flags)
                cards = {dict(labels)["interface"] for name, labels in values if name == "rightsize_network_received_bytes_total"}
                self.assertEqual(cards, {"eth5"})
                jobs = {dict(labels)["job_name"] for name, labels in values if name == "rightsize_job_network_received_bytes_total"}
                self.assertEqual(jobs, {"own"})


if __name__ == "__main__":
    main()
