#!/bin/bash
# Compares the double of the Keeper and "catalogue update" with the real Keeper: tests/keeper/run.sh. Run by name,
# because it installs the Keeper from its public repository, and sparecores-crawler and FastAPI from PyPI, in
# build/keeper (some 300 MB), and takes two minutes at the pace that the Keeper allows. KEEPER_SOURCE: a folder or an
# address of the repository.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
build_targets rightsize-exporter

folder=$PWD/build/keeper
source=${KEEPER_SOURCE:-git+https://github.com/SpareCores/sc-keeper}
python=
for name in python3.13 python3.12 python3.11; do # the Keeper needs 3.11
	if command -v "$name" >/dev/null && "$name" -c 'import venv, sqlite3' 2>/dev/null; then
		python=$name
		break
	fi
done
if [ -z "$python" ]; then
	echo "tests/keeper/run.sh: left out: there is no Python 3.11 with venv" >&2
	exit 77
fi
if [ ! -e "$folder/installed" ]; then
	"$python" -m venv "$folder"
	# Later versions of sqlmodel refuse times without a time zone, which the tables have.
	"$folder/bin/pip" install -q "$source" 'sqlmodel<0.0.39'
	touch "$folder/installed"
fi
exec "$folder/bin/python" -B tests/keeper/real.py "$folder/bin/python" "$build/exporter/rightsize-exporter"
