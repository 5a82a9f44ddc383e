#!/usr/bin/python3
"""Tests the configurations that Prometheus' exporter-toolkit publishes as its test data. Each must have the same result
here as there.

Usage: tests/e2e/published_web_configs.py WEB/TESTDATA     run by name, because the files are not ours: web/testdata is a folder of a clone of
github.com/prometheus/exporter-toolkit. The environment is that of the other tests here (RIGHTSIZE_EXPORTER).

web/tls_config_test.go has the expected results. Each password is the name with 123; checking bob's takes about 15 s."""
import base64
import contextlib
import http.client
import pathlib
import ssl
import sys
import warnings

from support import DEADLINE, Case, main

FOLDER = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "").absolute()

REFUSED = {
    "web_config_auth_clientCAs_invalid.bad.yml": "client_ca",
    "web_config_auth_user_list_invalid.bad.yml": "no bcrypt hash",
    "web_config_headers_content_type_options.bad.yml": "invalid value for X-Content-Type-Options",
    "web_config_headers_extra_header.bad.yml": "Content-Type is no key",
    "web_config_headers_frame_options.bad.yml": "invalid value for X-Frame-Options",
    "web_config_junk.yml": "must be keys",
    "web_config_junk_key.yml": "cert_filse is no key",
    "web_config_noAuth.bad.yml": "client_ca is set, but client_auth_type",
    "web_config_noAuth_certPath_empty.bad.yml": "needs one of cert and cert_file",
    "web_config_noAuth_certPath_invalid.bad.yml": "No such file",
    "web_config_noAuth_certPath_keyPath_empty.bad.yml": "needs one of cert and cert_file",
    "web_config_noAuth_certPath_keyPath_invalid.bad.yml": "No such file",
    "web_config_noAuth_cert_empty.bad.yml": "needs one of cert and cert_file",
    "web_config_noAuth_inventedCiphers.bad.yml": "unknown cipher suite",
    "web_config_noAuth_inventedCurves.bad.yml": "unknown curve",
    "web_config_noAuth_keyPath_empty.bad.yml": "needs one of key and key_file",
    "web_config_noAuth_keyPath_invalid.bad.yml": "No such file",
    "web_config_noAuth_key_empty.bad.yml": "needs one of key and key_file",
    "web_config_noAuth_noHTTP2Cipher.bad.yml": "no suite that HTTP/2 requires",
    "web_config_noAuth_wrongTLSVersion.bad.yml": "unknown TLS version",
}

# The result for a client: a status, a cipher, or None = no answer.
PLAIN, FIRST, SECOND = {"tls": False}, {"cert": "client_selfsigned"}, {"cert": "client2_selfsigned"}
BOTH = {"ciphers": "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256"}
NOBODY, TLS = [({}, None), (PLAIN, None)], [({}, 200), (PLAIN, None)]
USERS = [("alice", "alice123", 200), ("bob", "bob123", 200), ("carol", "carol123", 200), ("dave", "dave123", 200),
         ("alice", "bad", 401), ("nobody", "bad", 401), (None, None, 401)]

SERVED = {
    "tls_config_noAuth.requireandverifyclientcert.good.yml": [*NOBODY, (FIRST, 200), (SECOND, None)],
    "tls_config_noAuth.requireanyclientcert.good.yml": [*NOBODY, (FIRST, 200), (SECOND, 200)],
    "tls_config_noAuth.requireanyclientcertkeyinline.good.yml": [*NOBODY, (FIRST, 200), (SECOND, 200)],
    "web_config_auth_clientCAs_missing.bad.yml": [*NOBODY, (FIRST, None)],
    "web_config_auth_client_san.bad.yaml": [*NOBODY, (FIRST, None), (SECOND, None)],
    "web_config_auth_client_san.good.yaml": [*NOBODY, (FIRST, None), (SECOND, 200)],
    "web_config_empty.yml": [({}, None), (PLAIN, 200)],
    "web_config_headers.good.yml": [(PLAIN, 200)],
    "web_config_noAuth.good.blocking.yml": NOBODY,
    "web_config_noAuth.good.yml": [*TLS, ({"most": "TLSv1_1"}, None)],
    "web_config_noAuth_allCiphers.good.yml": TLS,
    "web_config_noAuth_allCurves.good.yml": [({"curve": c}, 200) for c in ("prime256v1", "secp384r1", "secp521r1")],
    "web_config_noAuth_noHTTP2.good.yml": TLS,
    "web_config_noAuth_someCiphers.good.yml": [(BOTH, "ECDHE-RSA-AES128-GCM-SHA256"), ({"ciphers": "ECDHE-RSA-AES128-SHA"}, None)],
    "web_config_noAuth_someCiphers_noOrder.good.yml": [(BOTH, "ECDHE-RSA-AES256-GCM-SHA384")],
    "web_config_noAuth_someCurves.good.yml": [({"curve": "secp521r1"}, 200), ({"curve": "prime256v1"}, None)],
    "web_config_noAuth_tlsInline.good.yml": TLS,
    "web_config_rate_limiter_nonblocking.yaml": [(PLAIN, 200)] * 3,
    "web_config_rate_limiter_one_second.yaml": [(PLAIN, 429)] * 2,
    "web_config_users.good.yml": [({"user": user}, user[2]) for user in USERS],
    "web_config_users_noTLS.good.yml": [({**PLAIN, "user": user}, user[2]) for user in USERS],
}


class Published(Case):
    def client(self, cert=None, ciphers=None, curve=None, most=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if cert:
            context.load_cert_chain(FOLDER / f"{cert}.pem", FOLDER / f"{cert}.key")
        if ciphers:
            context.set_ciphers(ciphers)
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if curve:
            context.set_ecdh_curve(curve)
        if most:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = ssl.TLSVersion[most]
        return context

    def ask(self, server, tls=True, user=None, **settings):
        """Returns (status, cipher), or (None, None) without an answer."""
        kind, more = (http.client.HTTPSConnection, {"context": self.client(**settings)}) if tls else (http.client.HTTPConnection, {})
        headers = {}
        if user and user[0]:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{user[0]}:{user[1]}".encode()).decode()
        with contextlib.closing(kind("127.0.0.1", server.port, timeout=DEADLINE, **more)) as connection:
            try:
                connection.request("GET", "/metrics", headers=headers)
                cipher = connection.sock.cipher()[0] if tls else "none"
                return connection.getresponse().status, cipher
            except (ssl.SSLError, ConnectionError, http.client.HTTPException):
                return None, None

    def test_the_table_has_all_of_them(self):
        self.assertEqual(sorted(path.name for path in FOLDER.glob("*.y*ml")), sorted([*REFUSED, *SERVED]))

    def test_bad_ones_are_refused(self):
        for name, words in REFUSED.items():
            with self.subTest(name):
                result = self.command("serve", "--web.listen-address=127.0.0.1:0", "--history.path=:memory:",
                                      f"--web.config.file={FOLDER / name}")
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)

    def test_clients_of_good_ones_fare_as_they_say(self):
        for name, clients in SERVED.items():
            server = self.serve(f"--web.config.file={FOLDER / name}", "--history.path=:memory:")
            for settings, expected in clients:
                with self.subTest(name, **settings):
                    self.assertIn(expected, self.ask(server, **settings))
            server.stop()


if __name__ == "__main__":
    main()
