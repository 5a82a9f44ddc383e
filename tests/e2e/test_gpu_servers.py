#!/usr/bin/env python3
"""A job that used GPUs gets servers whose GPUs run its programs, and the answer says what it does not know of their
speed."""
import json
import time

from support import Case, main

MIB, GIB = 1 << 20, 1 << 30
# The cheapest server first. The catalogue does not say who makes the GPUs: their models do. One GPU is not named.
SERVERS = """# as_of: 2026-11-20
vendor_id,server_id,vcpus,memory_amount,gpu_count,gpu_model,gpu_memory_total,region_id,price,score,score1
v,amd,4,16384,1,V520,8192,r,0.38,4000,1000
v,t4,4,16384,1,T4,16384,r,0.53,4000,1000
v,fpga,4,16384,1,INTEL ARRIA 10 GX 1150,16384,r,0.6,4000,1000
v,own,4,16384,1,,16384,r,0.7,4000,1000
v,h200,4,16384,1,H200,144384,r,7,4000,1000
v,plain,4,16384,,,,r,0.1,4000,1000
"""
SPEED = ("The job's GPU was NVIDIA H200, and the GPU of the first server is T4. How fast the job runs there is unknown: "
         "equal speed is assumed.")
MAKERS = ("The manufacturer of the job's GPUs is unknown, and these servers have GPUs of several manufacturers. Set gpu_manufacturer to "
          "keep one.")


class GpuServers(Case):
    def setUp(self):
        super().setUp()
        path = self.folder / "servers.csv"
        path.write_text(SERVERS)
        self.server = self.serve("--web.allow-changes", f"--catalogue.path={path}")

    def post(self, job_name, *of_runs, gpus=1, **more):
        """A job whose runs have these GPUs: (manufacturer, model)."""
        now = time.time()
        columns = {"cpu_cores": 1, "cpu_seconds": 5, "memory_peak_bytes": GIB, "gpus_used": gpus, "gpu_usage": 0.9 * gpus,
                   "vram_peak_bytes": 4 * GIB * gpus}
        for i, (maker, model) in enumerate(of_runs):
            run = {"run_id": f"{job_name}-{i}", "job_name": job_name, "started_at": now - 1000 * (i + 1),
                   "ended_at": now - 1000 * i - 400, "duration_seconds": 600, "outcome": "succeeded",
                   "architecture": "x86_64", "gpu_manufacturer": maker, "gpu_model": model, "machine_cpus": 16,
                   "machine_memory_bytes": 128 * GIB, **more,
                   "columns": {name: {"n": 100, "min": v, "mean": v, "max": v, "p50": v, "p95": v, "p99": v, "sum": v * 100}
                               for name, v in columns.items()}}
            answer = self.server.get("/runs", method="POST", body=json.dumps(run), Content_Type="application/json")
            self.assertEqual(answer.status, 201, answer.text)

    def ask(self, job_name, parameters="", path="recommend"):
        answer = self.server.get(f"/{path}?job_name={job_name}&limit=10&details=true{parameters}")
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def expect(self, answer, servers, notes=()):
        self.assertEqual([server["server_id"] for server in answer["servers"]], servers)
        found = [note for note in answer["notes"] if "GPU" in note]
        self.assertEqual(found, list(notes))

    def test_a_cuda_job_gets_no_gpu_of_another_manufacturer(self):
        self.post("cuda", *[("NVIDIA", "NVIDIA H200")] * 3)
        for path in ("recommend", "servers"):
            answer = self.ask("cuda", path=path)
            self.expect(answer, ["t4", "own", "h200"], [SPEED])
            self.assertEqual(answer["best"]["server_id"], "t4")
            self.assertEqual(answer["servers"][0]["forecast_basis"], "assumed_same_speed")
            self.assertEqual(answer["filtered"]["gpu"], 2)

    def test_the_request_may_name_other_gpus(self):
        self.post("cuda", *[("NVIDIA", "NVIDIA H200")] * 3)
        self.expect(self.ask("cuda", "&gpu_manufacturer=AMD"), ["amd"], [SPEED.replace("T4", "V520")])
        self.expect(self.ask("cuda", "&gpu_manufacturer=AMD&gpu_manufacturer=nvidia"), ["amd", "t4", "h200"],
                    [SPEED.replace("T4", "V520")])
        self.expect(self.ask("cuda", "&gpu_model=V520"), ["amd"], [SPEED.replace("T4", "V520")])
        self.expect(self.ask("cuda", "&gpu_model=H200"), ["h200"])
        # A demand without GPUs fits servers without them.
        self.expect(self.ask("cuda", "&gpu=0&vram=0", path="servers"), ["plain", "amd", "t4", "fpga", "own", "h200"])

    def test_the_same_gpu_needs_no_note(self):
        self.post("t4", *[("NVIDIA", "Tesla T4")] * 3)
        self.expect(self.ask("t4"), ["t4", "own", "h200"])
        # A job of AMD's gets servers of AMD's.
        self.post("rocm", *[("AMD", None)] * 3)
        self.expect(self.ask("rocm"), ["amd", "own"])

    def test_runs_without_a_manufacturer_keep_every_server(self):
        every = ["amd", "t4", "fpga", "own", "h200"]
        self.post("old", *[(None, None)] * 3)
        self.expect(self.ask("old"), every, [MAKERS])
        self.expect(self.ask("old", "&gpu_manufacturer=NVIDIA"), ["t4", "h200"])
        self.expect(self.ask("old", "&max_cost=0.08"), ["amd"])
        # One run that says it is enough; a job that used both runs on both.
        self.post("mixed", (None, None), ("NVIDIA", "NVIDIA H200"), (None, None))
        self.expect(self.ask("mixed"), ["t4", "own", "h200"], [SPEED])
        self.post("both", ("NVIDIA", "Tesla T4"), ("AMD", None), ("NVIDIA", "Tesla T4"))
        self.expect(self.ask("both"), every, ["The job's GPU was Tesla T4, and the GPU of the first server is V520. How fast "
                                             "the job runs there is unknown: equal speed is assumed."])

    def test_runs_say_which_gpus_they_used(self):
        self.post("cuda", ("NVIDIA", "NVIDIA H200"))
        run = self.server.get("/runs?job_name=cuda").json["runs"][0]
        self.assertEqual((run["gpu_manufacturer"], run["gpu_model"]), ("NVIDIA", "NVIDIA H200"))
        export = self.command("export", f"--history.path={self.history}")
        self.assertIn('"gpu_model": "NVIDIA H200"', export.stdout.replace('":"', '": "'), export.stderr)
        refused = self.server.get("/runs", method="POST", body=json.dumps({"gpu_model": "x" * 96}),
                                  Content_Type="application/json")
        self.assertEqual(refused.status, 400)


if __name__ == "__main__":
    main()
