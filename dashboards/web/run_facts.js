/* A run in words and numbers: its sentence, its shares of the request, statistics, server and phases. */

/* The successful runs before this one, at most five. */
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
	["Disk space in use, whole machine", "system_disk_space_used_max_bytes", bytes],
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
	const table = h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Statistics"}, h("table", {class: "statistics"},
		h("thead", null,
			h("tr", null, h("td"), h("th", {scope: "colgroup", colspan: "2"}, "This run"), h("th", {scope: "colgroup", colspan: "2"}, "Before")),
			h("tr", null, h("td"), ["Average", "Peak", "Average", "Peak"].map(t => h("th", {scope: "col", class: "number"}, t)))),
		h("tbody", null, rows,
			h("tr", null, h("th", {scope: "row"}, "Duration"), h("td", {class: "number", colspan: "2"}, seconds(run.duration_seconds)),
				cell(of("duration_seconds", average), seconds), cell(of("duration_seconds", largest), seconds)))));
	const title = before.length === 0 ? "This run; no successful one before it" : before.length === 1 ? "This run and the one before it" : `This run and the ${before.length} before it`;
	return card(title, table,
		facts(...TOTALS.filter(([, key]) => isKnown(run[key]) && run[key] > 0).map(([name, key, write]) => [name, write(run[key])])));
}

/* A run without a recorded server ran on this exporter's server only if it ran on this machine. */
function serverCard(run, server) {
	const s = run.vendor_id || run.instance_type ? run : server && server.host && server.host === run.host ? server : {};
	return card("Server", facts(
		["Host", run.host ? named(run.host) : UNKNOWN],
		["Cloud", s.vendor_id || "unknown, or none"],
		["Server", s.instance_type],
		["Region", s.region],
		["Zone", s.zone],
		["Bought", s.allocation],
		["Price", isKnown(run.price) ? money(run.price, run.currency) + " an hour" : null],
		["Architecture", run.architecture],
		["Processor at least", run.cpu_level],
		["GPU", run.gpu_model || run.gpu_manufacturer],
		["Cost of this run", isKnown(run.cost) ? money(run.cost, run.currency) : null],
		["Sampled every", seconds(run.interval_seconds)],
		["CPU time from", run.cpu_source],
		["CPU time", run.cpu_doubt],
		["Not measured", run.not_measured],
		["Memory from", run.memory_source],
		["Disk space from", run.disk_source],
		["Request", requestOf(run)],
		["Memory limit", isKnown(run.memory_limit_bytes) ? bytes(run.memory_limit_bytes) : null],
		["Attempt", isKnown(run.attempt) && run.attempt > 1 ? count(run.attempt) : null],
		["Input", isKnown(run.input_bytes) ? bytes(run.input_bytes) : null]));
}

function requestOf(run) {
	const parts = [isKnown(run.requested_cpu_cores) && cores(run.requested_cpu_cores),
		isKnown(run.requested_memory_bytes) && bytes(run.requested_memory_bytes)].filter(Boolean);
	return parts.length ? parts.join(", ") : null;
}

/* A short or running run has no phases. */
function phasesOf(run, phases) {
	return run.outcome !== "running" && run.samples >= 60 ? phases || [] : [];
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

/* ---- the first screen ---- */

/* Describes a failure: its cause, whether memory ran out, and what to do. */
function failureStrip(run, advice, links) {
	const after = `after ${seconds(run.duration_seconds)}`, most = [run.memory_limit_bytes, run.requested_memory_bytes].filter(isKnown)[0];
	const strip = (sign, word, kind, text, link) => h("div", {class: "alert " + kind, role: "note"}, alertStrip(sign, word, kind, text, link));
	const open = links && advice && h("a", {href: jobLink(run)}, "Open recommendation");
	const todo = advice ? ` ${requestSentence(advice, {}).slice(0, -1)} for the next run.` : "";
	if (run.outcome === "oom_killed")
		return strip("◆", "Out of memory", "bad", `The kernel killed this run at ${bytes(run.memory_peak_bytes)}` +
			(isKnown(run.memory_limit_bytes) ? ` of a limit of ${bytes(run.memory_limit_bytes)}, ` : " ") + after + "." + todo, open);
	if (run.outcome === "failed")
		return strip("✕", "Failed", "bad", `The run ended with ${ending(run) || "an unknown code"} ${after}.` + (isKnown(run.memory_peak_bytes) ?
			` Its memory peaked at ${bytes(run.memory_peak_bytes)}${isKnown(most) ? ` of ${bytes(most)}` : ""}` +
			(isKnown(most) && run.memory_peak_bytes < most / 2 ? ", so memory is unlikely to be the cause." : ".") : ""));
	if (run.outcome === "interrupted")
		return strip("–", "Interrupted", "", "The exporter ended before the run did. The end of the run is unknown.");
	return null;
}

/* Says that the recommendation would have been enough for the run, if it is and if it is below the run's request. */
function enoughWords(run, advice) {
	const need = needed(advice), memory = need.memory * MEBIBYTE;
	const holds = run.memory_peak_bytes <= memory && run.cpu_cores_mean <= need.cpu;
	const less = memory < run.requested_memory_bytes * 0.995 || need.cpu < run.requested_cpu_cores;
	return run.outcome === "succeeded" && holds && less ? ` ${requestSentence(advice, {}).slice(8, -1)} would have been enough.` : "";
}

const ENDINGS = {succeeded: "Succeeded", failed: "Failed", oom_killed: "Ran out of memory", interrupted: "Watched until the exporter ended,"};

/* One sentence with the outcome and the cost. */
function leadSentence(run, data) {
	if (run.outcome === "running") {
		const outlook = outlookOf(data) || {}, today = data.recommend && data.recommend.today || {};
		const parts = [outlook.expected_end && `at ${clock(instant(outlook.expected_end))}`,
			isKnown(outlook.expected_peak_bytes) && `with a peak of ${bytes(outlook.expected_peak_bytes)}`].filter(Boolean);
		return parts.length === 0 ? "Its end cannot be expected yet: no earlier run succeeded." :
			`Expected to end ${parts.join(" ")}${isKnown(today.cost_per_run) ? ` and a cost of ${money(today.cost_per_run, today.currency)}` : ""}.`;
	}
	const cost = isKnown(run.cost) ? ` and cost ${money(run.cost, run.currency)}` : "";
	return `${ENDINGS[run.outcome] || "Ended"} after ${seconds(run.duration_seconds)}${cost}.${enoughWords(run, data.recommend)}`;
}

/* Writes a share of the request, or the amount if the request is unknown. */
function figure(title, value, of, write, rest) {
	const share = value / of, known = isKnown(share) && of > 0;
	return h("div", {class: "figure"}, h("dt", null, title), h("dd", null,
		h("strong", null, known ? share < 0.1 ? roughly(share) : `${Math.round(share * 100)} %` : isKnown(value) ? write(value) : "unknown"), " ",
		h("span", {class: "dim"}, known ? rest || `${write(value).replace(/ .*/, "")} of ${write(of)}` : isKnown(value) ? rest || "no request known" : ""),
		known && svg("svg", {height: 10, "aria-hidden": "true"}, svg("rect", {class: "track", x: 0.5, y: 0.5, width: "99%", height: 9, rx: 4}),
			svg("rect", {class: "used", x: 1, y: 1, width: (Math.min(1, share) * 98.5).toFixed(2) + "%", height: 8, rx: 3.5}))));
}

/* Writes "10.1 of 16 GiB": both amounts in the unit of the larger one. */
function memoryOf(value, of) {
	const unit = bytes(of).replace(/^.* /, ""), step = {B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4}[unit];
	return isKnown(value) && isKnown(of) ? `${digits(value / step)} of ${bytes(of)}` : null;
}

function usualDuration(run, data) {
	const expected = data.recommend && data.recommend.duration && data.recommend.duration.expected_seconds;
	if (data.runs.length === 1 && data.runs[0].run_id === run.run_id)
		return NaN; // it is not compared with itself
	return isKnown(expected) ? expected : average(earlierRuns(run, data.runs).map(r => r.duration_seconds));
}

function runFigures(run, data) {
	const goes = run.outcome === "running", usual = usualDuration(run, data), columns = data.series.series.columns || {};
	const now = key => columns[key] ? last(columns[key].filter(isKnown)) : NaN, cpu = run.requested_cpu_cores, memory = run.requested_memory_bytes;
	const peak = goes ? now("memory_bytes") : run.memory_peak_bytes, most = goes ? now("cpu_cores") : run.cpu_cores_max;
	return h("dl", {class: "figures"},
		figure(goes ? "CPU, average so far" : "CPU, average", run.cpu_cores_mean, cpu, cores),
		figure(goes ? "CPU, now" : "CPU, peak", most, cpu, cores),
		figure(goes ? "Memory, now" : "Memory, peak", peak, memory, bytes, memoryOf(peak, memory)),
		figure(goes ? "Duration so far" : "Duration", run.duration_seconds, usual, seconds, isKnown(usual) ? `of the usual ${seconds(usual)}` : "no earlier run"));
}

const outlookOf = data => data.stats && (data.stats.running || []).find(r => r.run_id === data.series.run.run_id);

/* A ratio is a multiple: 2 means that twice the used amount is reserved. */
const unusedOf = ratio => isKnown(ratio) ? roughly(Math.max(0, 1 - 1 / ratio)) : null;

function outlookFacts(r) {
	const over = r.overprovisioned_ratio || {};
	return facts(
		["Run", h("a", {href: runLink(r.run_id)}, r.run_id)],
		["Expected end", r.expected_end ? day(instant(r.expected_end)) : null],
		["Expected duration", isKnown(r.expected_duration_seconds) ? seconds(r.expected_duration_seconds) : null],
		["Expected peak memory", isKnown(r.expected_peak_bytes) ? bytes(r.expected_peak_bytes) : null],
		["Risk to run out of memory", isKnown(r.oom_risk_ratio) ?
			h("span", {class: r.oom_risk_ratio > 0.1 ? "bad" : ""}, roughly(r.oom_risk_ratio)) : null],
		["Memory unused so far", unusedOf(over.memory)],
		["CPU unused so far", unusedOf(over.cpu)]);
}
