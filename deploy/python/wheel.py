"""Writes a wheel: the packages of this folder, and the program in .data/scripts, where pip puts it on PATH as it is.

Usage: wheel.py OUT x86_64|aarch64 PROGRAM      prints the file's name and size; the same input gives the same bytes
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "rightsize_exporter"
PACKAGES = ("rightsize_exporter", "metaflow_extensions")
GLIBC = "2_17"
MOST_BYTES = 3_200_000
FIRST_DAY = (1980, 1, 1, 0, 0, 0)

METADATA = """Metadata-Version: 2.1
Name: rightsize-exporter
Version: {version}
Summary: Watches jobs, remembers what each run used, and says what to request next time and on which server
License: Apache-2.0
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
ENTRY_POINTS = "[pytest11]\nrightsize = rightsize_exporter.pytest_plugin\n"


def version():
    """The version of the program, without what is no version of a Python package."""
    return re.search(r"^project\([^)]*VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def packaged():
    """Gives the path in the wheel and the bytes of each file of the packages."""
    for package in PACKAGES:
        for path in sorted((HERE / package).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                yield str(path.relative_to(HERE)), path.read_bytes()


def contents(arch, program):
    """Gives the path in the wheel, the bytes and the mode of each file."""
    number = version()
    tag = f"py3-none-manylinux_{GLIBC}_{arch}.manylinux2014_{arch}"
    info = f"{NAME}-{number}.dist-info"
    files = [(name, data, 0o644) for name, data in packaged()]
    files.append((f"{NAME}-{number}.data/scripts/rightsize-exporter", pathlib.Path(program).read_bytes(), 0o755))
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.split("-")[2].split("."))
    page = (HERE / "README.md").read_text()
    files += [(f"{info}/METADATA", (METADATA.format(version=number) + page).encode(), 0o644),
              (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
              (f"{info}/entry_points.txt", ENTRY_POINTS.encode(), 0o644),
              (f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644)]
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
            for name, data, _ in files]
    files.append((f"{info}/RECORD", "".join([*rows, f"{info}/RECORD,,\n"]).encode(), 0o644))
    return f"{NAME}-{number}-{tag}.whl", files


def main(out, arch, program):
    """Writes the wheel, and fails where it has become too large."""
    name, files = contents(arch, program)
    path = os.path.join(out, name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for inner, data, mode in files:
            entry = zipfile.ZipInfo(inner, FIRST_DAY)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    size = os.path.getsize(path)
    print(f"{name} {size} bytes")
    return 0 if size <= MOST_BYTES else f"{name}: more than {MOST_BYTES} bytes"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
