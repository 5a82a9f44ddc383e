/* The machine that the exporter runs on: which server it is, what it does now, and which jobs run on it. All of it is read from /metrics. */

const READING_SECONDS = 2;

/* Half an hour of charts. */
const READINGS_KEPT = 900;

/* Names of metrics, by what they are here. A name that no collector has is left out of the answer. */
const MACHINE_GAUGES = {
	at: "rightsize_snapshot_timestamp_seconds", cpu: "rightsize_cpu_usage_cores", cpus: "rightsize_server_cpu_cores",
	memory: "rightsize_memory_used_bytes", memoryTotal: "rightsize_memory_total_bytes", swapTotal: "rightsize_swap_total_bytes",
	swapFree: "rightsize_swap_free_bytes", space: "rightsize_disk_space_used_bytes", spaceTotal: "rightsize_disk_space_size_bytes",
	booted: "rightsize_boot_time_seconds",
	gpu: "rightsize_gpu_utilization_ratio", gpus: "rightsize_gpu_up", vram: "rightsize_gpu_memory_used_bytes", vramTotal: "rightsize_gpu_memory_total_bytes"};
const MACHINE_COUNTERS = {
	read: "rightsize_disk_read_bytes_total", written: "rightsize_disk_written_bytes_total",
	received: "rightsize_network_received_bytes_total", sent: "rightsize_network_sent_bytes_total"};
const JOB_METRICS = {
	runs: "rightsize_job_active_runs", duration: "rightsize_job_duration_seconds", cpuSeconds: "rightsize_job_cpu_seconds_total",
	memory: "rightsize_job_memory_bytes", peak: "rightsize_job_memory_peak_bytes", processes: "rightsize_job_processes"};
const MACHINE_INFO = "rightsize_server_info";

/* The lines of an exposition, by name: [{labels, value}]. */
function parsedMetrics(text) {
	const all = new Map();
	for (const [, name, labels, value] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)) {
		const pairs = [...(labels || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, k, v]) => [k, v.replace(/\\(.)/g, (_, c) => c === "n" ? "\n" : c)]);
		if (!all.has(name))
			all.set(name, []);
		all.get(name).push({labels: Object.fromEntries(pairs), value: Number(value)});
	}
	return all;
}

/* One reading: {at, cpu, ...} summed over disks, interfaces and GPUs; NaN where it is unknown; jobs by name. */
async function readMachine(signal) {
	const link = document.getElementById("metrics"), names = [MACHINE_GAUGES, MACHINE_COUNTERS, JOB_METRICS].flatMap(Object.values).concat(MACHINE_INFO);
	const all = parsedMetrics(await askText(link.getAttribute("href") + "?" + new URLSearchParams(names.map(n => ["name", n])), null, signal));
	const sum = name => all.has(name) ? all.get(name).reduce((total, p) => total + p.value, 0) : NaN, jobs = new Map();
	const read = {jobs, info: ((all.get(MACHINE_INFO) || [])[0] || {}).labels || {}};
	for (const [key, name] of Object.entries({...MACHINE_GAUGES, ...MACHINE_COUNTERS}))
		read[key] = sum(name);
	/* The clock of the CPU counts in hundredths of a second, which may be more than there are. */
	if (read.cpu > read.cpus)
		read.cpu = read.cpus;
	for (const [key, name] of Object.entries(JOB_METRICS))
		for (const {labels, value} of all.get(name) || [])
			jobs.set(jobKey(labels), {...jobs.get(jobKey(labels)) || jobOf(labels), [key]: value});
	return read;
}

/* Returns the growth of a counter a second. NaN = the counter began anew. */
function rate(now, before, key) {
	const grown = now[key] - before[key];
	return grown >= 0 && now.at > before.at ? grown / (now.at - before.at) : NaN;
}

function machineCharts(read) {
	const level = (label, value) => ({...LEVELS.limit, colour: "dim", label, value});
	return [
		{title: "CPU", tall: true, write: v => digits(v), levels: [level("cores", read.cpus)], series: [{key: "cpu", label: "in use, cores", colour: "series-1", fill: "fill-1"}]},
		{title: "Memory", tall: true, write: bytes, binary: true, levels: [level("in all", read.memoryTotal)], series: [
			{key: "memory", label: "in use", colour: "series-1", fill: "fill-1"}, {key: "swap", label: "swapped out", colour: "series-3"}]},
		{title: "GPU", write: v => digits(v), series: [{key: "gpu", label: "GPUs busy", colour: "series-1", fill: "fill-1"}]},
		{title: "VRAM", write: bytes, binary: true, series: [{key: "vram", label: "in use", colour: "series-1", fill: "fill-1"}]},
		{title: "Disk", write: bytesPerSecond, binary: true, series: [{key: "read", label: "read", colour: "series-1"}, {key: "written", label: "written", colour: "series-3"}]},
		{title: "Network", write: bytesPerSecond, binary: true, series: [{key: "received", label: "received", colour: "series-1"}, {key: "sent", label: "sent", colour: "series-3"}]},
	];
}

/* The readings as series. Rates begin with the second one. */
function machineSeries(all) {
	const value = v => isKnown(v) ? v : null, columns = {};
	for (const key of ["cpu", "memory", "gpu", "vram"])
		columns[key] = all.map(r => value(r[key]));
	if (last(all).swapTotal > 0)
		columns.swap = all.map(r => value(r.swapTotal - r.swapFree));
	for (const key of Object.keys(MACHINE_COUNTERS))
		columns[key] = all.map((r, i) => i ? value(rate(r, all[i - 1], key)) : null);
	for (const key of Object.keys(columns))
		if (!columns[key].some(isKnown))
			delete columns[key];
	return {n: all.length, at: all.map(r => r.at), columns};
}

const runningJobs = read => [...read.jobs.values()].filter(j => j.runs > 0);

function machineFigures(read) {
	const jobs = runningJobs(read).length;
	return h("dl", {class: "figures"},
		figure("CPU, now", read.cpu, read.cpus, cores),
		figure("Memory, now", read.memory, read.memoryTotal, bytes, memoryOf(read.memory, read.memoryTotal)),
		read.gpus > 0 ? figure("GPUs, now", read.gpu, read.gpus, gpus) : figure("Disk space", read.space, read.spaceTotal, bytes, memoryOf(read.space, read.spaceTotal)),
		h("div", {class: "figure"}, h("dt", null, "Running now"), h("dd", null, h("strong", {class: jobs ? "live" : null}, `${count(jobs)} job${jobs === 1 ? "" : "s"}`))));
}

const MACHINE_JOBS = [
	{title: "Job", value: j => j.job_name, cell: j => h("a", {href: jobLink(j)}, jobNamed(j))},
	{title: "Runs now", number: true, wide: true, value: j => j.runs, cell: j => count(j.runs)},
	{title: "For", number: true, wide: true, value: j => j.duration, cell: j => isKnown(j.duration) ? seconds(Math.round(j.duration)) : UNKNOWN},
	{title: "CPU, now", number: true, value: j => j.cpu, cell: j => isKnown(j.cpu) ? cores(j.cpu) : faint("–")},
	{title: "Memory, now", number: true, value: j => j.memory, cell: j => bytes(j.memory)},
	{title: "Highest so far", number: true, wide: true, value: j => j.peak, cell: j => bytes(j.peak)},
	{title: "Processes", number: true, wide: true, value: j => j.processes, cell: j => isKnown(j.processes) ? count(j.processes) : UNKNOWN},
];

/* The price of this server: what /servers says of this one alone. null if it has none. */
async function machinePrice(server, signal) {
	if (!server || !server.vendor_id || !server.instance_type)
		return null;
	const answer = await askIfAny("servers", {include: `${server.vendor_id}~${server.instance_type}`, vendor: server.vendor_id, regions: server.region, architecture: "any",
		cpu_allocation: "any", allocation: server.allocation || "ondemand", reserve: "none", limit: 1, details: 1}, signal);
	return answer && answer.servers[0] || null;
}

function machineLead(server, price) {
	if (!server || !server.instance_type)
		return "Not known as a server of a cloud. Set --server.vendor and --server.type to see its price.";
	return [named(`${server.vendor_id || ""} ${server.instance_type}`.trim()), server.region && [" in ", named(server.region)], server.allocation && `, ${ALLOCATIONS[server.allocation] || server.allocation}`,
		price ? `: ${count(price.vcpus)} vCPUs, ${mebibytes(price.memory_amount)}, ${money(price.price, price.currency)} an hour, ${money(price.price * HOURS_OF_A_MONTH, price.currency)} a month.` :
			". No price of it is known."];
}

function machineFacts(read, server, price) {
	const {arch, kernel, cpu_model: model} = read.info;
	return card("Server", facts(
		["Host", server && server.host && named(server.host)],
		["Cloud", server && server.vendor_id],
		["Server", server && server.instance_type && named(server.instance_type)],
		["Region", server && server.region && named(server.region)],
		["Zone", server && server.zone],
		["Said by", server && server.source],
		["Processor", model ? named(model) : null],
		["Cores", isKnown(read.cpus) ? count(read.cpus) : null],
		["Memory", isKnown(read.memoryTotal) ? bytes(read.memoryTotal) : null],
		["Disk space", isKnown(read.space) ? memoryOf(read.space, read.spaceTotal) : null],
		["Architecture", arch],
		["Kernel", kernel],
		["Up since", isKnown(read.booted) ? day(read.booted) : null]),
	h("p", null, h("a", {href: finderLink({cpu: price ? price.vcpus : read.cpus, memory: price ? price.memory_amount / 1024 : Math.round(read.memoryTotal / 1024 ** 3), where: server && server.region})}, "Find a server like this")));
}

async function machineView(_, signal) {
	const [first, server] = await Promise.all([readMachine(signal), askIfAny("server", null, signal)]), price = await machinePrice(server, signal);
	const readings = [first], figures = h("div", null, machineFigures(first)), charts = h("section", {class: "card"}, h("p", {class: "dim"}, "Charts begin with the next reading."));
	const more = h("div"), table = new Table("running jobs", MACHINE_JOBS, [], null), none = h("p", {class: "dim"}, "No job runs on this machine now.");
	let group = null;

	function tell() {
		const now = last(readings), before = readings[readings.length - 2], jobs = runningJobs(now);
		figures.replaceChildren(machineFigures(now));
		for (const j of jobs)
			j.cpu = before && before.jobs.has(jobKey(j)) ? rate({...j, at: now.at}, {...before.jobs.get(jobKey(j)), at: before.at}, "cpuSeconds") : NaN;
		table.setRows(jobs);
		table.node.hidden = jobs.length === 0;
		none.hidden = jobs.length > 0;
		draw();
	}
	function draw() {
		const series = machineSeries(readings);
		if (readings.length < 2)
			return;
		if (group && group.charts.length === machineCharts(first).filter(c => c.series.some(s => series.columns[s.key])).length) {
			group.setData(series);
			return;
		}
		stop();
		group = new ChartGroup(machineCharts(last(readings)), series, [], () => {});
		charts.replaceChildren(group.node);
		more.replaceChildren(...group.hasMore ? [card(last(readings).gpus > 0 ? "GPU, disk and network" : "Disk and network", group.more)] : []);
		group.start();
	}
	function stop() {
		if (group)
			group.stop();
		group = null;
	}
	async function again(abort) {
		const read = await readMachine(abort);
		if (!(read.at > last(readings).at))
			return;
		readings.push(read);
		readings.splice(0, readings.length - READINGS_KEPT);
		tell();
	}
	tell();
	return {
		title: "Machine",
		node: h("div", {class: "run"}, h("div", {class: "top"}, h("div", null, h("div", {class: "title"}, h("h1", {tabindex: "-1"}, "Machine ", server && server.host && named(server.host)),
			badge(["▶", "Live", "live"])), h("p", {class: "lead"}, machineLead(server, price)))),
		figures, charts, h("section", {class: "card"}, h("h2", null, "Jobs running on it"), none, table.node), more, machineFacts(first, server, price)),
		refresh: READING_SECONDS, again, stop,
	};
}
