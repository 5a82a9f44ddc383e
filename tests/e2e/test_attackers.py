"""What strangers try over HTTP: pages of other sites, rebound names, too much of everything."""
import base64

from support import Case, main

PATHS = ("/", "/metrics", "/jobs", "/runs?job_name=job", "/overview", "/server", "/-/ready", "/web/app.js", "/events?run=x")


class ReboundNames(Case):
    """A name of a stranger that resolves to 127.0.0.1, in a browser beside the exporter."""

    def test_nothing_is_read_by_a_name_that_is_not_ours(self):
        server = self.serve()
        self.assertEqual(self.run_job(["true"]).returncode, 0)
        for path in PATHS:
            for host in ("rebound.example", "rebound.example:80", "127.0.0.1.rebound.example", "localhost.rebound.example"):
                for method in ("GET", "HEAD"):
                    with self.subTest(path=path, host=host, method=method):
                        answer = server.get(path, method, Host=host)
                        self.assertEqual(answer.status, 403)
                        if method == "GET":
                            error = answer.json["error"]
                            self.assertEqual(error["code"], "bad_host")
                            self.assertIn(host, error["message"])
                            self.assertIn("--web.allowed-host", error["message"])

    def test_addresses_and_localhost_are_ours(self):
        server = self.serve()
        for host in ("127.0.0.1", f"127.0.0.1:{server.port}", "[::1]:9877", "localhost:9877", "LOCALHOST", "192.0.2.1:80"):
            with self.subTest(host=host):
                self.assertEqual(server.get("/metrics", Host=host).status, 200)

    def test_names_that_were_given_are_ours(self):
        server = self.serve("--web.allowed-host=usage.example", "--web.allowed-host=.svc.example")
        for host, status in (("usage.example", 200), ("Usage.Example:443", 200), ("a.b.svc.example", 200),
                             ("rebound.example", 403), ("x.usage.example", 403), ("localhost", 200)):
            with self.subTest(host=host):
                self.assertEqual(server.get("/metrics", Host=host).status, status)
        self.assertEqual(self.serve("--web.allowed-host=*").get("/metrics", Host="rebound.example").status, 200)

    def test_a_password_is_enough(self):
        """A page of another name has none, whatever its name resolves to."""
        config = self.folder / "web.yml"
        # The password is "test"; the hash is of the lowest cost.
        config.write_text("basic_auth_users:\n  user: $2b$04$abcdefghijklmnopqrstuuoD8yw7MmybLKVooaTGGZAt3HXugv2.a\n")
        server = self.serve(f"--web.config.file={config}")
        self.assertEqual(server.get("/metrics", Host="usage.example").status, 401)
        shown = "Basic " + base64.b64encode(b"user:test").decode()
        self.assertEqual(server.get("/metrics", Host="usage.example", Authorization=shown).status, 200)

    def test_a_wrapper_that_serves_is_guarded_too(self):
        run = self.start_run(["sleep", "600"], flags=["--web.listen-address=127.0.0.1:0"])
        run.wait_address()
        self.assertEqual(run.get("/metrics").status, 200)
        self.assertEqual(run.get("/metrics", Host="rebound.example").status, 403)


if __name__ == "__main__":
    main()
