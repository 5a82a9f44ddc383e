# The assertions inside the VM, for the shell of busybox.
G=/sys/fs/cgroup
FAILED=0
N=0

# is WHAT VALUE OPERATOR NUMBER [NUMBER]: prints the assertion, and remembers a failure. ~ means within 2 % and 20 ms.
is() {
	if awk -v v="$2" -v n="$4" -v m="$5" "BEGIN {
		if (v == \"\" || v == \"null\") exit 1
		op = \"$3\"
		ok = op == \">=\" ? v >= n : op == \"<=\" ? v <= n : op == \"in\" ? v >= n && v <= m : \
			(v - n) * (v - n) <= (n * 0.02 + 0.02) * (n * 0.02 + 0.02)
		exit !ok }"; then
		printf 'ok      %-64s %s %s %s %s\n' "$1" "$2" "$3" "$4" "$5"
	else
		printf 'NOT OK  %-64s %s %s %s %s\n' "$1" "$2" "$3" "$4" "$5"
		FAILED=1
	fi
}

says() {
	if [ "$2" = "$3" ]; then
		printf 'ok      %-64s %s\n' "$1" "$2"
	else
		printf 'NOT OK  %-64s %s instead of %s\n' "$1" "$2" "$3"
		FAILED=1
	fi
}

# of KEY: from the JSON in /tmp/answer.
of() { sed -n "s/.*\"$1\": \"\{0,1\}\([^\",}]*\).*/\1/p" /tmp/answer | head -n 1; }
# sample NAME: of /tmp/metrics.
sample() { awk -v name="$1" '$1 == name { print $2 }' /tmp/metrics; }
# counted FILE KEY: of a group's file.
counted() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

group() {
	N=$((N + 1))
	mkdir "$G/g$N"
	HERE=$G/g$N
}

# Runs the rest in the group, with its own cgroup namespace, as in a container.
contained() {
	sh -c 'echo $$ >'"$HERE"'/cgroup.procs
		exec unshare.real -C -m sh -c "umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec \"\$@\"" - "$@"' - "$@"
}

# wrapped JOB FLAGS COMMAND...
wrapped() {
	job=$1
	flags=$2
	shift 2
	contained rightsize-exporter run "--job-name=$job" --history.path=/tmp/h.db --quiet $flags -- "$@"
	CODE=$?
	rightsize-exporter runs "--job-name=$job" --history.path=/tmp/h.db >/tmp/answer
}

echo "-- run, inside of a container: CPU time, quota"
for flags in "" "--no-run.cgroup"; do
	group
	echo "50000 100000" >"$HERE/cpu.max"
	# The job's own report of its CPU time, written at its end. In an emulated machine, the kernel takes as long as the
	# program, and so do other tasks of the host.
	wrapped "busy$flags" "$flags" sh -c "read -r used </proc/\$\$/stat; echo \"\$used\" >/tmp/before; cat /sys/fs/cgroup/cpu.stat >/tmp/first; accuracy_job busy 0.5; cat /sys/fs/cgroup/cpu.stat >/tmp/last
		read -r used </proc/\$\$/stat; echo \"\$used\" >/tmp/used"
	# Before the command, the process was a copy of the wrapper. That time is not part of the job's.
	before=$(awk '{ print ($14 + $15 + $16 + $17) / 100 }' /tmp/before)
	used=$(awk '{ print ($14 + $15 + $16 + $17) / 100 }' /tmp/used)
	held=$(echo "$(counted /tmp/first throttled_usec) $(counted /tmp/last throttled_usec)" | awk '{ print ($2 - $1) / 1e6 }')
	says "exit code" "$CODE" 0
	says "CPU time comes from" "$(of cpu_source)" "$([ -z "$flags" ] && echo cgroup || echo rusage)"
	is "CPU seconds, of two threads that burn 0.5 s each" "$(of cpu_seconds)" ">=" 0.99
	is "CPU seconds, by the job's own account" "$used" ">=" 0.98
	is "CPU seconds, beside the job's own account" "$(of cpu_seconds)" in \
		"$(awk "BEGIN { print ($used - $before) * 0.98 - 0.04 }")" "$(awk "BEGIN { print $used * 1.1 + 0.1 }")"
	is "not more than the container's" "$(of cpu_seconds)" "<=" "$(counted "$HERE/cpu.stat" usage_usec | awk '{ print $1 / 1e6 }')"
	is "seconds held back by the quota" "$held" ">=" 0.2
	is "seconds held back, from the job's first moment on" "$(of cpu_throttled_seconds)" ">=" "$held"
	is "not more than the container was" "$(of cpu_throttled_seconds)" "<=" "$(counted "$HERE/cpu.stat" throttled_usec | awk '{ print $1 / 1e6 }')"
done
echo "-- run, beside a neighbour in the same group: with all in sight, in a PID namespace, and with the /proc around it"
group
sh -c "echo \$\$ >$HERE/cgroup.procs; exec accuracy_job busy 1000" &
neighbour=$!
for place in "" "unshare.real -pmf --mount-proc" "unshare.real -pf"; do
	sh -c "echo \$\$ >$HERE/cgroup.procs; exec \"\$@\"" - $place rightsize-exporter run "--job-name=beside $place" \
		--history.path=/tmp/h.db --quiet -- accuracy_job busy 0.3
	says "${place:-plain}: exit code" $? 0
	rightsize-exporter runs "--job-name=beside $place" --history.path=/tmp/h.db >/tmp/answer
	# The neighbour uses as much of the machine as the job.
	is "${place:-plain}: CPU seconds, of two threads that burn 0.3 s each" "$(of cpu_seconds)" in 0.58 0.9
	is "${place:-plain}: of others at most" "$(of cpu_foreign_seconds)" "<=" 0.2
done
kill "$neighbour"
wait "$neighbour" 2>/dev/null

echo "-- attached to a job with a group of its own: CPU time, memory"
mkfifo /tmp/go
# attached CASE SIZE: the group's own account is the truth.
attached() {
	accuracy_launch --enter "$HERE" -- accuracy_job "$1" "$2" </tmp/go >/tmp/launched &
	exec 3>/tmp/go
	while [ ! -s /tmp/launched ]; do usleep 10000; done
	accuracy_attach "$(head -n 1 /tmp/launched)" >/tmp/answer 2>/tmp/ready &
	while ! grep -q ready /tmp/ready 2>/dev/null; do usleep 10000; done
	echo go >&3
	wait
	exec 3>&-
	rm -f /tmp/launched /tmp/ready
}
for job in waited ignored daemons storm storm_ignored root_first; do
	group
	attached "$job" 0.05
	is "$job: CPU seconds" "$(of cpu_seconds)" "~" "$(counted "$HERE/cpu.stat" usage_usec | awk '{ print $1 / 1e6 }')"
	says "$job: CPU time comes from" "$(of cpu_source)" cgroup
done
group
echo 700M >"$HERE/memory.max"
attached spike_child 1
is "peak of a spike of 500 MiB for 300 ms" "$(of memory_peak_bytes)" in 498000000 551000000
is "peak of its group" "$(of memory_cgroup_peak_bytes)" "~" "$(cat "$HERE/memory.peak" 2>/dev/null || of memory_cgroup_peak_bytes)"
is "its limit" "$(of memory_limit_bytes)" in 734003200 734003200
is "processes killed" "$(of oom_kills)" in 0 0

echo "-- killed for memory"
group
echo 200M >"$HERE/memory.max"
attached spike_root 1
is "attached: kills" "$(of oom_kills)" in 1 1
is "attached: signal" "$(of exit_signal)" in 9 9
is "attached: limit" "$(of memory_limit_bytes)" in 209715200 209715200
group
echo 200M >"$HERE/memory.max"
wrapped killed "" accuracy_job brief
wrapped killed "" accuracy_job spike_root
says "run: exit code" "$CODE" 137
says "run: outcome" "$(of outcome)" oom_killed
is "run: limit that it met" "$(of memory_limit_bytes)" in 209715200 209715200
rightsize-exporter stats --job-name=killed --history.path=/tmp/h.db >/tmp/answer
is "statistics are of the run that succeeded" "$(of runs_analyzed)" in 1 1
is "and leave out the one that was killed" "$(of runs_excluded)" in 1 1

echo "-- serve, inside of a container: what its own group counts"
group
echo "50000 100000" >"$HERE/cpu.max"
echo 300M >"$HERE/memory.max"
echo 250M >"$HERE/memory.high"
echo 99 >"$HERE/pids.max"
contained rightsize-exporter serve --web.listen-address=127.0.0.1:9400 --history.path=/tmp/s.db 2>/tmp/log &
(echo 0 >"$HERE/cgroup.procs" && exec accuracy_job busy 0.3) &
until grep -q listening /tmp/log 2>/dev/null; do usleep 100000; done
sh -c "echo \$\$ >$HERE/cgroup.procs; dd if=/dev/zero of=/dev/vda bs=1M count=8 conv=fsync 2>/dev/null; dd if=/dev/zero of=/tmp/big bs=1M count=255 2>/dev/null"
sleep 1
wget -q -O /tmp/metrics http://127.0.0.1:9400/metrics
usage=$(counted "$HERE/cpu.stat" usage_usec | awk '{ print $1 / 1e6 }')
is "CPU seconds" "$(sample rightsize_cgroup_cpu_seconds_total)" in 0.6 "$usage"
is "CPU limit" "$(sample rightsize_cgroup_cpu_limit_cores)" in 0.5 0.5
is "seconds held back" "$(sample rightsize_cgroup_cpu_throttled_seconds_total)" ">=" 0.05
is "memory" "$(sample rightsize_cgroup_memory_usage_bytes)" in 1 314572800
is "memory, high-water mark" "$(sample rightsize_cgroup_memory_peak_bytes)" in 200000000 314572800
is "memory limit" "$(sample rightsize_cgroup_memory_limit_bytes)" in 314572800 314572800
is "of it page cache and tmpfs" "$(sample rightsize_cgroup_memory_cache_bytes)" ">=" 100000000
is "of it tmpfs" "$(sample rightsize_cgroup_memory_shmem_bytes)" ">=" 100000000
is "met memory.high" "$(sample rightsize_cgroup_memory_high_events_total)" ">=" 1
is "met memory.max" "$(sample rightsize_cgroup_memory_max_events_total)" ">=" 0
is "processes killed" "$(sample rightsize_cgroup_oom_kills_total)" in 0 0
is "waited for a CPU (PSI)" "$(sample rightsize_cgroup_cpu_pressure_seconds_total)" ">=" 0.05
is "waited for memory (PSI)" "$(sample rightsize_cgroup_memory_pressure_seconds_total)" ">=" 0
is "waited for storage (PSI)" "$(sample rightsize_cgroup_io_pressure_seconds_total)" ">=" 0
is "threads" "$(sample rightsize_cgroup_tasks)" in 2 99
is "limit of threads" "$(sample rightsize_cgroup_tasks_limit)" in 99 99
is "bytes written to storage" "$(sample rightsize_cgroup_io_written_bytes_total)" in 8388608 9000000
exit $FAILED
