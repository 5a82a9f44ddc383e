#!/bin/bash
# Each format of /recommend is read by its system: tests/formats/run.sh [FORMAT...]. Run by name, because it installs
# those systems, each in its own folder below build/formats (about 3 GB together, by uv or pip, npm and mvn). A system
# that is not installed and cannot be installed is reported as left out. build/formats/table.txt then has an example of
# each format and its reader.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
build_targets write_formats

folder=$PWD/build/formats
mkdir -p "$folder/texts"
"$build/tests/formats/write_formats" "$folder/texts" || exit 1

# format Python packages that read it | those of npm | the Maven project that reads it. None of these: an installed
# program reads it.
formats='
metaflow metaflow
metaflow-kubernetes metaflow
metaflow-batch metaflow
kubernetes kubernetes pyyaml
kubernetes-patch kubernetes pyyaml
vpa kubernetes pyyaml | @kubernetes-models/autoscaler@3.3.4
argo kubernetes pyyaml | @kubernetes-models/argo-workflows@2.0.0 kubernetes-models@5.1.0
argo-patch kubernetes pyyaml | @kubernetes-models/argo-workflows@2.0.0 kubernetes-models@5.1.0
airflow apache-airflow==2.10.5 kubernetes apache-airflow-providers-cncf-kubernetes
flyte flytekit
nextflow | | nextflow.xml
snakemake snakemake
slurm
ray ray
spark pyspark
spark-driver pyspark
fargate botocore cfn-lint
aws-batch botocore cfn-lint
aws-batch-fargate botocore cfn-lint
gcp-batch google-cloud-batch
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

# install_node PACKAGE...: installs all packages in one folder. Their versions are pinned above.
install_node() {
	local place=$folder/node
	mkdir -p "$place"
	[ -e "$place/package.json" ] || echo '{"private": true}' >"$place/package.json"
	npm install --prefix "$place" --no-audit --no-fund --loglevel=error "$@"
}

# install_maven PROJECT: installs it once. Without Maven, an installed system of that name may be used.
install_maven() {
	local place=$folder/${1%.xml}
	[ -e "$place/installed" ] && return
	command -v mvn >/dev/null || return 0
	mvn -q -B -f "tests/formats/$1" dependency:copy-dependencies -DoutputDirectory="$place/lib" && touch "$place/installed"
}

# prepare PYTHON_PACKAGES NODE_PACKAGES MAVEN_PROJECT: sets `python` to a Python that has the packages.
prepare() {
	local place
	python=python3
	if [ -n "$1" ]; then
		place=$folder/${1%%[ =]*}${1//[^ ]/}
		place=${place// /+}
		# shellcheck disable=SC2086 # several packages
		install "$place" $1 || return
		python=$place/bin/python
	fi
	# shellcheck disable=SC2086 # several packages
	[ -z "$2" ] || install_node $2 || return
	[ -z "$3" ] || install_maven "$3"
}

failed=0
table=$folder/table.txt
: >"$table"
while read -r format packages; do
	[ -n "$format" ] || continue
	if [ $# -gt 0 ] && ! printf '%s\n' "$@" | grep -qx "$format"; then
		continue
	fi
	IFS='|' read -r of_python of_node of_maven <<<"${packages// | /|}"
	if prepare "$of_python" "$of_node" "$of_maven" >"$folder/install.log" 2>&1; then
		said=$("$python" tests/formats/check.py "$format" "$folder" 2>"$folder/$format.log" </dev/null)
		case $? in
		0 | 77) ;;
		*)
			failed=1
			cat "$folder/$format.log" >&2
			;;
		esac
	else
		said=$(printf '%-20s left out: %s' "$format" "$(tail -1 "$folder/install.log")")
	fi
	printf '%s\n' "$said"
	printf '%s\n' "$said" | grep "^$format " >>"$table"
	sed 's/^/    /' "$folder/texts/$format.cpu" >>"$table"
done <<<"$formats"
exit $failed
