#!/bin/bash
# Tests of the Python package that need pip, other Pythons, zig or a chroot. CI runs test_*.py of this folder alone.
#
# Usage: run.sh [PART...]     all parts by default:
#   wheels     builds both wheels, and installs one into a new environment
#   versions   test_package.py with every python3.9 to 3.13 that is there, with the program of the wheel
#   theirs     the unit tests of resource-tracker 0.5.0
#   metaflow   flows of Metaflow 2.19.39, a deployment for Argo, S3 by moto
#   workflows  Airflow 3.3.2 and 2.10.5, Dagster 1.13.27, Prefect 3.9.1, flytekit 1.16.31; Luigi, Snakemake and, where
#              Java and Maven are, Nextflow by the wrapper
#   notebook   the magic in IPython, tables as pandas and polars, the pytest plugin
#   old_glibc  the wheel in a chroot of Debian 11 (debootstrap)
#   new_python the same in Debian unstable, which has Python 3.14
#   aarch64    the program of the other wheel under qemu-user
#   cost       attach, end, CPU and memory beside resource-tracker 0.5.0
#   accuracy   hard jobs beside resource-tracker 0.5.0, as root, with accuracy_job of build/e2e
#   cluster    (by name only) pods of Metaflow on the cluster of KUBECONFIG; see metaflow/cluster.py for ADDRESS and IMAGE
#   ROOT: a scratch folder that is kept (default: build/python)
# shellcheck disable=SC2016 # $(REPO_URI) is apt's
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
export ROOT=${ROOT:-$source/build/python}
mkdir -p "$ROOT"
[ $# -gt 0 ] || set -- wheels versions theirs metaflow workflows notebook old_glibc new_python aarch64 cost accuracy
unset PYTHONPATH RIGHTSIZE_URL RIGHTSIZE_HISTORY_PATH RIGHTSIZE_EXPORTER

fail() {
	echo "run.sh: $*" >&2
	exit 1
}

# environment NAME PACKAGE...: a virtual environment with the wheel and the packages.
environment() {
	local folder=$ROOT/env-$1
	[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
	[ $# -eq 1 ] || "$folder/bin/pip" install -q --disable-pip-version-check "${@:2}"
	"$folder/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$(wheel_of x86_64)"
}

wheel_of() {
	local found
	found=$(ls "$ROOT"/wheels/*_"$1".whl) || fail "no wheel for $1: run the part wheels first"
	echo "$found"
}

wheels() {
	if [ -z "${ZIG:-}" ]; then
		[ -x "$ROOT/env-zig/bin/python" ] || python3 -m venv "$ROOT/env-zig"
		"$ROOT/env-zig/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
		ZIG=$("$ROOT/env-zig/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
		export ZIG
	fi
	"$source/deploy/python/build.sh" "$ROOT/wheels"
	environment plain
	[ "$("$ROOT/env-plain/bin/rightsize-exporter" --version | head -c 18)" = rightsize-exporter ] || fail "the program does not run"
	(cd / && "$ROOT/env-plain/bin/python" -c 'import rightsize_exporter as r; print(r.__version__, r.path())')
}

versions() {
	local number python
	environment plain
	for number in 9 10 11 12 13; do
		python=$(find "/usr/bin/python3.$number" "$HOME"/.pyenv/versions/3."$number".*/bin/python3 -prune 2>/dev/null | head -1) || true
		if [ -z "$python" ]; then
			echo "Python 3.$number is not here"
			continue
		fi
		echo "Python 3.$number:"
		RIGHTSIZE_EXPORTER=$ROOT/env-plain/bin/rightsize-exporter "$python" -B "$here/test_package.py" 2>&1 | grep -vE ' [.]{3} ok$'
	done
}

theirs() {
	environment theirs pytest psutil
	[ -d "$ROOT/resource_tracker-0.5.0" ] || {
		pip download -q --no-deps --no-binary :all: -d "$ROOT" resource-tracker==0.5.0
		tar -xzf "$ROOT"/resource_tracker-0.5.0.tar.gz -C "$ROOT"
	}
	RIGHTSIZE_HISTORY_PATH=$ROOT/theirs.db RIGHTSIZE_EXPORTER=$ROOT/env-theirs/bin/rightsize-exporter \
		"$ROOT/env-theirs/bin/python" "$here/their_tests.py" "$ROOT/resource_tracker-0.5.0/tests"
}

metaflow() {
	environment metaflow metaflow==2.19.39 'moto[server]==5.2.5' boto3==1.44.8 kubernetes==31.0.0
	PATH=$ROOT/env-metaflow/bin:$PATH RIGHTSIZE_EXPORTER=$ROOT/env-metaflow/bin/rightsize-exporter \
		"$ROOT/env-metaflow/bin/python" -B "$here/metaflow/test_flows.py"
}

cluster() {
	environment metaflow
	PATH=$ROOT/env-metaflow/bin:$PATH "$ROOT/env-metaflow/bin/python" -B "$here/metaflow/cluster.py"
}

workflows() {
	nextflow
	workflow airflow apache-airflow==3.3.2 apache-airflow-providers-cncf-kubernetes==10.25.0
	workflow airflow2 apache-airflow==2.10.5 apache-airflow-providers-cncf-kubernetes==10.5.0
	workflow dagster dagster==1.13.27 dagster-k8s==0.29.27
	workflow prefect prefect==3.9.1
	workflow flyte flytekit==1.16.31
	workflow wrapped luigi==3.8.1 snakemake==9.27.1
}

# nextflow: installs it by Maven.
nextflow() {
	local classes=$ROOT/nextflow
	if command -v java >/dev/null && command -v mvn >/dev/null; then
		[ -e "$classes/installed" ] || mvn -q -B -f "$source/tests/formats/nextflow.xml" dependency:copy-dependencies \
			-DoutputDirectory="$classes"
		touch "$classes/installed"
		export NEXTFLOW_CLASSES=$classes
	else
		echo "Java and Maven are not here, so Nextflow is left out"
	fi
}

# workflow NAME PACKAGE...: the test of that system, with the packages. NAME may end in the major version.
workflow() {
	environment "$@"
	RIGHTSIZE_EXPORTER=$ROOT/env-$1/bin/rightsize-exporter "$ROOT/env-$1/bin/python" -B "$here/workflows/test_${1%2}.py"
}

notebook() {
	environment notebook ipython pandas polars pytest pytest-xdist
	RIGHTSIZE_HISTORY_PATH=$ROOT/notebook.db "$ROOT/env-notebook/bin/python" -B "$here/notebook.py"
}

# in_chroot SUITE: the wheel and test_package.py in a minimal Debian of that name.
in_chroot() {
	local root=$ROOT/$1 mirror
	mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/*$') || fail "no mirror of Debian is known"
	[ -x "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3 "$1" "$root" "$mirror" >"$ROOT/$1.log"
	rm -rf "$root/try"
	mkdir -p "$root/try/tests" "$root/try/deploy/python"
	cp -r "$here" "$root/try/tests/"
	(cd "$root/try/deploy/python" && python3 -m zipfile -e "$(wheel_of x86_64)" . && chmod 755 ./*.data/scripts/rightsize-exporter)
	mount -t proc proc "$root/proc"
	# shellcheck disable=SC2016 # for the shell inside
	chroot "$root" sh -c 'ldd --version | head -1; python3 --version
		RIGHTSIZE_EXPORTER=$(ls /try/deploy/python/*.data/scripts/*) python3 -B /try/tests/python/test_package.py 2>&1 | tail -4' || true
	umount "$root/proc"
}

old_glibc() { in_chroot bullseye; }
new_python() { in_chroot sid; }

aarch64() {
	command -v qemu-aarch64-static >/dev/null || fail "apt-get install qemu-user-static"
	local program=$ROOT/out/aarch64/bin/rightsize-exporter
	ls /lib/ld-linux-aarch64.so.1 >/dev/null 2>&1 || [ -d /usr/aarch64-linux-gnu ] || fail "apt-get install libc6-arm64-cross"
	qemu-aarch64-static -L /usr/aarch64-linux-gnu "$program" --version
	qemu-aarch64-static -L /usr/aarch64-linux-gnu "$program" servers --cpu=1 --memory=1024 --duration=60 --limit=1 --format=text | head -5
}

cost() {
	environment cost resource-tracker==0.5.0
	RIGHTSIZE_HISTORY_PATH=$ROOT/cost.db "$ROOT/env-cost/bin/python" -B "$here/cost.py"
}

accuracy() {
	environment cost resource-tracker==0.5.0
	RIGHTSIZE_ACCURACY_TOOLS=$source/build/e2e/tests/accuracy RIGHTSIZE_HISTORY_PATH=$ROOT/accuracy.db \
		"$ROOT/env-cost/bin/python" -B "$here/accuracy.py"
}

for part; do
	echo "== $part"
	"$part"
done
