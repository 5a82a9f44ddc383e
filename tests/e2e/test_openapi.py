"""/openapi.json is OpenAPI 3.1, and the server behaves as it describes. The relevant rules of OpenAPI are in RULES, for
Debian's python3-jsonschema; the schemas in the document are checked against JSON Schema 2020-12 itself.
tests/openapi/run.sh lets another program make requests from the document."""
import contextlib
import json
import pathlib
import re
import sys
import time
import urllib.parse

import jsonschema
from support import EXPORTER, Case, main, python_job
from test_announce import UnixConnection

ROOT = pathlib.Path(__file__).resolve().parents[2]
Validator = jsonschema.Draft202012Validator

# https://spec.openapis.org/oas/v3.1.0: the objects that this document uses. Other keys are not allowed.
MEDIA = {"type": "object", "additionalProperties": False, "required": ["schema"],
         "properties": {"schema": {"type": "object"}}}
CONTENT = {"type": "object", "minProperties": 1, "additionalProperties": MEDIA,
           "propertyNames": {"pattern": "^[a-z]+/[a-z.+-]+$"}}
RESPONSE = {"type": "object", "additionalProperties": False, "required": ["description"],
            "properties": {"description": {"type": "string", "minLength": 5}, "content": CONTENT}}
PARAMETER = {"type": "object", "additionalProperties": False, "required": ["name", "in", "description", "schema"],
             "properties": {"name": {"type": "string"}, "in": {"enum": ["query", "path"]}, "required": {"const": True},
                            "description": {"type": "string", "minLength": 5}, "schema": {"type": "object"}},
             "if": {"properties": {"in": {"const": "path"}}}, "then": {"required": ["required"]}}
OPERATION = {"type": "object", "additionalProperties": False, "required": ["operationId", "summary", "responses", "security"],
             "properties": {
                 "operationId": {"type": "string", "pattern": "^[a-z_]+$"}, "summary": {"type": "string", "minLength": 5},
                 "parameters": {"type": "array", "items": PARAMETER},
                 "requestBody": {"type": "object", "additionalProperties": False, "required": ["content", "required"],
                                 "properties": {"content": CONTENT, "required": {"const": True}}},
                 "responses": {"type": "object", "minProperties": 1, "required": ["200"], "additionalProperties": RESPONSE,
                               "propertyNames": {"pattern": "^[1-5][0-9][0-9]$"}},
                 "security": {"type": "array", "items": {"type": "object", "additionalProperties": {"const": []}}}}}
RULES = {
    "type": "object", "additionalProperties": False, "required": ["openapi", "info", "paths", "components"],
    "properties": {
        "openapi": {"const": "3.1.0"},
        "info": {"type": "object", "additionalProperties": False, "required": ["title", "version"], "properties": {
            "title": {"type": "string"}, "version": {"type": "string"}, "description": {"type": "string"},
            "license": {"type": "object", "required": ["name"], "additionalProperties": False,
                        "properties": {"name": {"type": "string"}, "identifier": {"type": "string"}}}}},
        "paths": {"type": "object", "propertyNames": {"pattern": "^/"}, "additionalProperties": {
            "type": "object", "minProperties": 1, "additionalProperties": False,
            "properties": {"get": OPERATION, "post": {"allOf": [OPERATION]}}}},
        "components": {"type": "object", "additionalProperties": False, "properties": {
            "schemas": {"type": "object", "additionalProperties": {"type": "object"}},
            "securitySchemes": {"type": "object", "additionalProperties": {
                "type": "object", "additionalProperties": False, "required": ["type", "scheme"],
                "properties": {"type": {"const": "http"}, "scheme": {"enum": ["basic", "bearer"]}}}}}}}}

# Errors that no documented request gets: those of other methods and other paths.
ELSEWHERE = {("405", "method_not_allowed"), ("404", "not_found")}
PAIR = re.compile(r'\b([45]\d\d)\b[^;"{}]{0,60}"([a-z]+(?:_[a-z]+)*)"')


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def codes_of(operation):
    """The (status, code) of each documented error in JSON."""
    found = set()
    for status, response in operation["responses"].items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("$ref") == "#/components/schemas/error":
            found |= {(status, code) for code in schema["properties"]["error"]["properties"]["code"]["enum"]}
    return found


def values(schema):
    """A schema of numbers among those of a parameter, or None."""
    return next((s for s in (schema, *schema.get("anyOf", ())) if s.get("type") in ("integer", "number")), None)


class Document(Case):
    def setUp(self):
        super().setUp()
        self.printed = self.command("manual", "openapi").stdout
        self.document = json.loads(self.printed)

    def test_is_openapi_3_1(self):
        Validator.check_schema(RULES)
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}"
                  for e in Validator(RULES).iter_errors(self.document)]
        self.assertEqual(errors, [])
        ids = [o["operationId"] for _, _, o in operations(self.document)]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 18)

    def test_names_each_part_of_a_path_and_no_parameter_twice(self):
        for path, method, operation in operations(self.document):
            with self.subTest(path=path, method=method):
                parameters = operation.get("parameters", [])
                in_path = [p["name"] for p in parameters if p["in"] == "path"]
                self.assertEqual(re.findall(r"{(\w+)}", path), in_path)
                self.assertEqual(len(parameters), len({p["name"] for p in parameters}))

    def test_has_schemas_that_are_json_schema(self):
        n = 0

        def check(part):
            nonlocal n
            if isinstance(part, dict):
                if isinstance(part.get("schema"), dict):
                    Validator.check_schema(part["schema"])
                    if "default" in part["schema"]:
                        Validator(part["schema"]).validate(part["schema"]["default"])
                    n += 1
                for name, inner in part.items():
                    if name == "$ref":
                        self.assertIn(inner.removeprefix("#/components/schemas/"), self.document["components"]["schemas"])
                    check(inner)
            elif isinstance(part, list):
                for inner in part:
                    check(inner)
        check(self.document)
        self.assertGreater(n, 200)

    def test_has_every_error_of_the_program(self):
        documented = set().union(*(codes_of(o) for _, _, o in operations(self.document)))
        written = {pair for path in (ROOT / "exporter").rglob("*.c") if path.name != "openapi.c"
                   for pair in PAIR.findall(path.read_text(encoding="utf-8"))}
        self.assertGreater(len(written), 25)
        self.assertEqual(written - documented - ELSEWHERE, set())

    def test_is_what_the_server_serves(self):
        server = self.serve("--web.telemetry-path=/other")
        answer = server.get("/openapi.json", Accept_Encoding="gzip")
        self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, "gzip"))
        self.assertLess(len(answer.body), 32 << 10)
        plain = server.get("/openapi.json")
        self.assertEqual(plain.headers["Content-Type"], "application/json; charset=utf-8")
        self.assertEqual(plain.text, self.printed.replace('"/metrics"', '"/other"').replace("get_metrics", "get_other"))


class Answers(Case):
    """Requests to a server that has a run, and their answers."""

    def setUp(self):
        super().setUp()
        done = self.run_job(python_job("import time; t = time.time()\nwhile time.time() < t + 0.5: pass"),
                            flags=("--sample.interval=100ms",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.socket = str(self.folder / "socket")
        self.server = self.serve(f"--web.unix-socket={self.socket}")
        self.document = self.server.get("/openapi.json").json
        self.run_id = self.server.get("/runs?job_name=job").json["runs"][0]["run_id"]

    def ask(self, path, method, query=None, body=None, headers=None):
        """Sends a request, and checks that the document has such an answer. Returns (status, body)."""
        name, values_of_path = path if isinstance(path, tuple) else (path, {})
        operation = self.document["paths"][name][method]
        target = name.format(**values_of_path) + ("?" + urllib.parse.urlencode(query) if query else "")
        if method == "get":
            answer = self.server.get(target, **(headers or {}))
            status, media, text = answer.status, answer.headers["Content-Type"], answer.text
        else:
            with contextlib.closing(UnixConnection(self.socket)) as connection:
                connection.request("POST", target, json.dumps(body), {"Content-Type": "application/json"})
                response = connection.getresponse()
                status, media, text = response.status, response.headers["Content-Type"], response.read().decode()
        self.assertIn(str(status), operation["responses"], (target, text))
        content = operation["responses"][str(status)].get("content")
        if content is None:
            self.assertIsNone(media)
            return status, text
        media = media.partition(";")[0]
        self.assertIn(media, content, target)
        document = json.loads(text) if media == "application/json" else text
        resolver = jsonschema.RefResolver.from_schema(self.document)
        errors = [f"{target}: {'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
                  for e in Validator(content[media]["schema"], resolver=resolver).iter_errors(document)]
        self.assertEqual(errors, [])
        return status, document

    def keys_documented(self, path):
        schema = self.document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        return schema.get("anyOf", [schema])[0]

    def test_answers_have_the_documented_keys(self):
        job, run = {"job_name": "job"}, {"run": self.run_id}
        placed = {**job, "namespace": "etl", "cluster": "eu"}
        self.run_job(["true"], flags=("--jobs.namespace=etl", "--jobs.cluster=eu"))
        seen, asked = {}, {
            "/recommend": [job, {**job, "strategy": "max"}, {**job, "benchmark": "none"}, {**job, "details": 1}, placed],
            "/stats": [job, {**job, "details": 1}, placed], "/runs": [job, placed],
            "/servers": [job, {**job, "details": 1}, {"cpu": 2, "memory": "4Gi"}, {"cpu": 2, "limit": 1}, placed],
            "/benchmarks": [{}, job, placed],
            "/jobs": [{}, {"limit": 1}], "/overview": [{}], "/series": [run, {**run, "points": 2}], "/server": [{}],
            "/openapi.json": [{}]}
        with_json = {p for p, m, o in operations(self.document)
                     if m == "get" and "application/json" in o["responses"]["200"]["content"]}
        self.assertEqual(with_json, set(asked))
        for path, queries in asked.items():
            seen[path] = set()
            for query in queries:
                status, document = self.ask(path, "get", query)
                if status == 200:
                    documented = self.keys_documented(path)
                    self.assertLessEqual(set(document), set(documented["properties"]), path)
                    self.assertLessEqual(set(documented["required"] if "required" in documented else []), set(document), path)
                    seen[path] |= set(document)
        # No key is documented that no answer has. The catalogue of this test has no benchmark.
        for path, keys in seen.items():
            self.assertEqual(set(self.keys_documented(path)["properties"]) - keys - {"benchmark_config"}, set(), path)

    def test_answers_that_are_not_json_have_the_documented_content_type(self):
        run = {"run": self.run_id}
        for path, query in (("/metrics", {}), ("/metrics", {"collect[]": "load"}), ("/report", run), ("/series.csv", run),
                            ("/", {}), ("/manual", {}), ("/runbook", {}), ("/-/healthy", {}), ("/-/ready", {})):
            self.assertEqual(self.ask(path, "get", query)[0], 200, path)
        self.assertEqual(self.ask(("/manual/{page}", {"page": "routes"}), "get")[0], 200)
        for path, parameter in (("/recommend", "format"), ("/stats", "format"), ("/series.csv", "format")):
            operation = self.document["paths"][path]["get"]
            formats = next(p for p in operation["parameters"] if p["name"] == parameter)["schema"]["enum"]
            self.assertGreater(len(formats), 1)
            for word in formats:
                status, _ = self.ask(path, "get", {"job_name": "job", parameter: word})
                self.assertIn(status, (200, 404), word)

    def test_errors_have_documented_codes(self):
        for path, query, status, code in (
                ("/recommend", {}, 400, "bad_parameter"), ("/recommend", {"job_name": "none"}, 404, "unknown_job"),
                ("/recommend", {"job_name": "job", "runs": -1}, 400, "bad_parameter"),
                ("/recommend", {"job_name": "job", "window_days": 0.001}, 200, None),
                ("/runs", {"job_name": "none"}, 404, "unknown_job"), ("/jobs", {"x": 1}, 400, "bad_parameter"),
                ("/series", {"run": "none"}, 404, "unknown_run"), ("/report", {"job_name": "none"}, 404, "unknown_job"),
                ("/series.csv", {}, 400, "bad_parameter"), ("/events", {"run": "none"}, 404, "unknown_run"),
                ("/stats", {"job_name": "none"}, 404, "unknown_job"), ("/metrics", {"collect": "none"}, 400, "bad_parameter"),
                ("/benchmarks", {"job_name": "none"}, 404, "unknown_job"),
                ("/servers", {"job_name": "none"}, 404, "unknown_job")):
            with self.subTest(path=path, query=query):
                got, document = self.ask(path, "get", query)
                self.assertEqual((got, document["error"]["code"] if got >= 400 else None), (status, code))

    def test_requests_that_are_too_long_have_a_documented_answer(self):
        self.assertEqual(self.ask("/jobs", "get", {"x": "y" * 60000})[0], 414)
        self.assertEqual(self.ask("/jobs", "get", headers={"X": "y" * 60000})[0], 431)

    def test_numbers_are_accepted_within_their_range_only(self):
        needed = {"job_name": "job", "run": self.run_id}
        checked = 0
        for path, method, operation in operations(self.document):
            parameters = operation.get("parameters", [])
            given = {p["name"]: needed[p["name"]] for p in parameters if p["name"] in needed and path != "/servers"}
            for p in parameters:
                schema = values(p["schema"])
                if method != "get" or not schema or p["name"] == "page":
                    continue
                for value, fits in ((schema["minimum"], True), (schema["maximum"], True),
                                    (schema["maximum"] * 1.01 + 1, False), (schema["minimum"] - 1, False), ("x", False)):
                    value = int(value) if schema["type"] == "integer" and value != "x" else value
                    refused = f"{p['name']}: \"{value}\" is not accepted"
                    status, document = self.ask(path, "get", {**given, p["name"]: value})
                    message = document["error"]["message"] if status >= 400 else ""
                    self.assertEqual(message.startswith(refused), not fits, (path, p["name"], value, message))
                    checked += 1
        self.assertGreater(checked, 200)

    def test_bodies_are_read_as_documented(self):
        finish = ("/runs/{run_id}/finish", {"run_id": "none"})
        for path, body, status, code in (
                ("/jobs", {"pid": 1}, 400, "bad_body"), ("/jobs", {"job_name": "a", "none": 1}, 400, "bad_body"),
                ("/jobs", {"job_name": "a", "pid": 4194304}, 404, "no_such_process"),
                (finish, {}, 400, "bad_body"), (finish, {"outcome": "running"}, 400, "bad_body"),
                ("/-/reload", None, 200, None), ("/runs", {}, 400, "bad_body")):
            with self.subTest(path=path, body=body):
                got, document = self.ask(path, "post", body=body)
                self.assertEqual((got, document["error"]["code"] if got >= 400 else None), (status, code))
        schema = self.document["paths"][finish[0]]["post"]["requestBody"]["content"]["application/json"]["schema"]
        for word in schema["properties"]["outcome"]["enum"]:
            self.assertEqual(self.ask(finish, "post", body={"outcome": word})[1]["error"]["code"], "no_open_run")

    def test_a_run_of_the_documented_keys_is_taken_once(self):
        body = {"run_id": "20260101T000000Z-00000001", "job_name": "sent", "outcome": "succeeded", "exit_code": 0,
                "duration_seconds": 60, "columns": {"memory_bytes": {"n": 2, "mean": 5, "min": 4, "max": 6}}}
        body.update(started_at=time.time() - 100, ended_at=time.time() - 40)
        schema = self.document["paths"]["/runs"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        Validator(schema).validate(body)
        self.assertEqual([self.ask("/runs", "post", body=body) for _ in range(2)],
                         [(201, {"run_id": body["run_id"], "known": False}), (200, {"run_id": body["run_id"], "known": True})])
        wrong = [{k: v for k, v in body.items() if k != key} for key in schema["oneOf"][0]["required"]]
        for less in wrong:
            self.assertEqual(self.ask("/runs", "post", body=less)[0], 400, less)
        # A wrong run in an array does not keep the other runs from being added.
        other = dict(body, run_id="20260101T000000Z-00000002")
        Validator(schema).validate([body, *wrong, other])
        self.assertFalse(Validator(schema).is_valid([]))
        status, answer = self.ask("/runs", "post", body=[body, *wrong, other])
        self.assertEqual((status, answer["runs"][0], answer["runs"][-1]),
                         (200, {"run_id": body["run_id"], "known": True}, {"run_id": other["run_id"], "known": False}))
        self.assertEqual([run["error"]["code"] for run in answer["runs"][1:-1]], ["bad_body"] * len(wrong))


if __name__ == "__main__":
    assert EXPORTER or sys.exit("RIGHTSIZE_EXPORTER is to name the program")
    main()
