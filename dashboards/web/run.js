/* One run: where it ran, what it used beside the runs before it, and how that went over time. */

const GROUND = {colour: "series-2", width: 1};

/* Which series make which chart. Only those that were measured are drawn. */
function runCharts(run) {
	const lines = (...all) => all.filter(([v]) => isKnown(v)).map(([value, label]) => ({value, label}));
	return [
		{title: "CPU", write: v => digits(v), lines: lines([run.requested_cpu_cores, "asked for"]), series: [
			{key: "system_cpu_cores", label: "whole machine", ...GROUND},
			{key: "cpu_cores", label: "this run, cores", colour: "series-1", fill: "fill-1"},
			{key: "cpu_throttled_cores", label: "throttled", colour: "series-3"}]},
		{title: "Memory", write: bytes, binary: true,
			lines: lines([run.memory_limit_bytes, "limit"], [run.requested_memory_bytes, "asked for"]), series: [
				{key: "memory_bytes", label: "this run", colour: "series-1", fill: "fill-1"},
				{key: "memory_peak_bytes", label: "high-water mark", colour: "series-3", dash: [4, 3], step: true},
				{key: "memory_swap_bytes", label: "swapped out", colour: "series-4", hidden: true},
				{key: "memory_cgroup_bytes", label: "control group, with cache", colour: "series-5", hidden: true},
				{key: "system_memory_used_bytes", label: "whole machine", ...GROUND, hidden: true}]},
		{title: "GPU", write: v => digits(v), series: [
			{key: "gpu_usage", label: "this run, GPUs busy", colour: "series-1", fill: "fill-1"},
			{key: "gpus_used", label: "GPUs held", colour: "series-3", step: true},
			{key: "system_gpu_usage", label: "whole machine", ...GROUND}]},
		{title: "VRAM", write: bytes, binary: true, series: [
			{key: "vram_bytes", label: "this run", colour: "series-1", fill: "fill-1"},
			{key: "vram_peak_bytes", label: "highest so far", colour: "series-3", dash: [4, 3], step: true},
			{key: "system_gpu_vram_bytes", label: "whole machine", ...GROUND}]},
		{title: "Disk", write: bytesPerSecond, binary: true, series: [
			{key: "disk_read_bytes_per_second", label: "read", colour: "series-1"},
			{key: "disk_written_bytes_per_second", label: "written", colour: "series-3"},
			{key: "system_disk_read_bytes_per_second", label: "machine read", ...GROUND, hidden: true},
			{key: "system_disk_written_bytes_per_second", label: "machine written", ...GROUND, dash: [2, 2], hidden: true}]},
		{title: "Disk space", write: bytes, binary: true, series: [
			{key: "disk_grown_bytes", label: "grown by this run", colour: "series-1"},
			{key: "system_disk_space_used_bytes", label: "in use on the machine", ...GROUND}]},
		{title: "Network", write: bytesPerSecond, binary: true, series: [
			{key: "network_received_bytes_per_second", label: "received", colour: "series-1"},
			{key: "network_sent_bytes_per_second", label: "sent", colour: "series-3"},
			{key: "system_network_received_bytes_per_second", label: "machine received", colour: "series-4"},
			{key: "system_network_sent_bytes_per_second", label: "machine sent", colour: "series-5"}]},
		{title: "Processes", write: v => digits(v), series: [
			{key: "processes", label: "processes", colour: "series-1", step: true},
			{key: "threads", label: "threads", colour: "series-3", step: true}]},
	];
}

/* The successful runs before this one, as the seeds' card has them: at most five. */
function earlierRuns(run, runs) {
	return runs.filter(r => r.outcome === "succeeded" && r.run_id !== run.run_id && r.started_at < run.started_at).slice(0, 5);
}

/* [name, key of the average, key of the peak, how to write it] */
const STATISTICS = [
	["CPU", "cpu_cores_mean", "cpu_cores_max", cores],
	["Memory", "memory_mean_bytes", "memory_peak_bytes", bytes],
	["GPU", "gpu_usage_mean", "gpu_usage_max", gpus],
	["VRAM", "vram_mean_bytes", "vram_peak_bytes", bytes],
	["Swap", null, "memory_swap_max_bytes", bytes],
	["Processes", null, "processes_max", count],
	["Threads", null, "threads_max", count],
];
const TOTALS = [
	["CPU time", "cpu_seconds", seconds],
	["Read from disk", "disk_read_bytes", bytes],
	["Written to disk", "disk_written_bytes", bytes],
	["Disk space, most", "system_disk_space_used_max_bytes", bytes],
	["Received, whole machine", "system_network_received_bytes", bytes],
	["Sent, whole machine", "system_network_sent_bytes", bytes],
	["Waited for a CPU", "cpu_wait_seconds", seconds],
	["Held back by a quota", "cpu_throttled_seconds", seconds],
	["OOM kills", "oom_kills", count],
];

function statisticsCard(run, runs) {
	const before = earlierRuns(run, runs), of = (key, pick) => key ? pick(before.map(r => r[key])) : NaN;
	const cell = (v, write) => h("td", {class: "number"}, isKnown(v) ? write(v) : h("span", {class: "dim"}, "–"));
	const measured = STATISTICS.filter(([, mean, max]) => isKnown(run[mean]) || (isKnown(run[max]) && (mean || run[max] > 0)));
	const rows = measured.map(([name, mean, max, write]) => h("tr", null, h("th", {scope: "row"}, name),
		cell(run[mean], write), cell(run[max], write), cell(of(mean, average), write), cell(of(max, largest), write)));
	const history = before.length === 0 ? "no successful run before this one" :
		before.length === 1 ? "the successful run before" : `the last ${before.length} successful runs before`;
	const table = h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Statistics"}, h("table", {class: "statistics"},
		h("thead", null,
			h("tr", null, h("td"), h("th", {scope: "colgroup", colspan: "2"}, "This run"), h("th", {scope: "colgroup", colspan: "2"}, "Before")),
			h("tr", null, h("td"), ["Average", "Peak", "Average", "Peak"].map(t => h("th", {scope: "col", class: "number"}, t)))),
		h("tbody", null, rows,
			h("tr", null, h("th", {scope: "row"}, "Duration"), h("td", {class: "number", colspan: "2"}, seconds(run.duration_seconds)),
				cell(of("duration_seconds", average), seconds), cell(of("duration_seconds", largest), seconds)))));
	return card("Statistics", table, h("p", {class: "dim"}, "Before: " + history + "."),
		facts(...TOTALS.filter(([, key]) => isKnown(run[key]) && run[key] > 0).map(([name, key, write]) => [name, write(run[key])])));
}

/* A run that does not say on which server it was, was on the one that answers only if it was on that machine. */
function serverCard(run, server) {
	const s = run.vendor_id || run.instance_type ? run : server && server.host && server.host === run.host ? server : {};
	return card("Server and cloud", facts(
		["Host", run.host ? named(run.host) : UNKNOWN],
		["Cloud", s.vendor_id || "unknown, or none"],
		["Server", s.instance_type],
		["Region", s.region],
		["Zone", s.zone],
		["Bought", s.allocation],
		["Price", isKnown(run.price) ? money(run.price, run.currency) + " an hour" : null],
		["Architecture", run.architecture],
		["Processor at least", run.cpu_level],
		["Cost of this run", isKnown(run.cost) ? money(run.cost, run.currency) : null],
		["Sampled every", seconds(run.interval_seconds)],
		["CPU time from", run.cpu_source],
		["CPU time", run.cpu_doubt],
		["Not measured", run.not_measured],
		["Memory from", run.memory_source],
		["Disk space from", run.disk_source],
		["Asked for", asked(run)],
		["Memory limit", isKnown(run.memory_limit_bytes) ? bytes(run.memory_limit_bytes) : null],
		["Attempt", isKnown(run.attempt) && run.attempt > 1 ? count(run.attempt) : null],
		["Input", isKnown(run.input_bytes) ? bytes(run.input_bytes) : null]));
}

function asked(run) {
	const parts = [isKnown(run.requested_cpu_cores) && cores(run.requested_cpu_cores),
		isKnown(run.requested_memory_bytes) && bytes(run.requested_memory_bytes)].filter(Boolean);
	return parts.length ? parts.join(", ") : null;
}

function phasesCard(phases) {
	if (!phases || phases.length < 2)
		return null;
	const known = (v, write) => h("td", {class: "number"}, isKnown(v) ? write(v) : h("span", {class: "dim"}, "–"));
	const gpu = phases.some(p => isKnown(p.gpu_mean));
	return card("Phases", h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Phases"}, h("table", null,
		h("thead", null, h("tr", null, h("th", {scope: "col"}, "Phase"),
			["From", "For", "CPU on average", "CPU needed", "Memory", gpu && "GPU"].filter(Boolean).map(t => h("th", {scope: "col", class: "number"}, t)))),
		h("tbody", null, phases.map((p, i) => h("tr", null, h("th", {scope: "row"}, String(i + 1)), known(p.start, seconds), known(p.seconds, seconds),
			known(p.cpu_cores_mean, cores), known(p.cpu_cores, cores), known(p.memory_bytes, bytes), gpu && known(p.gpu_mean, gpus)))))));
}

/* What went wrong, before anything else is read. */
function verdict(run) {
	if (run.outcome === "oom_killed")
		return h("p", {class: "verdict bad"}, `The kernel killed it for want of memory: it had used ${bytes(run.memory_peak_bytes)}` +
			(isKnown(run.memory_limit_bytes) ? ` of a limit of ${bytes(run.memory_limit_bytes)}.` : "."));
	if (run.outcome === "failed")
		return h("p", {class: "verdict bad"}, `It failed: ${ending(run) || "it is not known how"}.`);
	if (run.outcome === "interrupted")
		return h("p", {class: "verdict warn"}, "The exporter ended before the run did: what came after is not known.");
	return null;
}

function zoomTools(group) {
	const button = (sign, label, act) => h("button", {"aria-label": label, title: label, onclick: act}, sign);
	return h("div", {class: "zoom", role: "group", "aria-label": "Zoom of all charts"},
		button("+", "Zoom in", () => group.move(0.5, 0)), button("−", "Zoom out", () => group.move(2, 0)),
		button("←", "Earlier", () => group.move(1, -0.5)), button("→", "Later", () => group.move(1, 0.5)),
		button("Whole run", "Show the whole run", () => group.reset()),
		h("span", {class: "dim hint"}, "Drag across a chart to zoom all, double-click for the whole"));
}

function runSummary(run) {
	return facts(
		["Started", h("time", {datetime: run.started_at}, when(instant(run.started_at)))],
		["Duration", seconds(run.duration_seconds)],
		["Ended with", ending(run)],
		["CPU", isKnown(run.cpu_cores_mean) ? cores(run.cpu_cores_mean) + " on average" : UNKNOWN],
		["Peak memory", bytes(run.memory_peak_bytes)]);
}

/*
 * The page of a run from what was asked before: {series, runs, server, recommend}; also made from what stands in
 * a report. onZoom as for ChartGroup.
 */
function runPage(data, onZoom, links) {
	const run = data.series.run, series = data.series.series;
	const started = instant(run.started_at);
	/* Of a run that is short, or goes on, phases say nothing yet. */
	const known = run.outcome !== "running" && run.samples >= 60 ? data.series.phases || [] : [];
	const phases = known.map(p => ({from: started + p.start, to: started + p.start + p.seconds}));
	const outlook = data.stats && (data.stats.running || []).find(r => r.run_id === run.run_id);
	addCosts([run], data.recommend);
	const group = new ChartGroup(runCharts(run), series, phases.length > 1 ? phases : [], onZoom);
	const drawn = series.n > 0 && group.charts.length > 0;
	const summary = h("div", null, runSummary(run)), statistics = h("div", null, statisticsCard(run, data.runs));
	const node = h("div", {class: "run"},
		h("h1", {tabindex: "-1"}, "Run of ", links ? h("a", {href: jobLink(run.job_name)}, named(run.job_name)) : named(run.job_name), " ", outcomeBadge(run.outcome)),
		verdict(run), summary,
		h("div", {class: "columns"}, statistics, h("div", null, serverCard(run, data.server), outlook && card("Outlook", outlookFacts(outlook)))),
		card("Over time", links && h("p", {class: "links"},
			h("a", {href: address("series.csv", {run: run.run_id}), download: run.run_id + ".csv"}, "CSV"), " ",
			h("a", {href: address("series.csv", {run: run.run_id, format: "resource_tracker"}), download: run.run_id + ".resource-tracker.csv"}, "CSV for resource-tracker"), " ",
			h("a", {href: address("report", {run: run.run_id}), download: run.run_id + ".html"}, "Report, one file to mail"), " ",
			dashboardLink("Run in Grafana", "/d/rightsize-run/run?" + new URLSearchParams({"var-job_name": run.job_name,
				from: Date.parse(run.started_at) - 60000, to: run.ended_at ? Date.parse(run.ended_at) + 60000 : "now"}))),
			drawn ? [zoomTools(group), group.node] :
				h("p", {class: "dim"}, run.samples > 0 ? "Its samples are gone from the history; the summary stays." : "It ended before the first sample was taken.")),
		phasesCard(known));
	return {node, group, drawn, summary, statistics, columns: Object.keys(series.columns).length};
}

/* Puts the newer series behind the older one; a column that one of them lacks is unknown there. */
function appended(older, newer) {
	const names = new Set([...Object.keys(older.columns), ...Object.keys(newer.columns)]), columns = {};
	for (const name of names)
		columns[name] = [...(older.columns[name] || older.at.map(() => null)), ...(newer.columns[name] || newer.at.map(() => null))];
	return {n: older.n + newer.n, at: [...older.at, ...newer.at], columns};
}

/* More points than this are asked for again, thinned. */
const LIVE_POINTS = 6000;

/* Seconds between looks at the statistics of a run that goes on; its samples come by themselves. */
const SUMMARY_SECONDS = 15;

/*
 * Follows a run that goes on: its samples by server-sent events, its numbers now and then. Where there are too many
 * streams already, or none come through, the page is asked for again instead.
 */
function follow(id, data, page, signal) {
	const source = new EventSource(address("events", {run: id, after: data.series.position}));
	const again = () => { if (!signal.aborted) show(false); };
	let timer = setInterval(summary, SUMMARY_SECONDS * 1000);

	async function summary() {
		const now = await ask("series", {run: id, points: 2}, signal).catch(() => null);
		if (!now || signal.aborted)
			return;
		data.series.run = now.run;
		page.summary.replaceChildren(runSummary(now.run));
		page.statistics.replaceChildren(statisticsCard(now.run, data.runs));
	}
	source.addEventListener("samples", event => {
		data.series.series = appended(data.series.series, JSON.parse(event.data));
		const missing = page.group.charts.some(c => !c.plot) || Object.keys(data.series.series.columns).length > page.columns;
		if (!page.drawn || missing || data.series.series.n > LIVE_POINTS)
			again();
		else
			page.group.setData(data.series.series);
	});
	source.addEventListener("end", () => { source.close(); again(); });
	source.addEventListener("open", () => say(""));
	source.addEventListener("error", () => {
		if (source.readyState !== EventSource.CLOSED) {
			say("The exporter does not answer. What you see is from before; it is asked again.", "warn");
			return;
		}
		clearInterval(timer);
		timer = setTimeout(again, SUMMARY_SECONDS * 1000);
	});
	return () => { source.close(); clearInterval(timer); clearTimeout(timer); };
}

async function runView(id, signal) {
	let data = {series: await ask("series", {run: id}, signal)};
	const name = data.series.run.job_name;
	[data.runs, data.server] = await Promise.all([
		ask("runs", {job_name: name, limit: 50}, signal).then(a => a.runs), askIfAny("server", null, signal)]);
	if (data.runs.some(r => r.outcome === "succeeded"))
		[data.recommend, data.stats] = await Promise.all([
			askIfAny("recommend", {job_name: name, limit: 1}, signal), askIfAny("stats", {job_name: name}, signal)]);

	/* Finer points of what is zoomed to, where there are any. */
	let wanted = 0;
	async function onZoom(from, to) {
		const mine = ++wanted, thinned = data.series.samples > data.series.series.n;
		if (!thinned || from === null) {
			page.group.setDetail(null);
			return;
		}
		await new Promise(done => setTimeout(done, 150));
		if (mine !== wanted)
			return;
		const edge = (to - from) * 0.02;
		const detail = await ask("series", {run: id, from: from - edge, to: to + edge}, signal).catch(() => null);
		if (mine === wanted && detail && detail.series.n)
			page.group.setDetail(detail.series);
	}
	const page = runPage(data, onZoom, true);
	let unfollow = () => {};
	return {
		title: `Run of ${name}`,
		node: page.node,
		start: () => {
			if (page.drawn)
				page.group.start();
			if (data.series.run.outcome === "running")
				unfollow = follow(id, data, page, signal);
		},
		stop: () => {
			unfollow();
			page.group.stop();
		},
	};
}
