"""/manual: the pages of deploy/manual and SECURITY.md as HTML, for networks without access to other sites."""
import base64
import gzip
import pathlib
import urllib.parse

from support import Case, main
from test_web import Elements, linked

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {"/manual" if f.stem == "README" else f"/manual/{f.stem.lower()}": f
         for f in (*(ROOT / "deploy/manual").glob("*.md"), ROOT / "SECURITY.md")}


class Manual(Case):
    def test_every_page_is_reached_from_the_front_page(self):
        server = self.serve()
        front = Elements(server.get("/").text)
        self.assertIn("manual", linked(front))
        seen, left = {}, ["/manual"]
        while left:
            path = left.pop()
            answer = server.get(path)
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/html; charset=utf-8"), path)
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
            elements = seen[path] = Elements(answer.text)
            self.assertNotIn("script", {tag for tag, _, _ in elements.found})
            for link in linked(elements):
                target = urllib.parse.urlsplit(urllib.parse.urljoin(path, link))
                if target.netloc or target.path in seen or target.path in left:
                    continue
                if target.path.startswith("/manual"):
                    left.append(target.path)
                else:
                    self.assertEqual(server.get(target.path).status, 200, (path, link))
        self.assertEqual(set(seen), set(PAGES))

    def test_a_page_has_the_headings_tables_and_code_of_its_file(self):
        server = self.serve()
        for path, file in PAGES.items():
            with self.subTest(path):
                elements = Elements(server.get(path).text)
                text = file.read_text(encoding="utf-8")
                code = [block for block in text.split("\n```")[1::2]]
                lines = "\n".join(text.split("\n```")[0::2]).splitlines()
                self.assertEqual(len(elements.all("h1")), 1)
                self.assertEqual(len(elements.all("h2")), sum(line.startswith("## ") for line in lines))
                self.assertEqual(len(elements.all("table")), sum(line.startswith("|---") for line in lines))
                # Each table has a line below its head, which is not a row.
                self.assertEqual(len(elements.all("tr")), sum(line.startswith("|") and not line.startswith("|---")
                                                              for line in lines))
                self.assertEqual(len(elements.all("pre")), len(code))
                self.assertEqual([t for _, t in elements.all("code") if t.endswith("\n")],
                                 [block.partition("\n")[2] + "\n" for block in code])

    def test_an_unknown_page_is_not_there(self):
        server = self.serve()
        for path in ("/manual/none", "/manual/", "/manual/README", "/manual/routes.md", "/manual/..%2froutes", "/manual/%00"):
            self.assertIn(server.get(path).status, (400, 404), path)

    def test_pages_are_compressed_and_have_a_head(self):
        server = self.serve()
        small, plain = server.get("/manual/routes", Accept_Encoding="gzip"), server.get("/manual/routes")
        self.assertEqual(gzip.decompress(small.body), plain.body)
        self.assertEqual(server.get("/manual/routes", "HEAD").body, b"")
        self.assertEqual(server.get("/manual/routes", "POST").status, 405)

    def test_is_for_those_who_may_see_the_page(self):
        config = self.folder / "web.yml"
        # The password is "test".
        config.write_text("basic_auth_users:\n  a: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n",
                          encoding="ascii")
        server = self.serve(f"--web.config.file={config}")
        allowed = {"Authorization": "Basic " + base64.b64encode(b"a:test").decode()}
        for path in ("/", "/manual", "/manual/routes", "/openapi.json", "/web/manual.css"):
            self.assertEqual((server.get(path).status, server.get(path, **allowed).status), (401, 200), path)
        server.stop()
        local = self.serve()
        for path in ("/manual", "/openapi.json"):
            self.assertEqual(local.get(path, Host="rebound.example").status, 403, path)

    def test_metrics_cannot_hide_a_page(self):
        for path in ("/manual", "/manual/routes", "/openapi.json"):
            result = self.command("serve", f"--web.telemetry-path={path}", f"--history.path={self.history}")
            self.assertEqual(result.returncode, 2, result.stderr)


if __name__ == "__main__":
    main()
