"""Luigi, Snakemake and Nextflow, whose tasks are commands under the wrapper, as the manual writes them.

NEXTFLOW_CLASSES: the folder of Nextflow's jars.
"""
import os
import pathlib
import subprocess
import sys
import unittest

from case import MIB, Workflows

HOLD = f"{sys.executable} -c 'import time; x = bytearray(b\"x\" * (100 << 20)); time.sleep(1.5)'"
LUIGI = '''
import luigi
from luigi.contrib.external_program import ExternalProgramTask

class Load(ExternalProgramTask):
    date = luigi.Parameter()
    def output(self):
        return luigi.LocalTarget("loaded.txt")
    def program_args(self):
        return ["rightsize-exporter", "run", "--job-name=etl/load", "--", "sh", "-c", """HOLD; touch loaded.txt"""]
'''
SNAKEMAKE = '''
rule load:
    output: "loaded.txt"
    shell: """rightsize-exporter run --job-name=snakemake/{rule} -- sh -c "HOLD; touch {output}" """
'''
NEXTFLOW = '''
process ALIGN {
    script:
    "rightsize-exporter run --job-name=ALIGN -- sh -c 'HOLD; touch $launchDir/loaded.txt'"
}
workflow { ALIGN() }
'''


class Wrapped(Workflows):
    def call(self, *words, **environment):
        """Runs a command of the environment, where the program is on PATH."""
        folder = pathlib.Path(sys.executable).parent
        program = pathlib.Path(os.environ["RIGHTSIZE_EXPORTER"]).parent
        done = subprocess.run([str(folder / words[0]), *words[1:]], cwd=self.folder, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, universal_newlines=True, timeout=180,
                              env={**os.environ, "PATH": f"{folder}:{program}:{os.environ['PATH']}",
                                   "PYTHONPATH": str(self.folder), **environment})
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def is_run(self, job_name):
        (run,) = self.ended(job_name)
        self.assertEqual(run["outcome"], "succeeded")
        self.assertGreater(run["memory_peak_bytes"], 100 * MIB)
        self.assertTrue((self.folder / "loaded.txt").exists())

    def test_an_external_program_of_luigi_is_a_run(self):
        (self.folder / "etl.py").write_text(LUIGI.replace("HOLD", HOLD))
        self.call("luigi", "--module=etl", "Load", "--date=1", "--local-scheduler")
        self.is_run("etl/load")

    def test_a_rule_of_snakemake_is_a_run(self):
        (self.folder / "hold.sh").write_text(HOLD)
        (self.folder / "Snakefile").write_text(SNAKEMAKE.replace("HOLD", "sh hold.sh"))
        self.call("snakemake", "--cores=1")
        self.is_run("snakemake/load")

    @unittest.skipUnless("NEXTFLOW_CLASSES" in os.environ, "NEXTFLOW_CLASSES names no Nextflow")
    def test_a_process_of_nextflow_is_a_run(self):
        (self.folder / "hold.sh").write_text(HOLD)
        (self.folder / "main.nf").write_text(NEXTFLOW.replace("HOLD", f"sh {self.folder}/hold.sh"))
        self.call("/usr/bin/env", "java", "-cp", f"{os.environ['NEXTFLOW_CLASSES']}/*", "nextflow.cli.Launcher", "run", "main.nf",
                  NXF_HOME=str(self.folder), NXF_OFFLINE="true", NXF_ANSI_LOG="false")
        self.is_run("ALIGN")


if __name__ == "__main__":
    unittest.main()
