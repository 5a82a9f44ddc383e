"""Tests the formats of /recommend through a real server: what a caller can request, and what is refused."""
import json
import time

from support import Case, main

GIB = 1 << 30


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve("--web.allow-changes")

    def post(self, job_name, manufacturer=None, **columns):
        """A job of three equal runs, with GPUs of this manufacturer, or of these, newest run first."""
        manufacturers = manufacturer if isinstance(manufacturer, list) else [manufacturer] * 3
        now = time.time()
        for i in range(3):
            run = {"run_id": f"{job_name}-{i}", "job_name": job_name, "started_at": now - 1000 * (i + 1),
                   "ended_at": now - 1000 * i - 400, "duration_seconds": 600, "outcome": "succeeded",
                   "machine_cpus": 256, "machine_memory_bytes": 1024 * GIB, "gpu_manufacturer": manufacturers[i],
                   "columns": {name: {"n": 100, "min": v, "mean": v, "max": v, "p50": v, "p95": v, "p99": v, "sum": v * 100}
                               for name, v in columns.items()}}
            answer = self.server.get("/runs", method="POST", body=json.dumps(run), Content_Type="application/json")
            self.assertEqual(answer.status, 201, answer.text)

    def ask(self, job_name, parameters):
        return self.server.get(f"/recommend?job_name={job_name}&{parameters}")

    def text(self, job_name, parameters):
        answer = self.ask(job_name, parameters)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.text

    def test_take_names_and_limits(self):
        self.post("etl/load", cpu_cores=2, memory_peak_bytes=GIB)

        def text(parameters):
            return self.text("etl/load", parameters)

        patch = json.loads(text("format=kubernetes-patch&container=my-app"))
        container, = patch["spec"]["template"]["spec"]["containers"]
        self.assertEqual((container["name"], container["resources"]["limits"]["cpu"]), ("my-app", None))
        self.assertIn('"main"', text("format=kubernetes-patch"))
        self.assertIn('name="base"', text("format=airflow"))
        self.assertNotIn("cpu", text("format=kubernetes").partition("limits:")[2])
        self.assertIn("cpu", text("format=kubernetes&cpu_limit=true").partition("limits:")[2])
        self.assertIn("withName: 'load' {", text("format=nextflow"))
        self.assertIn("withName: 'RNA:ALIGN' {", text("format=nextflow&process=RNA:ALIGN"))

    def test_refuse_what_they_do_not_read(self):
        self.post("etl/load", cpu_cores=2, memory_peak_bytes=GIB)
        for parameters, *words in (
                ("format=kubernetes-patch&container=My_App", "container", "My_App", "a-z"),
                ("format=kubernetes-patch&container=", "container"),
                ("format=nextflow&process=a'b", "process", "a'b", "letters"),
                ("format=slurm&container=main", "container: format slurm does not use it", "argo-patch"),
                ("format=slurm&process=fit", "process: format slurm does not use it", "nextflow"),
                ("format=docker&cpu_limit=true", "cpu_limit: format docker does not use it", "kubeflow"),
                ("format=json&tmp=true", "tmp: format json does not use it", "slurm"),
                ("gpu_memory=1Gi", "gpu_memory: format json does not use it", "ray")):
            with self.subTest(parameters=parameters):
                answer = self.ask("etl/load", parameters)
                self.assertEqual((answer.status, answer.json["error"]["code"]), (400, "bad_parameter"))
                for word in words:
                    self.assertIn(word, json.dumps(answer.json))

    def test_say_that_a_job_does_not_fit(self):
        self.post("large", cpu_cores=2, memory_peak_bytes=300 * GIB)
        self.post("trained", cpu_cores=2, memory_peak_bytes=GIB, gpus_used=1, gpu_usage=0.9)
        for job_name, format_name, words in (("large", "fargate", "249856 MiB"), ("large", "aws-batch-fargate", "249856 MiB"),
                                             ("trained", "fargate", "1 GPU"), ("trained", "gcp-batch", "1 GPU")):
            with self.subTest(job_name=job_name, format=format_name):
                answer = self.ask(job_name, f"format={format_name}")
                self.assertEqual((answer.status, answer.json["error"]["code"]), (404, "does_not_fit"))
                self.assertIn(words, answer.json["error"]["message"])
                result = self.command("recommend", f"--job-name={job_name}", f"--format={format_name}",
                                      f"--history.path={self.history}")
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(words, result.stderr)
        machine = json.loads(self.text("large", "format=gcp-batch"))["allocationPolicy"]["instances"][0]["policy"]["machineType"]
        series, cpus, mib = machine.rsplit("-", 2)
        self.assertEqual((series, int(mib) >= 300 * 1024, int(mib) <= 8192 * int(cpus)), ("n2-custom", True, True))

    def test_share_a_gpu_that_the_job_does_not_fill(self):
        self.post("a", cpu_cores=1, memory_peak_bytes=GIB, gpus_used=1, gpu_usage=0.3, vram_peak_bytes=GIB)
        self.post("b", cpu_cores=1, memory_peak_bytes=GIB, gpus_used=2, gpu_usage=0.3, vram_peak_bytes=GIB)
        self.assertIn("num_gpus=0.3)", self.text("a", "format=ray"))
        self.assertIn("num_gpus=1)", self.text("a", "format=ray&gpu_memory=1Gi"))
        self.assertIn("num_gpus=2)", self.text("b", "format=ray"))

    def test_name_gpus_by_their_manufacturer(self):
        for manufacturer, flags, resource in (("NVIDIA", " --gpus 1\n", "nvidia.com/gpu"),
                                              ("AMD", " --device /dev/kfd --device /dev/dri\n", "amd.com/gpu"),
                                              (None, " --gpus 1\n", "nvidia.com/gpu")):
            job_name = f"fit{manufacturer}"
            self.post(job_name, manufacturer, cpu_cores=1, memory_peak_bytes=GIB, gpus_used=1, gpu_usage=0.9)
            self.assertTrue(self.text(job_name, "format=docker").endswith(flags))
            self.assertTrue(json.loads(self.text(job_name, "format=json"))["paste"]["text"].endswith(flags))
            self.assertIn(resource, self.text(job_name, "format=kubernetes"))
        self.post("moved", ["AMD", "AMD", "NVIDIA"], cpu_cores=1, memory_peak_bytes=GIB, gpus_used=1, gpu_usage=0.9)
        self.assertIn("amd.com/gpu", self.text("moved", "format=kubernetes"), "the newest runs decide")


if __name__ == "__main__":
    main()
