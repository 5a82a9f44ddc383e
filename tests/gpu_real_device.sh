#!/usr/bin/env bash
# Compares our numbers about an NVIDIA GPU and its jobs with those of nvidia-smi, and with a load that knows its memory
# and the time of its kernels. Not part of ctest: it needs a machine with an NVIDIA GPU that no other program uses, its
# driver, and two to three minutes. It needs no NVIDIA compiler and changes no setting of the GPU.
#
# Seen on an H100 with driver 580.159.04: VRAM equal to the byte; GPU seconds 19.95 of 20.04 and 6.02 of 6.03; power within
# 0.1 %; the GPU collector takes 2.7 ms of CPU a second, 19 MiB of memory with the driver's library.
#
# Usage: tests/gpu_real_device.sh [CASE...]        all cases, without one; the cases are the functions case_* below
#
# To test on a machine that cannot build, name the programs: RIGHTSIZE_EXPORTER and RIGHTSIZE_GPU_LOAD (tests/support/gpu_load.c).
# RIGHTSIZE_GPU_FILES is a folder for all that was recorded; without one, it is a temporary folder.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
export LC_ALL=C

if [ -z "${RIGHTSIZE_EXPORTER:-}" ]; then
	deploy/packages.sh build test
	# shellcheck source=tests/build.sh
	. tests/build.sh
	build_preset e2e rightsize-exporter gpu_load
	RIGHTSIZE_EXPORTER=build/e2e/exporter/rightsize-exporter RIGHTSIZE_GPU_LOAD=build/e2e/tests/support/gpu_load
fi
exporter=$RIGHTSIZE_EXPORTER load=$RIGHTSIZE_GPU_LOAD
files=${RIGHTSIZE_GPU_FILES:-}
[ -n "$files" ] || { files=$(mktemp -d) && forget=$files; }
mkdir -p "$files"
mib=1048576 failures=0 samplers=() started=()

finish() {
	[ ${#samplers[@]} = 0 ] || kill "${samplers[@]}" 2>/dev/null || true
	[ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
	wait
	[ -z "${forget:-}" ] || rm -rf "$forget"
}
trap finish EXIT

# ---- nvidia-smi ----

stamp() {
	while read -r line; do
		printf '%s %s\n' "$EPOCHREALTIME" "$line"
	done
}

sample() { # FILE ARGUMENT...
	local file=$1
	shift
	stdbuf -oL nvidia-smi "$@" > >(stamp >"$file") 2>&1 &
	samplers+=($!)
}

samplers_start() { # CASE
	local list=utilization.gpu,memory.used,power.draw,temperature.gpu,clocks.sm,clocks.mem
	sample "$files/$1.gpu" --query-gpu=$list --format=csv,noheader,nounits -lms 500
	sample "$files/$1.processes" --query-compute-apps=pid,used_memory --format=csv,noheader,nounits -lms 500
	sample "$files/$1.pmon" pmon -s um -d 1
}

samplers_stop() {
	kill "${samplers[@]}" 2>/dev/null || true
	wait "${samplers[@]}" 2>/dev/null || true
	samplers=()
}

# Largest memory in bytes that nvidia-smi listed for a process.
smi_memory() { # CASE PID
	awk -F '[ ,]+' -v pid="$2" -v unit=$mib '$2 == pid && $3 > most { most = $3 } END { print most ? most * unit : "unknown" }' "$files/$1.processes"
}

# Seconds in which a process kept the GPU busy, from pmon, which prints a line per second.
smi_seconds() { # CASE PID
	awk -v pid="$2" '$2 == "#" && !sm { for (i = 3; i <= NF; i++) if ($i == "sm") sm = i - 1 }
		sm && $3 == pid && $sm ~ /^[0-9]+$/ { sum += $sm / 100 } END { print sum + 0 }' "$files/$1.pmon"
}

# Mean of a column of the GPU between two times: 2 utilization, 3 MiB, 4 watts, 5 degrees, 6 and 7 MHz.
smi_mean() { # CASE COLUMN FROM TO
	awk -F '[ ,]+' -v column="$2" -v from="$3" -v to="$4" '$1 >= from && $1 <= to && $column ~ /^[0-9.]+$/ { sum += $column; n++ }
		END { if (n) print sum / n; else print "nan" }' "$files/$1.gpu"
}

# ---- ours ----

query() { # COMMAND ARGUMENT...
	"$exporter" "$@" --history.path="$files/history.db"
}

# The mean (over time) or largest value of a column of a run's samples; "unknown" when no sample has it.
ours() { # CASE mean|max COLUMN
	awk -F , -v what="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$column != "" { n++; time += $2; sum += $2 * $column; if (n == 1 || $column > max) max = $column }
		END { if (!n) print "unknown"
		else if (what == "max") printf "%.0f\n", max
		else print time ? sum / time : "unknown" }' "$files/$1.csv"
}

# A number of an answer, by its path of keys and positions: "runs.0.gpu_usage_mean"; "unknown" when the answer lacks it.
# The answer of a server follows its HTTP headers.
answer() { # FILE PATH
	python3 -c '
import json, sys
text = open(sys.argv[1]).read()
value = json.loads(text[text.index("{"):])
for key in sys.argv[2].split("."):
    value = value[int(key)] if isinstance(value, list) else value.get(key)
    if value is None:
        break
print("unknown" if value is None else value)' "$1" "$2"
}

# Seconds in which a run kept the GPU busy. A sample with an unknown value, such as the last one, counts as the mean of
# the others.
gpu_seconds() { # CASE
	local mean seconds
	mean=$(answer "$files/$1.json" runs.0.gpu_usage_mean)
	seconds=$(answer "$files/$1.json" runs.0.duration_seconds)
	awk -v mean="$mean" -v seconds="$seconds" 'BEGIN { print mean == "unknown" || seconds == "unknown" ? "unknown" : mean * seconds }'
}

# ---- the table ----

# Prints a row. Fails when `ours` differs from `reference` by more than `allowed`, or is unknown.
row() { # CASE QUANTITY OURS REFERENCE ALLOWED
	local verdict
	verdict=$(awk -v a="$3" -v b="$4" -v most="$5" 'BEGIN { number = "^-?[0-9.]+(e[-+]?[0-9]+)?$"
		if (a !~ number || b !~ number) { print "FAILED: unknown"; exit }
		d = a - b; d = d < 0 ? -d : d; print (d <= most + 1e-9 ? "ok" : "FAILED"), "(differs by " d ", allowed " most ")" }')
	printf '%-10s  %-34s  %16s  %16s  %s\n' "$1" "$2" "$3" "$4" "$verdict"
	[ "${verdict#FAILED}" = "$verdict" ] || failures=$((failures + 1))
}

same() { # CASE QUANTITY OURS REFERENCE
	local verdict=ok
	[ "$3" = "$4" ] || { verdict=FAILED && failures=$((failures + 1)); }
	printf '%-10s  %-34s  %16s  %16s  %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

part() { # VALUE SHARE
	awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'
}

# ---- cases ----

await() { # PATTERN FILE
	for _ in $(seq 200); do
		! grep -q "$1" "$2" 2>/dev/null || return 0
		sleep 0.1
	done
	echo "no $1 in $2 after 20 s" >&2
	exit 1
}

# Sets pid, busy and seconds from what the load printed.
read_load() { # CASE
	read -r pid busy seconds < <(awk '$1 == "pid" { pid = $2 }
		$1 == "phase" { split($3, s, "="); split($4, b, "="); seconds += s[2]; busy += b[2] } END { print pid, busy, seconds }' "$files/$1.load")
}

# Runs the load below the wrapper and compares memory and time.
job() { # CASE LOAD-ARGUMENT...
	local name=$1 from to
	shift
	samplers_start "$name"
	sleep 1
	from=$EPOCHREALTIME
	"$exporter" run --job-name="gpu/$name" --history.path="$files/history.db" --no-cloud.discovery -- "$load" "$@" \
		>"$files/$name.load" 2>"$files/$name.summary"
	to=$EPOCHREALTIME
	sleep 1
	samplers_stop
	query csv --job-name="gpu/$name" >"$files/$name.csv"
	query runs --job-name="gpu/$name" >"$files/$name.json"
	read_load "$name"
	local memory worked allowed
	memory=$(smi_memory "$name" "$pid")
	worked=$(gpu_seconds "$name")
	# The start of CUDA takes half a second of the run; the driver's own samples are within 3 points.
	allowed=$(awk -v s="$seconds" 'BEGIN { print 1 + s * 0.03 }')
	row "$name" "VRAM peak, bytes" "$(ours "$name" max vram_peak_bytes)" "$memory" "$(part "$memory" 0.01)"
	# If two processes work at once, the driver gives each of its samples to one of them.
	[ "$name" = stranger ] || row "$name" "GPU seconds, beside the load's" "$worked" "$busy" "$allowed"
	row "$name" "GPU seconds, beside pmon's" "$worked" "$(smi_seconds "$name" "$pid")" "$(awk -v a="$allowed" 'BEGIN { print a + 1 }')"
	row "$name" "GPU of the machine, mean ratio" "$(ours "$name" mean system_gpu_usage)" "$(part "$(smi_mean "$name" 2 "$from" "$to")" 0.01)" \
		"$(awk -v s="$seconds" 'BEGIN { print 0.03 + 1 / s }')"
	row "$name" "GPUs" "$(ours "$name" max gpus_used)" 1 0
}

case_full() { job full 4096:20:100; }
case_third() { job third 4096:20:30; }
case_child() { job child --child 2048:10:100; }
case_bursts() { job bursts 512:1:100 512:3:0 512:1:100 512:3:0 512:1:100 512:1:0; }
case_peak() { job peak 1024:4:20 6144:2:20 1024:4:20; }

# A process of nobody's uses the GPU at the same time.
case_stranger() {
	setsid "$load" 10240:60:50 >"$files/stranger.other" &
	local other=$!
	started+=("$other")
	await pid "$files/stranger.other"
	sleep 1
	job stranger 2048:12:30
	kill $other
	wait $other 2>/dev/null || true
	started=()
	local both
	both=$(awk -F '[ ,]+' -v unit=$mib '{ sum[$1] += 0; n[$2] = $3 > n[$2] ? $3 : n[$2] } END { for (p in n) all += n[p]; print all * unit }' \
		"$files/stranger.processes")
	row stranger "VRAM of the machine, bytes" "$(ours stranger max system_gpu_vram_bytes)" "$both" "$(part "$both" 0.05)"
}

# A job that ends before the second tick may be measured or unknown. It must not be reported as using no GPU.
case_short() {
	for try in 1 2 3; do
		"$exporter" run --job-name=gpu/short --history.path="$files/history.db" --no-cloud.discovery -- "$load" 1024:1.5:100 \
			>"$files/short.load" 2>"$files/short.summary"
		query csv --job-name=gpu/short >"$files/short.csv"
		local told
		told=$(ours short max gpus_used)
		[ "$told" != unknown ] || told=1
		row short "GPUs of run $try, 1 or unknown" "$told" 1 0
		cp "$files/short.csv" "$files/short$try.csv"
	done
	query runs --job-name=gpu/short >"$files/short.json"
}

# ---- the server ----

get() { # PATH
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$1" >&3
	cat <&3
	exec 3>&-
}

server_start() { # OPTION...
	"$exporter" serve --web.listen-address=127.0.0.1:0 --history.path="$files/server.db" --no-cloud.discovery "$@" 2>"$files/server.log" &
	server=$!
	started+=("$server")
	for _ in $(seq 100); do
		port=$(sed -n 's/.*127\.0\.0\.1:\([0-9][0-9]*\).*/\1/p' "$files/server.log" | head -n 1)
		[ -z "$port" ] || return 0
		sleep 0.1
	done
	cat "$files/server.log" >&2
	exit 1
}

server_stop() {
	kill "$server"
	wait "$server" || true
	started=()
}

# The value of a metric in a scrape that was kept.
metric() { # FILE NAME-WITH-LABELS
	awk -v name="$2" 'index($0, name " ") == 1 { print $NF; exit }' "$1"
}

label() { # FILE LABEL
	sed -n "s/^rightsize_gpu_info{.*[{,]$2=\"\([^\"]*\)\".*/\1/p" "$1" | head -n 1
}

smi() { # FIELD
	nvidia-smi -i 0 --query-gpu="$1" --format=csv,noheader,nounits
}

mean_metric() { # NAME
	awk -v name="$1" 'index($0, name " ") == 1 { sum += $NF; n++ } END { if (n) print sum / n; else print "unknown" }' "$files"/scrape.*
}

case_server() {
	local from to first=$files/scrape.10
	rm -f "$files/energy"
	server_start
	samplers_start server
	RIGHTSIZE_JOB_NAME=gpu/served "$load" 3072:21:60 >"$files/server.load" &
	local job=$!
	started+=("$job")
	await pid "$files/server.load"
	sleep 3
	from=$EPOCHREALTIME
	for i in $(seq 10 24); do
		get /metrics >"$files/scrape.$i"
		to=$EPOCHREALTIME
		printf '%s %s\n' "$to" "$(metric "$files/scrape.$i" 'rightsize_gpu_energy_joules_total{gpu="0"}')" >>"$files/energy"
		sleep 1
	done
	wait $job
	sleep 3
	samplers_stop
	get '/runs?job_name=gpu/served' >"$files/served.json"
	get '/recommend?job_name=gpu/served' >"$files/recommend.json"
	server_stop
	read_load server

	same server "name" "$(label "$first" name)" "$(smi name)"
	same server "UUID" "$(label "$first" uuid)" "$(smi uuid)"
	same server "driver" "$(label "$first" driver_version)" "$(smi driver_version)"
	same server "PCI address" "$(label "$first" pci)" "$(smi pci.bus_id | tr '[:upper:]' '[:lower:]' | sed 's/^0000//')"
	same server "slices (MIG)" "$(grep -c '^rightsize_gpu_mig{' "$first" || true)" "$(nvidia-smi -L | grep -c MIG || true)"
	row server "memory of the GPU, bytes" "$(metric "$first" 'rightsize_gpu_memory_total_bytes{gpu="0"}')" "$(part "$(smi memory.total)" $mib)" $mib
	row server "power limit, W" "$(metric "$first" 'rightsize_gpu_power_limit_watts{gpu="0"}')" "$(smi enforced.power.limit)" 0.01
	local watts
	watts=$(smi_mean server 4 "$from" "$to")
	row server "utilization, mean ratio" "$(mean_metric 'rightsize_gpu_utilization_ratio{gpu="0"}')" \
		"$(part "$(smi_mean server 2 "$from" "$to")" 0.01)" 0.05
	row server "memory in use, mean bytes" "$(mean_metric 'rightsize_gpu_memory_used_bytes{gpu="0"}')" \
		"$(part "$(smi_mean server 3 "$from" "$to")" $mib)" "$(part $mib 16)"
	row server "power, mean W" "$(mean_metric 'rightsize_gpu_power_watts{gpu="0"}')" "$watts" "$(part "$watts" 0.05)"
	row server "temperature, mean degrees" "$(mean_metric 'rightsize_gpu_temperature_celsius{gpu="0"}')" "$(smi_mean server 5 "$from" "$to")" 1.5
	row server "SM clock, mean MHz" "$(part "$(mean_metric 'rightsize_gpu_clock_hertz{gpu="0",clock="sm"}')" 1e-6)" \
		"$(smi_mean server 6 "$from" "$to")" 60
	row server "memory clock, mean MHz" "$(part "$(mean_metric 'rightsize_gpu_clock_hertz{gpu="0",clock="memory"}')" 1e-6)" \
		"$(smi_mean server 7 "$from" "$to")" 1
	# The counter is read about every 5 s, so the time counts from its first change to its last.
	local joules
	joules=$(awk 'NR > 1 && $2 != value { if (!n++) { since = $1; begin = $2 } till = $1; end = $2 } { value = $2 }
		END { if (n > 1) print (end - begin) / (till - since); else print "unknown" }' "$files/energy")
	row server "energy of a second, J" "$joules" "$watts" "$(part "$watts" 0.15)"
	local memory
	memory=$(smi_memory server "$pid")
	row server "VRAM of the job, bytes" "$(answer "$files/served.json" runs.0.vram_peak_bytes)" \
		"$memory" "$(part "$memory" 0.01)"
	row server "usage of the job, mean ratio" "$(mean_metric 'rightsize_job_gpu_usage{job_name="gpu/served"}')" 0.6 0.05
	row server "GPUs recommended" "$(answer "$files/recommend.json" resources.gpu)" 1 0
}

# CPU seconds of a process and its threads, from schedstat, which counts nanoseconds.
cpu_seconds() { # PID
	cat "/proc/$1"/task/*/schedstat | awk '{ sum += $1 } END { print sum / 1e9 }'
}

# Prints what 15 ticks cost; the GPU collector may take 0.5 % of a CPU.
case_cost() {
	local ticks=15 option begin
	"$load" 1024:60:0 >"$files/cost.load" &
	started+=($!)
	await pid "$files/cost.load"
	local -A cost
	for option in --collector.gpu --no-collector.gpu; do
		local kept=("${started[@]}")
		server_start "$option"
		sleep 4
		begin=$(cpu_seconds "$server")
		sleep $ticks
		cost[$option]=$(awk -v a="$begin" -v b="$(cpu_seconds "$server")" -v n=$ticks 'BEGIN { print (b - a) * 1e3 / n }')
		printf '%-10s  %s: %s ms of CPU each second; %s\n' cost "$option" "${cost[$option]}" "$(grep VmRSS "/proc/$server/status" | tr -s '\t ' ' ')"
		server_stop
		started=("${kept[@]}")
	done
	row cost "CPU of the GPU collector, ms/s" "$(awk -v a="${cost[--collector.gpu]}" -v b="${cost[--no-collector.gpu]}" 'BEGIN { print a - b }')" 0 5
	kill "${started[@]}"
	wait "${started[@]}" 2>/dev/null || true
	started=()
	for option in --collector.gpu --no-collector.gpu; do
		for try in 1 2 3; do
			begin=$EPOCHREALTIME
			"$exporter" run --quiet --job-name=gpu/true --history.path="$files/history.db" --no-cloud.discovery "$option" -- true
			printf '%-10s  %s: run of true, try %s: %s s\n' cost "$option" "$try" "$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
		done
	done
}

cases=("$@")
[ $# -gt 0 ] || cases=(full third child bursts stranger peak short server cost)
printf '%-10s  %-34s  %16s  %16s\n' case quantity ours reference
for name in "${cases[@]}"; do
	"case_$name"
done
[ $failures = 0 ] || { echo "$failures FAILED" >&2; exit 1; }
echo passed
