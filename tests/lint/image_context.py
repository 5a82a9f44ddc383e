#!/usr/bin/python3
"""The image is made from the files that .dockerignore lets through: from these alone, every file that the build reads is there.

Usage: image_context.py     configures a copy of those files and asks ninja what it would do; compiles nothing
"""
import fnmatch
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def wanted(name, patterns):
    """Returns whether a file is let through. The last pattern that fits it, or a folder above it, decides."""
    let_through = True
    parts = pathlib.PurePosixPath(name)
    for pattern in patterns:
        if any(fnmatch.fnmatchcase(str(path), pattern.lstrip("!")) for path in (parts, *parts.parents)):
            let_through = pattern.startswith("!")
    return let_through


def main():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        source, build = pathlib.Path(folder, "source"), pathlib.Path(folder, "build")
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file() and wanted(name, patterns):
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, source / name)
        for command in (["cmake", "-G", "Ninja", "-S", source, "-B", build, "-Wno-dev", "-DBUILD_TESTING=OFF"], ["ninja", "-C", build, "-n"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f".dockerignore leaves out what the build needs:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
