#!/usr/bin/env bash
# Runs one tool over the project's files; each case is one CTest test (see CMakeLists.txt).
#
# Usage: tests/lint/lint.sh format|tidy BUILD-FOLDER|cppcheck|shell|example|prometheus
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

case ${1-} in
format)
	find collectors recommender exporter tests -name '*.[ch]' -print0 |
		xargs -0 clang-format --dry-run -Werror
	;;
tidy)
	# Reads compile_commands.json there. The tool prints much besides its findings. That output stays in the log. Only
	# installed code is checked: the tests are half of the files, and would double the time. The idle class yields to
	# every other process at once, so the tests that measure beside it do not see it.
	log=$2/clang-tidy.log
	if ! chrt --idle 0 run-clang-tidy -quiet -p "$2" '/(collectors|recommender|exporter)/([a-z_]+/)?[^/]+\.c$' >"$log" 2>&1; then
		sed -i 's/\x1b\[[0-9;]*m//g' "$log"
		grep -E '(warning|error):' "$log" | sort -u || tail -n 20 "$log"
		exit 1
	fi
	;;
cppcheck)
	# NULL ends our argument lists. It is a pointer on all systems on which this program runs.
	cppcheck -q -j2 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 --std=c11 \
		--suppress=varFuncNullUB -I. -D_GNU_SOURCE collectors recommender exporter
	;;
shell)
	find .ci deploy tests \( -name __pycache__ -o -name corpus \) -prune -o -type f -print0 | xargs -0 grep -lZE "^(#!.*[/ ](ba)?sh|# shellcheck shell=.*)$" | xargs -0 shellcheck -x
	;;
example)
	# Compiles the collector that CONTRIBUTING.md shows.
	fence='\x60\x60\x60'
	sed -n "/^${fence}c\$/,/^$fence\$/{/^$fence/d;p}" CONTRIBUTING.md |
		gcc -x c -std=gnu17 -D_GNU_SOURCE -I. -include collectors/base/banned.h -Wall -Wextra -Werror -fsyntax-only -
	;;
prometheus)
	promtool check config dashboards/prometheus/prometheus.yml
	promtool check rules dashboards/prometheus/rules.yml dashboards/prometheus/fleet_rules.yml
	promtool test rules tests/prometheus/rules_test.yml tests/prometheus/rules_week_test.yml tests/prometheus/fleet_rules_test.yml
	amtool check-config dashboards/prometheus/alertmanager.yml
	;;
*)
	printf 'usage: lint.sh format|tidy BUILD-FOLDER|cppcheck|shell|example|prometheus\n' >&2
	exit 2
	;;
esac
