#!/usr/bin/env bash
# Compares the sizing rules of this tree with those of an earlier commit, on traces of real jobs. Prints Markdown
# tables for each source, with announced input sizes and without any, and lists the chances that were not true.
#
# Usage: tests/bench/judge_compare.sh COMMIT TRACE.csv...      some minutes; not part of the tests
# The earlier commit is built in a temporary worktree with the bench of this tree. JUDGE: more options of bench_judge.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

if [ $# -lt 2 ]; then
	sed -n '2,6s/^# \{0,1\}//p' "$0"
	exit 2
fi
commit=$(git rev-parse --verify "$1^{commit}")
shift
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
folder=$(mktemp -d)
trap 'git worktree remove --force "$folder/before" 2>/dev/null; rm -rf "$folder"' EXIT

build_targets bench_judge
git worktree add --quiet --detach "$folder/before" "$commit"
bench=$folder/before/tests/bench
cp -r tests/bench/judge tests/bench/{trace,caq,ponder}.[ch] "$bench"
grep -qF 'add_subdirectory(judge)' "$bench/CMakeLists.txt" || echo 'add_subdirectory(judge)' >>"$bench/CMakeLists.txt"
(cd "$folder/before" && build_targets bench_judge)

read -ra more <<<"${JUDGE:-}"
for input in announced none; do
	"$build/tests/bench/judge/bench_judge" --csv --input="$input" "${more[@]}" "$@" >"$folder/now.$input"
	"$folder/before/$build/tests/bench/judge/bench_judge" --csv --input="$input" --rules=auto "${more[@]}" "$@" \
		>"$folder/before.$input"
done
tests/bench/judge_table.py "$folder"
