"""Functions for tests of --web.config.file: certificates that openssl makes at the start, passwords, and clients with
TLS."""
import base64
import contextlib
import http.client
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import warnings

from support import DEADLINE, Case, wait_until

# Each password is the name with 123. Hashes are from htpasswd -nBC 4 (and 12, which takes a quarter of a second or
# more).
USERS = """basic_auth_users:
  carol: {quick}
  alice: {slow}
"""


def bcrypt(password, cost):
    """Makes a hash with libxcrypt, as most programs do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import crypt  # pylint: disable=import-outside-toplevel
    return crypt.crypt(password, crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=1 << cost))


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def certificate(folder, name, sans, key=("rsa:2048",)):
    """A self-signed pair: name.crt and name.key."""
    newkey = ["-newkey", key[0]] + (["-pkeyopt", key[1]] if len(key) > 1 else [])
    subprocess.run(
        ["openssl", "req", "-x509", *newkey, "-nodes", "-keyout", folder / f"{name}.key", "-out",
         folder / f"{name}.crt", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={sans}"],
        check=True, capture_output=True)


def speak_only(context, version):
    """OpenSSL supports TLS versions before 1.2 only at security level 0, because they sign with SHA-1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.maximum_version = version
        context.minimum_version = version
    if version < ssl.TLSVersion.TLSv1_2:
        context.set_ciphers("ALL:@SECLEVEL=0")


class WebConfigured(Case):
    """Servers with their own files and keys."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = pathlib.Path(tempfile.mkdtemp(prefix="rightsize-e2e-keys-"))
        certificate(cls.keys, "server", "DNS:localhost,IP:127.0.0.1")
        certificate(cls.keys, "other", "DNS:localhost,IP:127.0.0.1")
        certificate(cls.keys, "elliptic", "DNS:localhost", ("ec", "ec_paramgen_curve:P-256"))
        certificate(cls.keys, "client", "DNS:test3,email:a@example.org,IP:10.1.2.3,URI:spiffe://x/y")
        certificate(cls.keys, "stranger", "DNS:stranger")
        cls.quick, cls.slow = bcrypt("carol123", 4), bcrypt("alice123", 12)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.keys)
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.servers = 0
        for path in self.keys.iterdir():
            shutil.copy(path, self.folder)

    def write(self, text, name="web.yml"):
        path = self.folder / name
        fresh = self.folder / (name + ".new")
        fresh.write_text(text)
        fresh.rename(path)
        return path

    def serve_with(self, text):
        """Starts several servers at the same time, each with its own history."""
        self.servers += 1
        self.history = str(self.folder / f"history-{self.servers}.db")
        return self.serve(f"--web.config.file={self.write(text)}")

    def tls(self, server, cert=None, headers=None, **settings):
        """(status, cipher, protocol), or an exception."""
        context = ssl.create_default_context(cafile=str(self.folder / settings.pop("ca", "server.crt")))
        if cert:
            context.load_cert_chain(self.folder / f"{cert}.crt", self.folder / f"{cert}.key")
        if "ciphers" in settings:
            context.set_ciphers(settings["ciphers"])
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if "older" in settings:
            context.set_ciphers(settings["older"])  # for TLS 1.3 it always offers all suites
        if "curve" in settings:
            context.set_ecdh_curve(settings["curve"])
        if "version" in settings:
            speak_only(context, settings["version"])
        with contextlib.closing(http.client.HTTPSConnection("localhost", server.port, context=context,
                                                            timeout=DEADLINE)) as connection:
            connection.request("GET", "/-/healthy", headers=headers or {})
            spoken = connection.sock.cipher()[0], connection.sock.version()
            return connection.getresponse().status, *spoken

    PAIR = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"

    def wait_for(self, status, what, ask):
        """Waits until a change has settled: the status is the old one at first, and then this one."""
        wait_until(lambda: ask() == status, what)
        self.assertEqual(ask(), status)
