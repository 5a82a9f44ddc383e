"""The unit tests of resource-tracker 0.5.0, run against rightsize_exporter under the name resource_tracker.

Usage: their_tests.py FOLDER      FOLDER: their tests, of the source package that `pip download` gets; needs pytest, psutil

Prints how many pass of each file. Every test that does not pass has its reason in DIFFERENT, and at least SHARE pass.
"""
import pathlib
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "python"
SHARE = 0.9
FILES = ("test_tracker.py", "test_helpers.py", "test_tiny_dataframe.py", "test_server_info.py", "test_report.py")
# Their own services, streams and template engine, which this package does not have.
LEFT_OUT = ("test_keeper.py", "test_metaflow.py", "test_s3_upload.py", "test_sentinel_api.py", "test_streaming.py",
            "test_tracker_streaming.py", "test_tiny_bars.py")
DIFFERENT = {
    "test_resource_tracker_report": "looks for words of their page",
}
ALIAS = """
import importlib, sys
import rightsize_exporter
sys.modules["resource_tracker"] = rightsize_exporter
for name in ("column_maps", "dummy_workloads", "helpers", "report", "server_info", "cloud_info", "tiny_data_frame", "tracker",
             "tracker_procfs", "tracker_psutil"):
    sys.modules["resource_tracker." + name] = importlib.import_module("rightsize_exporter." + name)
# Their own default, against which their tests were written; the documents, and so this package, say True.
sys.modules["resource_tracker.tracker"].ResourceTracker.__init__.__defaults__ = tuple(
    False if i == 4 else value
    for i, value in enumerate(sys.modules["resource_tracker.tracker"].ResourceTracker.__init__.__defaults__))
"""


def main(folder):
    there = {path.name for path in pathlib.Path(folder).glob("test_*.py")}
    assert there == {*FILES, *LEFT_OUT}, f"unknown files: {there ^ {*FILES, *LEFT_OUT}}"
    passed, failed = 0, set()
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "conftest.py").write_text(ALIAS)
        for name in FILES:
            (pathlib.Path(place) / name).write_text((pathlib.Path(folder) / name).read_text())
            lines = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "--tb=short",
                                    name], cwd=place, env={**__import__("os").environ, "PYTHONPATH": str(PACKAGE)},
                                   stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout.splitlines()
            ok = [line for line in lines if line.startswith("PASSED ")]
            bad = [line.split("::")[1].split(" ")[0] for line in lines if line.startswith(("FAILED ", "ERROR ")) and "::" in line]
            print(f"{name}: {len(ok)} pass, {len(bad)} do not: {', '.join(bad) or '-'}")
            if set(bad) - set(DIFFERENT):
                print("\n".join(lines))
            passed, failed = passed + len(ok), failed | set(bad)
    print(f"{passed} passed, {len(failed)} failed")
    for name in sorted(failed):
        print(f"{name}: {DIFFERENT.get(name, 'NO REASON IS GIVEN')}")
    return 0 if failed <= set(DIFFERENT) and passed >= SHARE * (passed + len(failed)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
