#!/bin/bash
# Every format of /recommend, read by the system that it is for: tests/formats/run.sh [FORMAT...]. Run by name, for it
# installs those systems, each in a folder of its own below build/formats (some 3 GB together, by uv or pip). A system
# that is not there and cannot be installed so is said to be left out.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
build_targets write_formats

folder=$PWD/build/formats
mkdir -p "$folder/texts"
"$build/tests/formats/write_formats" "$folder/texts" || exit 1

# format, then the Python packages that read it; none: a program of the system does.
formats='
metaflow metaflow
metaflow-kubernetes metaflow
metaflow-batch metaflow
kubernetes kubernetes pyyaml
kubernetes-patch kubernetes pyyaml jsonpatch
vpa
argo
argo-patch
airflow apache-airflow==2.10.5 kubernetes apache-airflow-providers-cncf-kubernetes
flyte flytekit
nextflow
snakemake snakemake
slurm
ray ray
kubeflow kfp
dask dask distributed
docker
systemd
'

# install FOLDER PACKAGE...: once.
install() {
	local place=$1
	shift
	[ -e "$place/installed" ] && return
	python3 -m venv "$place" || return
	if command -v uv >/dev/null; then
		uv pip install -q --python "$place/bin/python" "$@"
	else
		"$place/bin/pip" install -q "$@"
	fi && touch "$place/installed"
}

failed=0
while read -r format packages; do
	[ -n "$format" ] || continue
	if [ $# -gt 0 ] && ! printf '%s\n' "$@" | grep -qx "$format"; then
		continue
	fi
	python=python3
	if [ -n "$packages" ]; then
		place=$folder/${packages%%[ =]*}${packages//[^ ]/}
		place=${place// /+}
		# shellcheck disable=SC2086 # several packages
		if ! install "$place" $packages >"$folder/install.log" 2>&1; then
			printf '%-20s left out: %s\n' "$format" "$(tail -1 "$folder/install.log")"
			continue
		fi
		python=$place/bin/python
	fi
	"$python" tests/formats/check.py "$format" "$folder" </dev/null
	case $? in
	0 | 77) ;;
	*) failed=1 ;;
	esac
done <<<"$formats"
exit $failed
