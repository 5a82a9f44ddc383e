"""The magic in a real IPython, tables as pandas and polars, the pytest plugin: what test_package.py has no packages for."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from IPython.utils.capture import capture_output

import rightsize_exporter as rightsize


class Notebook(unittest.TestCase):
    def run_cells(self, *cells):
        """Returns what is displayed as HTML below the last cell."""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        for cell in cells:
            with capture_output() as captured:
                shell.run_cell(cell)
        return shell, [output.data.get("text/html", "") for output in captured.outputs]

    def test_the_magic_shows_the_run_below_the_cell(self):
        shell, shown = self.run_cells("%load_ext rightsize_exporter",
                                      "%%rightsize etl/cell\nimport time\nframe = bytearray(50 << 20)\ntime.sleep(1.2)\nframe[0] = 7")
        self.assertEqual(len(shown), 1)
        self.assertIn("etl/cell", shown[0])
        self.assertIn("Request ", shown[0])
        self.assertEqual(shell.user_ns["frame"][0], 7)

    def test_a_cell_that_fails(self):
        for cell in ("1 / 0", "1 +", "raise KeyboardInterrupt", "raise SystemExit(3)"):
            shell, shown = self.run_cells("%load_ext rightsize_exporter", f"%%rightsize etl/wrong\n{cell}")
            self.assertRegex(shown[0], "failed|interrupted")
            with capture_output() as captured:
                self.assertFalse(shell.run_cell(f"%%rightsize etl/wrong\n{cell}").success, cell)
            self.assertEqual((captured.stdout + captured.stderr).count("CellFailed"), 0)

    def test_tables(self):
        table = rightsize.TinyDataFrame({"a": [1, None], "b": ["x", "y"]})
        self.assertEqual(list(table.to_pandas().columns), ["a", "b"])
        self.assertEqual(table.to_polars().shape, (2, 2))
        self.assertIn("memory_mib", self.samples().process_metrics.to_pandas().columns)

    @staticmethod
    def samples():
        with rightsize.ResourceTracker(interval=0.2) as tracker:
            tracker.wait_for_samples(2)
        return tracker

    def test_pytest_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                (pathlib.Path(folder) / f"test_{name}.py").write_text("def test_a(): bytearray(1 << 20)\ndef test_b(): pass\n")
            parts = [f"test_{name}.py::test_{test}" for test in "ab" for name in ("one", "two")]  # modules in parts
            words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            plain, *watched = (subprocess.run([*words, *flags], cwd=folder, stdout=subprocess.PIPE, universal_newlines=True,
                                              env=os.environ, check=True).stdout
                               for flags in ((), ("--rightsize",), ("--rightsize", "-n", "2"), ("--rightsize", *parts)))
        self.assertNotIn("rightsize", plain)
        for text in watched:
            lines = [line for line in text.splitlines() if "MiB" in line]
            self.assertEqual(len(lines), 2, text)
            for name in ("one", "two"):
                self.assertRegex("\n".join(lines), rf"MiB .* s  test_{name}\.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)
