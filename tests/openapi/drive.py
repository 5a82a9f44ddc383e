"""Runs two rounds of schemathesis against a server that has a run: drive.py SCHEMATHESIS SECONDS. The first round uses
no job name, so most answers are errors. In the second one every request names the run."""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from support import EXPORTER, Process, clean_environment, python_job  # noqa: E402

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance")
# A text of the maximum number of characters may have more bytes than allowed. Therefore positive_data_acceptance is not
# in this list.
REFUSED = """
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429", "431", "5xx"]
"""
ROUNDS = (REFUSED, REFUSED + """
[parameters]
"query.job_name" = "job"
"query.run" = "{run}"
""")


def main():
    schemathesis, seconds = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = clean_environment(RIGHTSIZE_HISTORY_PATH=f"{folder}/history.db", HOME=folder)
        work = python_job("import time; t = time.time()\nwhile time.time() < t + 0.5: pass")
        subprocess.run([EXPORTER, "run", "--job-name=job", "--sample.interval=100ms", "--", *work], env=environment, check=True)
        server = Process([EXPORTER, "serve", "--web.listen-address=127.0.0.1:0", "--web.allow-changes",
                          "--no-jobs.recognise"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        host, port = server.wait_address()
        run = server.get("/runs?job_name=job").json["runs"][0]["run_id"]
        codes = []
        for number, settings in enumerate(ROUNDS, 1):
            print(f"round {number} of {len(ROUNDS)}", flush=True)
            pathlib.Path(folder, "schemathesis.toml").write_text(settings.replace("{run}", run), encoding="ascii")
            command = [schemathesis, "run", f"http://{host}:{port}/openapi.json", f"--checks={','.join(CHECKS)}",
                       "--warnings=off", "--continue-on-failure", "--phases=examples,coverage,fuzzing",
                       f"--max-time={seconds}", "--request-timeout=20"]
            codes.append(subprocess.run(command, cwd=folder, check=False).returncode)
        healthy = server.get("/-/healthy").status
        ended = server.stop()
        print(f"schemathesis: {codes}; the server is healthy: {healthy}; it ended with {ended}")
        return int(any(codes) or healthy != 200 or ended != 0)


if __name__ == "__main__":
    sys.exit(main())
