"""--web.config.file: TLS, client certificates, users, headers and a rate limit, over real sockets.

For every kind of file that Prometheus' exporter-toolkit publishes as test data, valid or not, there is a similar file
here with the same result. Certificates are made by openssl when the test begins."""
import concurrent.futures
import contextlib
import ctypes
import http.client
import os
import shutil
import ssl
import subprocess
import time
import unittest

from support import DEADLINE, EXPORTER, main, wait_until
from web_configured import USERS, WebConfigured, basic, bcrypt, speak_only


def openssl_speaks(version, pair):
    """Checks with openssl itself, in memory."""
    client, server = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client.load_verify_locations(f"{pair}.crt")
    server.load_cert_chain(f"{pair}.crt", f"{pair}.key")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        for context in (client, server):
            speak_only(context, version)
        ends = [client.wrap_bio(back, there, server_hostname="localhost"), server.wrap_bio(there, back, server_side=True)]
        for end in ends * 3:
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
    except (ssl.SSLError, ValueError):
        return False
    return ends[0].version() is not None


def gnutls_speaks(version):
    """Checks what the settings of this system allow."""
    gnutls = ctypes.CDLL("libgnutls.so.30")
    priorities, list_of = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_uint)()
    if gnutls.gnutls_priority_init(ctypes.byref(priorities), f"NORMAL:-VERS-ALL:+VERS-TLS{version}".encode(), None) < 0:
        return False
    number = gnutls.gnutls_priority_protocol_list(priorities, ctypes.byref(list_of))
    gnutls.gnutls_priority_deinit(priorities)
    return number == 1


class WebConfig(WebConfigured):
    def test_tls_clients_get_in_as_the_file_says(self):
        suites = "  cipher_suites: [{}]\n  min_version: TLS12\n  max_version: TLS12\n"
        gcm128, gcm256 = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
        openssl128, openssl256 = "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"
        client = "  client_auth_type: {}\n"
        ca = "  client_ca_file: client.crt\n"
        verify = client.format("RequireAndVerifyClientCert") + ca
        cert, key = ("\n".join("    " + line for line in (self.folder / name).read_text().splitlines())
                     for name in ("server.crt", "server.key"))
        inline = f"tls_server_config:\n  cert: |\n{cert}\n  key: |\n{key}\n"
        mixed = f"tls_server_config:\n  cert_file: server.crt\n  key: |\n{key}\n"
        # The names of crypto/tls in Go 1.22, without those that it calls insecure.
        every = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
                 *(f"TLS_ECDHE_{signer}_WITH_{suite}" for signer in ("RSA", "ECDSA") for suite in (
                     "AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256", "AES_128_CBC_SHA",
                     "AES_256_CBC_SHA"))]
        for name, config, settings, expected in (
                ("plain", self.PAIR, {}, "TLSv1.3"),
                ("inline", inline, {}, "TLSv1.3"),
                ("a file and inline", mixed, {}, "TLSv1.3"),
                ("every suite", self.PAIR + f"  cipher_suites: [{', '.join(every)}]\n", {}, "TLSv1.3"),
                ("elliptic", self.PAIR.replace("server.", "elliptic."), {"ca": "elliptic.crt"}, "TLSv1.3"),
                ("some suites", self.PAIR + suites.format(f"{gcm128}, {gcm256}"), {"ciphers": openssl128}, openssl128),
                ("no common suite", self.PAIR + suites.format(gcm128), {"ciphers": openssl256}, None),
                ("server's order", self.PAIR + suites.format(f"{gcm128}, {gcm256}"),
                 {"ciphers": f"{openssl256}:{openssl128}"}, openssl128),
                ("client's order", self.PAIR + suites.format(f"{gcm128}, {gcm256}") +
                 "  prefer_server_cipher_suites: false\n", {"ciphers": f"{openssl256}:{openssl128}"}, openssl256),
                ("HTTP/2, which is not spoken", self.PAIR + "http_server_config:\n  http2: true\n", {}, "TLSv1.3"),
                ("without HTTP/2", self.PAIR + suites.format(gcm256) + "http_server_config:\n  http2: false\n", {},
                 openssl256),
                ("all curves", self.PAIR + "  curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]\n", {}, "TLSv1.3"),
                ("a curve", self.PAIR + "  min_version: TLS13\n  curve_preferences: [CurveP521]\n",
                 {"curve": "secp521r1"}, "TLSv1.3"),
                ("no common curve", self.PAIR + "  min_version: TLS13\n  curve_preferences: [CurveP521]\n",
                 {"curve": "secp384r1"}, None),
                ("too old", self.PAIR + "  min_version: TLS13\n", {"ciphers": openssl128}, None),
                ("as new as may be", self.PAIR + "  max_version: TLS12\n", {}, "TLSv1.2"),
                ("too new", self.PAIR + "  max_version: TLS12\n", {"version": ssl.TLSVersion.TLSv1_3}, None),
                ("any certificate", self.PAIR + client.format("RequireAnyClientCert"), {"cert": "stranger"}, "TLSv1.3"),
                ("any, but none", self.PAIR + client.format("RequireAnyClientCert"), {}, None),
                ("asked for, but none", self.PAIR + client.format("RequestClientCert"), {}, "TLSv1.3"),
                ("verified", self.PAIR + verify, {"cert": "client"}, "TLSv1.3"),
                ("verified, but none", self.PAIR + verify, {}, None),
                ("verified, but a stranger", self.PAIR + verify, {"cert": "stranger"}, None),
                ("if given, a valid one", self.PAIR + client.format("VerifyClientCertIfGiven") + ca, {"cert": "client"}, "TLSv1.3"),
                ("if given, none", self.PAIR + client.format("VerifyClientCertIfGiven") + ca, {}, "TLSv1.3"),
                ("if given, a stranger", self.PAIR + client.format("VerifyClientCertIfGiven") + ca,
                 {"cert": "stranger"}, None),
                ("this system's authorities", self.PAIR + client.format("RequireAndVerifyClientCert"),
                 {"cert": "client"}, None),
                *((f"name {san}", self.PAIR + verify + f"  client_allowed_sans: [one, '{san}', two]\n",
                   {"cert": "client"}, result) for san, result in (
                       ("test3", "TLSv1.3"), ("a@example.org", "TLSv1.3"), ("10.1.2.3", "TLSv1.3"),
                       ("spiffe://x/y", "TLSv1.3"), ("test", None), ("TEST3", None))),
                # An empty list is a list that allows nobody.
                ("no name", self.PAIR + verify + "  client_allowed_sans: []\n", {"cert": "client"}, None),
                ("null", self.PAIR + verify + "  client_allowed_sans:\n", {"cert": "client"}, "TLSv1.3"),
                ("suites of no use to TLS 1.3", self.PAIR + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n"
                 "http_server_config: {http2: false}\n", {"older": "ECDHE-RSA-AES128-SHA"}, "ECDHE-RSA-AES128-SHA"),
                ("suites of no use to TLS 1.3 alone", self.PAIR + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]\n"
                 "  min_version: TLS13\n", {}, "TLSv1.3"),
                ("suites of no use to the key", self.PAIR + "  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]\n",
                 {}, "TLSv1.3")):
            with self.subTest(name):
                server = self.serve_with(config)
                if expected is None:
                    with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                        self.tls(server, **settings)
                else:
                    status, cipher, protocol = self.tls(server, **settings)
                    self.assertEqual(status, 200)
                    self.assertIn(expected, (cipher, protocol))
                server.stop()

    def test_old_tls_clients_get_in_where_the_file_says_so_and_nowhere_else(self):
        for version, number, name in ((ssl.TLSVersion.TLSv1, "1.0", "TLSv1"), (ssl.TLSVersion.TLSv1_1, "1.1", "TLSv1.1")):
            with self.subTest(name):
                if not openssl_speaks(version, self.folder / "server"):
                    self.skipTest(f"OpenSSL, which asks here, speaks no TLS {number}")
                if not gnutls_speaks(number):
                    self.skipTest(f"this system's GnuTLS speaks no TLS {number}")
                allowed = self.serve_with(self.PAIR + "  min_version: TLS10\n")
                status, _, protocol = self.tls(allowed, version=version)
                self.assertEqual((status, protocol), (200, name))
                self.assertEqual(self.tls(allowed)[2], "TLSv1.3")
                for text in ("", "  min_version: TLS12\n"):
                    with self.assertRaises((ssl.SSLError, ConnectionError)):
                        self.tls(self.serve_with(self.PAIR + text), version=version)

    def test_plain_and_tls_do_not_mix(self):
        server = self.serve_with(self.PAIR)
        with self.assertRaises((ConnectionError, http.client.HTTPException)):
            server.get("/-/healthy")
        self.assertEqual(self.tls(server)[0], 200)
        plain = self.serve_with("")
        self.assertEqual(plain.get("/-/healthy").status, 200)
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.tls(plain)

    def test_a_bad_file_is_an_error_at_the_start(self):
        for text, said in (
                ("a: [", "not valid YAML"), ("tls_server_config:\n  cert_filse: x\n", "cert_filse"),
                (self.PAIR.replace("server.crt", "nowhere"), "nowhere: No such file"),
                (self.PAIR.replace("server.key", "nowhere"), "nowhere: No such file"),
                (self.PAIR.replace("server.key", "other.key"), "the certificate and its key"),
                (self.PAIR.replace("server.crt", "server.key"), "the certificate and its key"),
                (self.PAIR + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: nowhere\n", "nowhere"),
                (self.PAIR + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: web.yml\n", "client_ca"),
                ("basic_auth_users:\n  john: doe\n", "john"),
                ("basic_auth_users:\n  john: " + self.quick.replace("$04$", "$32$") + "\n", "john is no bcrypt hash"),
                ("basic_auth_users: {john:doe123}\n", "a blank after the colon")):
            with self.subTest(said=said):
                result = self.command("serve", "--web.listen-address=127.0.0.1:0", "--history.path=:memory:",
                                      f"--web.config.file={self.write(text)}")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(said, result.stderr)
                self.assertNotIn("doe123", result.stderr)
        result = self.command("serve", "--web.listen-address=127.0.0.1:0", "--history.path=:memory:",
                              "--web.config.file=/nonexistent/web.yml")
        self.assertIn("/nonexistent/web.yml: No such file", result.stderr)

    def test_a_file_without_end_is_an_error_at_the_start(self):
        for text in (None, self.PAIR.replace("server.key", "/dev/zero")):
            path = self.write(text) if text else "/dev/zero"
            result = self.command("serve", "--web.listen-address=127.0.0.1:0", f"--web.config.file={path}",
                                  "--history.path=:memory:", "--no-jobs.recognise")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "/dev/zero is larger than")

    def test_a_pipe_is_an_error_at_the_start(self):
        fifo = self.folder / "pipe"
        os.mkfifo(fifo)
        for path, said in ((fifo, "is a pipe: give a regular file"),
                           (self.write(self.PAIR.replace("server.key", "pipe")), "key_file: .*/pipe is a pipe, and no program wrote")):
            result = self.command("serve", "--web.listen-address=127.0.0.1:0", f"--web.config.file={path}",
                                  "--history.path=:memory:", "--no-jobs.recognise")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, said)

    def status_of_a_change(self, server):
        """Returns the status of a change by a client with a certificate. 400 = the change was let in, and its empty
        body was refused."""
        context = ssl.create_default_context(cafile=str(self.folder / "server.crt"))
        context.load_cert_chain(self.folder / "client.crt", self.folder / "client.key")
        with contextlib.closing(http.client.HTTPSConnection("localhost", server.port, context=context,
                                                            timeout=DEADLINE)) as connection:
            connection.request("POST", "/runs", b"{}", {"Content-Type": "application/json"})
            return connection.getresponse().status

    def test_a_certificate_that_is_asked_for_is_a_user_as_well(self):
        for kind, status in (("RequireAndVerifyClientCert", 400), ("VerifyClientCertIfGiven", 403)):
            server = self.serve_with(self.PAIR + f"  client_ca_file: client.crt\n  client_auth_type: {kind}\n")
            self.assertEqual(self.status_of_a_change(server), status)

    @unittest.skipIf(os.geteuid() != 0, "only root may mount")
    def test_a_certificate_of_whoever_the_system_trusts_is_no_user(self):
        """If the file also names the allowed clients, such a certificate is a user."""
        trusted = "/etc/ssl/certs/ca-certificates.crt"
        if not os.path.exists(trusted):
            self.skipTest(f"no {trusted}")
        client = self.PAIR + "  client_auth_type: RequireAndVerifyClientCert\n"
        for more, status in (("", 403), ("  client_allowed_sans: [test3]\n", 400)):
            with self.subTest(more=more):
                self.write(client + more)
                server = self.start_program(
                    ["unshare", "--mount", "/bin/sh", "-c", f'mount --bind "$1" {trusted} && shift && exec "$@"', "-",
                     self.folder / "client.crt", EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--no-jobs.recognise",
                     f"--history.path={self.history}", f"--web.config.file={self.folder}/web.yml"], stdout=subprocess.DEVNULL)
                server.wait_address()
                self.assertEqual(self.status_of_a_change(server), status)
                server.stop()

    def test_headers(self):
        server = self.serve_with("http_server_config:\n  headers:\n    X-Frame-Options: deny\n"
                                 "    Strict-Transport-Security: max-age=31536000; includeSubDomains\n"
                                 "    X-XSS-Protection: 1\n    Content-Security-Policy: default-src 'self'\n")
        for path in ("/metrics", "/nothing"):
            answer = server.get(path)
            self.assertEqual(answer.headers["X-Frame-Options"], "deny")
            self.assertEqual(answer.headers["Strict-Transport-Security"], "max-age=31536000; includeSubDomains")
            self.assertEqual(answer.headers["X-XSS-Protection"], "1")
            self.assertIn("default-src 'self'", answer.headers.get_all("Content-Security-Policy"))
            self.assertEqual(answer.headers.get_all("X-Content-Type-Options"), ["nosniff"])
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)) as connection:
            connection.request("GET", "/metrics", headers={"Content-Length": "0", "Transfer-Encoding": "chunked"})
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.headers["X-Frame-Options"]), (400, "deny"))

    def test_rate_limit(self):
        for text, first, others in (("interval: 0\n  burst: 0", 200, {200}), ("interval: 1h\n  burst: 0", 429, {429}),
                                    ("interval: 1h\n  burst: 3", 200, {200, 429})):
            with self.subTest(text=text):
                server = self.serve_with(f"rate_limit:\n  {text}\n")
                self.assertEqual(server.get("/-/healthy").status, first)
                statuses = [server.get("/-/healthy").status for _ in range(9)]
                self.assertEqual(set(statuses), others)
                self.assertEqual(statuses, sorted(statuses))

    def test_a_rate_limit_that_comes_later_begins_as_that_of_the_start(self):
        server = self.serve_with("http_server_config: {}\n")
        for burst in (0, 5):
            self.write(f"rate_limit:\n  interval: 1h\n  burst: {burst}\n")
            wait_until(lambda b=burst: (server.get("/-/healthy").status == 429) == (b == 0), f"a burst of {burst}")

    def test_a_changed_file_holds_without_a_signal_and_a_bad_one_refuses(self):
        server = self.serve_with(USERS.format(quick=self.quick, slow=self.slow))
        carol = basic("carol", "carol123")
        self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)
        self.write("basic_auth_users:\n  carol: broken\n")
        self.wait_for(500, "the bad file", lambda: server.get("/metrics", Authorization=carol).status)
        self.assertEqual(server.get("/metrics", Authorization=carol).json["error"]["code"], "bad_web_config")
        wait_until(lambda: server.said("carol is no bcrypt"), "the reason in the log")
        self.write(USERS.format(quick=bcrypt("another", 4), slow=self.slow))
        self.wait_for(401, "the mended file", lambda: server.get("/metrics", Authorization=carol).status)
        self.assertEqual(server.get("/metrics", Authorization=basic("carol", "another")).status, 200)
        os.unlink(self.folder / "web.yml")
        self.assertEqual(server.get("/metrics", Authorization=basic("carol", "another")).status, 500)

    def test_changed_certificates_hold_from_a_connection_on(self):
        server = self.serve_with(self.PAIR)
        self.assertEqual(self.tls(server)[0], 200)

        def trusted():
            """The client trusts only what is in server.crt now."""
            with contextlib.suppress(ssl.SSLError):
                return self.tls(server)[0]
            return None

        for suffix in ("crt", "key"):
            os.replace(self.folder / f"other.{suffix}", self.folder / f"server.{suffix}")
        self.wait_for(200, "the new certificate", trusted)
        # The list of authorities for clients is changed in the same way.
        self.write(self.PAIR + "  client_auth_type: RequireAnyClientCert\n")

        def refused():
            with contextlib.suppress(ssl.SSLError, ConnectionError, http.client.HTTPException):
                return self.tls(server) is None
            return True
        wait_until(refused, "a client without a certificate to be refused")
        self.assertEqual(self.tls(server, cert="stranger")[0], 200)
        self.write(self.PAIR)
        wait_until(lambda: not refused(), "the same client to be served")
        # TLS cannot be switched off while the server runs. Such a change is refused, and nothing is served unencrypted.
        self.write("")
        self.wait_for(500, "the refusal", trusted)
        self.write(self.PAIR)
        self.wait_for(200, "TLS", trusted)

    def test_a_change_while_the_last_one_is_read_is_not_lost(self):
        server = self.serve_with(self.PAIR)
        key, fifo = (self.folder / "server.key").read_bytes(), self.folder / "slow.key"
        os.mkfifo(fifo)
        slow = self.PAIR.replace("server.key", "slow.key")
        users = f"basic_auth_users:\n  carol: {self.quick}\n"

        self.write(slow)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            # One of these requests gets the version without users, and is answered after users were added.
            answer = pool.submit(self.wait_for, 401, "the users", lambda: self.tls(server)[0])
            with open(fifo, "wb") as writer:
                self.write(slow + users)
                # Later requests do not wait for the key.
                shutil.copy(self.folder / "server.key", self.folder / "next.key")
                os.replace(self.folder / "next.key", fifo)
                writer.write(key)
        answer.result()

    def test_a_file_that_is_being_written_opens_no_door(self):
        """The file is changed in place, or replaced after it was moved aside, as editors do."""
        text = USERS.format(quick=self.quick, slow=self.slow)
        carol, nobody = basic("carol", "carol123"), basic("carol", "?")
        for aside in (False, True):
            with self.subTest(aside=aside):
                server = self.serve_with(text)
                self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)
                if aside:
                    os.rename(self.folder / "web.yml", self.folder / "web.yml~")
                with open(self.folder / "web.yml", "w", encoding="ascii") as file:
                    for part in ("", "basic_auth_users:\n", *text.splitlines(keepends=True)[1:]):
                        file.write(part)
                        file.flush()
                        os.utime(file.fileno())
                        self.assertEqual(server.get("/metrics", Authorization=nobody).status, 401)
                        self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)
                    file.truncate(file.tell() - len(f"  alice: {self.slow}\n"))
                self.wait_for(401, "the change", lambda: server.get("/metrics", Authorization=basic("alice", "alice123")).status)
                self.assertEqual(server.get("/metrics", Authorization=carol).status, 200)

    def test_nor_does_another_file_that_was_changed_before_it(self):
        server = self.serve_with(self.PAIR + USERS.format(quick=self.quick, slow=self.slow))
        self.assertEqual(self.tls(server)[0], 401)
        key = self.folder / "server.key"
        os.replace(shutil.copy(key, self.folder / "next.key"), key)
        # The key has settled, and no request came meanwhile.
        wait_until(lambda: time.time() > key.stat().st_ctime + 1.1, "a second")
        with open(self.folder / "web.yml", "w", encoding="ascii") as file:
            file.write(self.PAIR)
            file.flush()
            self.assertEqual(self.tls(server)[0], 401)

    def test_a_bad_file_is_mended_by_a_key_that_it_names(self):
        server = self.serve_with(self.PAIR)
        self.write(self.PAIR.replace("server.key", "later.key"))
        self.wait_for(500, "the bad file", lambda: self.tls(server)[0])
        shutil.copy(self.folder / "server.key", self.folder / "later.key")
        self.wait_for(200, "the key", lambda: self.tls(server)[0])


if __name__ == "__main__":
    main()
