#!/usr/bin/python3
"""A Prometheus that answers what a real one answered: the file has an answer for each query.

Usage: prometheus_double.py record URL FILE     passes queries on to a real Prometheus and keeps its answers in FILE
"""
import http.server
import json
import pathlib
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


class Double:
    """Serves on a free port of 127.0.0.1. `authorizations` has the header of each request."""

    def __init__(self, path, real=None, port=0):
        self.path, self.real = pathlib.Path(path), real
        self.answers = {} if real else json.loads(self.path.read_text(encoding="utf-8"))
        self.asked, self.authorizations = [], []
        double = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("query", [""])[0]
                double.asked.append(query)
                double.authorizations.append(self.headers.get("Authorization"))
                status, answer = double.answer(query, self.path)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, query, path):
        if not self.real:
            return 200, self.answers.get(query, EMPTY)
        try:
            with urllib.request.urlopen(self.real + path) as reply:
                self.answers[query] = json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        self.path.write_text("{\n" + ",\n".join(f"{json.dumps(key)}:\n {json.dumps(value)}"
                                               for key, value in self.answers.items()) + "\n}\n", encoding="utf-8")
        return 200, self.answers[query]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def main():
    if len(sys.argv) != 4 or sys.argv[1] != "record":
        sys.exit(__doc__)
    double = Double(sys.argv[3], sys.argv[2].rstrip("/"))
    print(double.url, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
