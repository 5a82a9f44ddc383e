#!/usr/bin/python3
"""A job that first loads and then computes. Tests its phases in /stats and /runs, from recorded samples.

tests/fixtures/load_then_compute.csv: three real runs of one job, sampled every 2 s. It filled 1.2 GiB for 16 s, held
it until 66 s with a hundredth of a core, then gave it back and computed on a part of a core until 140 s.
"""
import csv
import pathlib
import sqlite3

from support import Case, main

RECORDED = pathlib.Path(__file__).parents[1] / "fixtures" / "load_then_compute.csv"
MIB = 1024 ** 2


def recorded(times=16):
    """Returns [(duration, cpu_seconds, memory_bytes)] for each run, as if so many runs of the job were active at
    once."""
    runs = {}
    with open(RECORDED) as file:
        for row in csv.DictReader(file):
            runs.setdefault(row["run"], []).append(
                (float(row["duration"]), times * float(row["cpu_seconds"]), times * float(row["memory_bytes"])))
    return list(runs.values())


class Phases(Case):
    def history_of(self, *runs):
        """Makes runs that the program records itself, and replaces their samples by these."""
        for _ in runs:
            self.run_job(["true"])
        with sqlite3.connect(self.folder / "history.db") as db:
            ids = db.execute("SELECT id, started_at FROM run ORDER BY id").fetchall()
            for (run, started_at), samples in zip(ids, runs):
                seconds = sum(duration for duration, _, _ in samples)
                db.execute("UPDATE run SET duration_seconds = ?, ended_at = started_at + ?, samples = ? WHERE id = ?",
                           (seconds, seconds, len(samples), run))
                db.execute("DELETE FROM sample WHERE id >> 32 = ?", (run,))
                at = started_at
                for i, (duration, cpu, memory) in enumerate(samples):
                    at += duration
                    db.execute("INSERT INTO sample(id, at, duration, cpu_seconds, memory_bytes) VALUES(?, ?, ?, ?, ?)",
                               ((run << 32) + i + 1, at, duration, cpu, memory))
        db.close()

    def stats(self):
        return self.serve().get("/stats?job_name=job&details=1").json

    def test_split_of_a_job_that_loads_and_then_computes(self):
        self.history_of(*recorded())
        stats = self.stats()
        fill, hold, compute = stats["phases"]
        self.assertAlmostEqual(hold["start_seconds"], 16, delta=4)
        self.assertAlmostEqual(compute["start_seconds"], 67, delta=4)
        self.assertGreater(hold["memory_bytes"], 16 * 1200 * MIB)
        self.assertLess(compute["memory_bytes"], 16 * 400 * MIB)  # freeing the memory takes a part of a sample
        self.assertLess(hold["cpu_cores"], 16 * 0.05)
        self.assertGreater(compute["cpu_cores"], 16 * 0.05)
        split = stats["split"]  # filling is too short to be a step: it is part of the next phase
        load, work = split["parts"]
        self.assertAlmostEqual(load["seconds"], fill["seconds"] + hold["seconds"], places=3)
        self.assertAlmostEqual(work["seconds"], compute["seconds"], places=3)
        self.assertGreater(load["memory_bytes"], 16 * 1200 * MIB)
        self.assertGreater(split["reserved_saving_ratio"], 0.2)
        self.assertGreater(split["cost_saving_ratio"], 0)
        cost = sum(part["server"]["forecast_cost"] for part in split["parts"])
        self.assertAlmostEqual(split["cost_saving_ratio"], 1 - cost / split["in_one_step"]["forecast_cost"],
                               delta=6e-5)  # a ratio has four digits, a cost six
        self.assertIn("as 2 steps", split["words"])

    def test_no_split_where_the_cheapest_server_is_enough_for_the_whole(self):
        self.history_of(*recorded(times=1))
        stats = self.stats()
        self.assertEqual(len(stats["phases"]), 3)
        self.assertIsNone(stats["split"])

    def test_no_split_of_what_did_not_recur(self):
        self.history_of(*recorded()[:2])
        stats = self.stats()
        self.assertEqual(len(stats["phases"]), 3)
        self.assertIsNone(stats["split"])

    def test_no_split_where_the_parts_change_places(self):
        first, second, third = recorded()
        self.history_of(first, second[::-1], third[len(third) // 3:])
        self.assertIsNone(self.stats()["split"])


if __name__ == "__main__":
    main()
