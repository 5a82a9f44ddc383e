"""A job learns from the other jobs of the same history, and every answer gives the same number."""
import http.client
import json
import time

import support

MIB = 1048576
STEADY = 30
RUNS = 10


class Neighbours(support.Case):
    def post(self, server, job_name, n, labels=None, peak=1000 * MIB):
        """Posts `n` ended runs of a job, the oldest first, all with the same peak."""
        connection = http.client.HTTPConnection(server.host, server.port, timeout=support.DEADLINE)
        for i in range(n):
            ended = time.time() - 60 * (n - i)
            run = {"run_id": f"{job_name}-{i}", "job_name": job_name, "started_at": ended - 30, "ended_at": ended,
                   "duration_seconds": 30, "outcome": "succeeded", "exit_code": 0,
                   "columns": {"memory_peak_bytes": {key: 1 if key == "n" else peak
                                                     for key in ("n", "mean", "min", "max", "p50", "p95", "p99", "sum")}}}
            if labels:
                run.update(system="kubernetes", labels=json.dumps(labels))
            connection.request("POST", "/runs", json.dumps(run), {"Content-Type": "application/json"})
            response = connection.getresponse()
            self.assertEqual(response.status, 201, response.read())
            response.read()
        connection.close()

    def steady(self, server, labels=None):
        for i in range(STEADY):
            self.post(server, f"steady-{i}", RUNS, labels, peak=(100 + 50 * i) * MIB)

    def asked(self, server, job_name="new"):
        answer = server.get(f"/recommend?job_name={job_name}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json["resources"]["memory"]

    def test_a_new_job_among_steady_ones_is_asked_for_less_than_alone(self):
        server = self.serve("--web.allow-changes")
        self.post(server, "new", 1)
        alone = self.asked(server)
        self.steady(server)
        among = self.asked(server)
        self.assertLess(among, alone)
        self.assertGreaterEqual(among, 1000)

    def test_server_and_command_tell_the_same(self):
        server = self.serve("--web.allow-changes")
        self.post(server, "new", 2)
        self.steady(server)
        told = self.query("recommend", "--job-name=new")
        answer = server.get("/recommend?job_name=new").json
        self.assertEqual(answer["resources"], told["resources"])
        self.assertEqual(answer["explain"], told["explain"])

    def test_another_namespace_teaches_nothing(self):
        server = self.serve("--web.allow-changes")
        self.post(server, "new", 1, {"namespace": "mine"})
        alone = self.asked(server)
        self.steady(server, {"namespace": "theirs"})
        self.assertEqual(self.asked(server), alone)


if __name__ == "__main__":
    support.main()
