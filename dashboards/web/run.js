/* One run: its outcome and cost, its usage as shares of the request, charts of the usage, and details. */

const GROUND = {colour: "series-2", width: 1};

/* The series of each chart. Only measured series are drawn. */
function runCharts(run, need) {
	const level = (kind, value) => ({...LEVELS[kind], value});
	return [
		{title: "CPU", tall: true, write: v => digits(v), levels: [level("request", run.requested_cpu_cores), level("advice", need.cpu)], series: [
			{key: "system_cpu_cores", label: "whole machine", ...GROUND},
			{key: "cpu_cores", label: "this run, cores", colour: "series-1", fill: "fill-1"},
			{key: "cpu_throttled_cores", label: "throttled", colour: "series-3"}]},
		{title: "Memory", tall: true, write: bytes, binary: true,
			levels: [level("limit", run.memory_limit_bytes), level("request", run.requested_memory_bytes), level("advice", need.memory * MEBIBYTE)], series: [
				{key: "memory_bytes", label: "this run", colour: "series-1", fill: "fill-1"},
				{key: "memory_peak_bytes", label: "highest so far", colour: "series-4", width: 1.5, dash: [2, 3], step: true},
				{key: "memory_swap_bytes", label: "swapped out", colour: "series-3", hidden: true},
				{key: "memory_cgroup_bytes", label: "control group, with cache", colour: "series-5", hidden: true},
				{key: "system_memory_used_bytes", label: "whole machine", ...GROUND, hidden: true}]},
		{title: "GPU", write: v => digits(v), series: [
			{key: "gpu_usage", label: "this run, GPUs busy", colour: "series-1", fill: "fill-1"},
			{key: "gpus_used", label: "GPUs held", colour: "series-3", step: true},
			{key: "system_gpu_usage", label: "whole machine", ...GROUND}]},
		{title: "VRAM", write: bytes, binary: true, series: [
			{key: "vram_bytes", label: "this run", colour: "series-1", fill: "fill-1"},
			{key: "vram_peak_bytes", label: "highest so far", colour: "series-4", dash: [2, 3], step: true},
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

/* The runs before and after this one, if they are among the runs that were requested, and a run to compare with. */
function turnLinks(run, runs, other) {
	const at = runs.findIndex(r => r.run_id === run.run_id);
	const link = (to, text) => to ? h("a", {class: "button", href: runLink(to.run_id)}, text) : h("button", {disabled: true}, text);
	return h("div", {class: "turn"}, comparePicker(run, runs, other), link(at >= 0 && runs[at + 1], "← Previous"), link(at > 0 && runs[at - 1], "Next →"));
}

function unknownOther() {
	return h("div", {class: "alert plain", role: "note"}, alertStrip("?", "Not found", "plain", "The run to compare with is not in the history."));
}

function runTitle(run) {
	const goes = run.outcome === "running";
	return [h("h1", {tabindex: "-1"}, `Run of ${day(instant(run.started_at))}`), outcomeBadge(run.outcome, goes ? seconds(Math.round(run.duration_seconds)) : null)];
}

function zoomTools(group, run) {
	const button = (text, label, act) => h("button", {"aria-label": label, title: label, onclick: act}, text);
	return h("div", {class: "zoom", role: "group", "aria-label": "Zoom of all charts"},
		button("Zoom in", "Zoom in", () => group.move(0.5, 0)), button("Zoom out", "Zoom out", () => group.move(2, 0)),
		button("←", "Earlier", () => group.move(1, -0.5)), button("→", "Later", () => group.move(1, 0.5)),
		button("Whole run", "Whole run", () => group.reset()),
		h("span", {class: "dim hint"}, "Drag across a chart to zoom. Arrow keys move the time line."),
		h("span", {class: "links"},
			h("a", {href: address("series.csv", {run: run.run_id}), download: run.run_id + ".csv"}, "CSV"),
			h("a", {href: address("series.csv", {run: run.run_id, format: "resource_tracker"}), download: run.run_id + ".resource-tracker.csv"}, "CSV for resource-tracker"),
			h("a", {href: address("report", {run: run.run_id}), download: run.run_id + ".html", title: "One file to mail"}, "Report"),
			dashboardLink("Run in Grafana", "/d/rightsize-run/run?" + new URLSearchParams({...dashboardJob(run),
				from: Date.parse(run.started_at) - 60000, to: run.ended_at ? Date.parse(run.ended_at) + 60000 : "now"})),
			h("a", {href: address("series", {run: run.run_id})}, "JSON")));
}

/* The page of a run, from answers of the exporter: {series, runs, server, recommend, stats, other}. onZoom and onPoint as for
 * ChartGroup. A run that goes on is drawn again in parts, by redraw(). */
function runPage(data, onZoom, onPoint) {
	const run = data.series.run, series = data.series.series;
	const started = instant(run.started_at);
	const known = phasesOf(run, data.series.phases);
	const phases = known.map(p => ({from: started + p.start, to: started + p.start + p.seconds}));
	const other = data.other && data.other.run, charts = runCharts(run, needed(data.recommend));
	const both = mine => data.other ? overlaid(mine, run, data.other) : mine;
	addCosts([run, other].filter(Boolean), data.recommend);
	if (other)
		charts.forEach(c => c.series.push(...comparedSeries(c.series)));
	const group = new ChartGroup(charts, both(series), phases.length > 1 ? phases : [], onZoom, onPoint);
	const drawn = series.n > 0 && group.charts.length > 0;
	const title = h("div", {class: "title"}, runTitle(run)), lead = h("p", {class: "lead"}, leadSentence(run, data));
	const figuresOf = r => other ? comparisonTable(r, other, data.other.series.n > 0) : runFigures(r, data);
	const figures = h("div", null, figuresOf(run)), statistics = h("div", null, statisticsCard(run, data.runs)), outlook = h("div");
	const redraw = {
		title: () => title.lastChild.replaceWith(runTitle(data.series.run)[1]),
		numbers: () => {
			const now = data.series.run, left = outlookOf(data);
			lead.textContent = leadSentence(now, data);
			figures.replaceChildren(figuresOf(now));
			statistics.replaceChildren(statisticsCard(now, data.runs));
			outlook.replaceChildren(...left ? [card("Outlook", outlookFacts(left))] : []);
		}};
	const parts = {
		top: h("div", {class: "top"}, h("div", null,
			h("nav", {class: "crumbs", "aria-label": "Breadcrumb"}, h("ol", null, h("li", null, h("a", {href: "#/"}, "Jobs")),
				h("li", null, h("a", {href: jobLink(run)}, jobNamed(run))))), title, lead), turnLinks(run, data.runs, other)),
		first: [failureStrip(run, data.recommend, true), data.other === null && unknownOther(), figures,
			drawn ? [h("section", {class: "card"}, group.node), zoomTools(group, run)] :
				card(null, h("p", {class: "dim"}, run.samples > 0 ? "Its samples are gone from the history; the summary stays." : "It ended before the first sample was taken."))],
		details: [h("div", {class: "columns"}, statistics, h("div", null, serverCard(run, data.server), outlook)),
			drawn && group.hasMore && card("GPU, disk, network and processes", group.more), phasesCard(known)],
	};
	redraw.numbers();
	return {parts, group, drawn, redraw, both, columns: Object.keys(series.columns).length};
}

/* Appends newer points to older ones. A column that one of them lacks is unknown there. */
function appended(older, newer) {
	const names = new Set([...Object.keys(older.columns), ...Object.keys(newer.columns)]), columns = {};
	for (const name of names)
		columns[name] = [...(older.columns[name] || older.at.map(() => null)), ...(newer.columns[name] || newer.at.map(() => null))];
	return {n: older.n + newer.n, at: [...older.at, ...newer.at], columns};
}

/* A run with more points than this is requested again, with fewer points. */
const LIVE_POINTS = 6000;

/* Seconds between two requests for the statistics of a running run. Its samples arrive as events. */
const SUMMARY_SECONDS = 15;

/* Statistics of a running run, computed from its samples. The exporter's own statistics follow every
 * SUMMARY_SECONDS. */
function soFar(run, series) {
	const {columns, at} = series, of = (key, pick, before) => columns[key] && columns[key].some(isKnown) ? pick(columns[key]) : before;
	return {...run, duration_seconds: at.length ? at[at.length - 1] - instant(run.started_at) : run.duration_seconds,
		cpu_cores_mean: of("cpu_cores", average, run.cpu_cores_mean), cpu_cores_max: of("cpu_cores", largest, run.cpu_cores_max),
		memory_mean_bytes: of("memory_bytes", average, run.memory_mean_bytes),
		memory_peak_bytes: of("memory_peak_bytes", largest, of("memory_bytes", largest, run.memory_peak_bytes))};
}

/* Follows a running run: its samples arrive as server-sent events, and its statistics are requested now and then. If
 * there are too many event streams, or events do not arrive, the whole page is requested again instead. */
function follow(id, data, page, signal) {
	const source = new EventSource(address("events", {run: id, after: data.series.position}));
	const again = () => { if (!signal.aborted) show(false); };
	let timer = setInterval(summary, SUMMARY_SECONDS * 1000), came = Date.now(), reached = soFar(data.series.run, data.series.series).duration_seconds;
	/* Continues from the time of the last sample, because the browser's clock may differ from the exporter's. */
	const ticker = setInterval(() => {
		if (source.readyState !== EventSource.OPEN)
			return;
		data.series.run.duration_seconds = reached + (Date.now() - came) / 1000;
		page.redraw.title();
	}, 1000);

	async function summary() {
		const [now, stats] = await Promise.all([ask("series", {run: id, points: 2}, signal), askIfAny("stats", {...jobOf(data.series.run), details: 1}, signal)])
			.catch(() => [null, null]);
		if (!now || signal.aborted)
			return;
		Object.assign(data.series.run, now.run, {duration_seconds: data.series.run.duration_seconds});
		data.stats = stats || data.stats;
		page.redraw.numbers();
	}
	source.addEventListener("samples", event => {
		data.series.series = appended(data.series.series, JSON.parse(event.data));
		Object.assign(data.series.run, soFar(data.series.run, data.series.series));
		came = Date.now();
		reached = data.series.run.duration_seconds;
		const missing = page.group.charts.some(c => !c.plot) || Object.keys(data.series.series.columns).length > page.columns;
		if (!page.drawn || missing || data.series.series.n > LIVE_POINTS) {
			again();
			return;
		}
		page.group.setData(page.both(data.series.series));
		page.redraw.title();
		page.redraw.numbers();
	});
	source.addEventListener("end", () => { source.close(); again(); });
	source.addEventListener("open", () => say(""));
	source.addEventListener("error", () => {
		if (source.readyState !== EventSource.CLOSED) {
			say(`The exporter does not answer since ${clockSeconds(came / 1000)}. The page shows that moment. It tries again every ${RETRY_SECONDS} s.`, "warn");
			return;
		}
		clearInterval(timer);
		timer = setTimeout(again, SUMMARY_SECONDS * 1000);
	});
	return () => { source.close(); clearInterval(timer); clearTimeout(timer); clearInterval(ticker); };
}

async function runView(id, signal, query) {
	let data = {series: await ask("series", {run: id}, signal)};
	const job = jobOf(data.series.run);
	const other = query.get("with");
	[data.runs, data.server, data.other] = await Promise.all([
		ask("runs", {...job, limit: RUNS_SHOWN}, signal).then(a => a.runs), askIfAny("server", null, signal),
		other ? askIfAny("series", {run: other}, signal) : undefined]);
	if (data.runs.some(r => r.outcome === "succeeded"))
		[data.recommend, data.stats] = await Promise.all([
			askIfAny("recommend", {...job, limit: 1, details: 1}, signal), askIfAny("stats", {...job, details: 1}, signal)]);

	/* Requests finer points of the zoomed range, if there are any. */
	let wanted = 0;
	async function onZoom(from, to) {
		setAddress({from: from === null ? null : iso(from), to: to === null ? null : iso(to)});
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
			page.group.setDetail(page.both(detail.series));
	}
	const page = runPage(data, onZoom, time => setAddress({t: iso(time)}));
	let unfollow = () => {};
	return {
		title: `Run of ${data.series.run.job_name}`,
		node: h("div", {class: "run"}, page.parts.top, page.parts.first, page.parts.details),
		start: () => {
			if (page.drawn) {
				page.group.start();
				const [from, to, at] = ["from", "to", "t"].map(k => instant(query.get(k)));
				if (from < to)
					page.group.zoom(from, to);
				if (isKnown(at))
					page.group.pointAt(at);
			}
			if (data.series.run.outcome === "running")
				unfollow = follow(id, data, page, signal);
		},
		stop: () => {
			unfollow();
			page.group.stop();
		},
	};
}
