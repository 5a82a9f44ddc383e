/* All jobs: how each ended last, how it develops, what it leaves unused. */

const lastOutcome = job => last(job.outcomes);

/* [name in the address, words, which jobs] */
const JOB_FILTERS = [
	["all", "All", () => true],
	["running", "Running", j => lastOutcome(j) === "running"],
	["failed", "Failed last", j => hasFailed(lastOutcome(j))],
	["unused", "Over half unused", j => j.waste > 0.5],
	["no-request", "No request", j => !isKnown(j.requested_cpu_cores) && !isKnown(j.requested_memory_bytes)],
];

/* The newest runs in a strip, oldest at the left. Success is half height, so that failures stand out in grey, too. */
const STRIP_RUNS = 12;
const STRIP_SIGNS = {failed: "✕", oom_killed: "◆", interrupted: "–", running: "▶"};

function outcomeStrip(outcomes) {
	const counts = Object.keys(OUTCOMES).map(o => [outcomeText(o).toLowerCase(), outcomes.filter(x => x === o).length]).filter(([, n]) => n);
	return h("span", {class: "strip", role: "img", "aria-label": `Last ${runsWord(outcomes.length)}, oldest first: ` + counts.map(([text, n]) => `${n} ${text}`).join(", ")},
		Array(Math.max(0, STRIP_RUNS - outcomes.length)).fill(0).map(() => h("i", {class: "none"})),
		outcomes.map(o => h("i", {class: o, title: outcomeText(o).toLowerCase()}, STRIP_SIGNS[o])));
}

/* The warnings of a job's recommendation, without mere notes. The server finds them in the background. */
const warningsOf = job => job.warnings.filter(w => w.severity !== "info");
const isSized = job => !job.warnings.some(w => w.code === "not_sized");

const noSuccess = () => h("span", {class: "dim"}, "no success yet");

/* The newest successful peak, of the request. */
function peakCell(j) {
	const peak = last(j.memory_peak_bytes), of = j.requested_memory_bytes;
	if (!isKnown(peak))
		return noSuccess();
	return isKnown(of) ? [memoryOf(peak, of), svg("svg", {class: "mini", "aria-hidden": "true"}, svg("rect", {class: "track", x: 0.5, y: 0.5, width: 47, height: 9, rx: 4}),
		svg("rect", {class: "used", x: 1, y: 1, width: (Math.min(1, peak / of) * 46).toFixed(1), height: 8, rx: 3.5}))] : [bytes(peak), h("span", {class: "dim"}, " no request")];
}

/* Cost and waste are columns only where something is known of them. */
function jobColumns(jobs) {
	return [
		{title: "Job", key: "job", kind: "c-name", value: j => j.job_name, cell: j => h("a", {href: jobLink(j.job_name)}, named(j.job_name))},
		{title: `Last ${STRIP_RUNS} runs`, key: "failures", kind: "c-strip", value: j => -j.outcomes.filter(hasFailed).length, cell: j => outcomeStrip(j.outcomes.slice(-STRIP_RUNS))},
		{title: "Last run", key: "last", kind: "c-last", value: j => -instant(j.last_started_at),
			cell: j => h("a", {href: runLink(j.last_run), class: "plain"}, shortBadge(OUTCOMES[lastOutcome(j)] || OUTCOMES.unknown,
				lastOutcome(j) === "running" ? "running" : ago(instant(j.last_started_at))))},
		{title: "Runs", key: "runs", number: true, wide: true, value: j => j.runs, cell: j => count(j.runs)},
		{title: "Duration", key: "duration", number: true, wide: true, value: j => last(j.duration_seconds),
			cell: j => j.duration_seconds.length ? seconds(last(j.duration_seconds)) : noSuccess()},
		{title: "Peak memory", key: "memory", number: true, kind: "c-mem", value: j => last(j.memory_peak_bytes), cell: peakCell},
		jobs.some(j => isKnown(j.cost)) && {title: "Cost of a run", key: "cost", number: true, wide: true, value: j => j.cost,
			cell: j => isKnown(j.cost) ? money(j.cost, j.currency) : h("span", {class: "dim"}, UNKNOWN)},
		jobs.some(j => isKnown(j.waste)) && {title: "Unused", key: "unused", number: true, kind: "c-waste", value: j => j.waste,
			cell: j => isKnown(j.waste) ? h("span", {class: "trend", title: "Of the request: cores on average, memory at its peak"},
				shareBar(j.waste, j.waste > 0.5 ? "warn" : ""), h("span", {class: "waste"}, roughly(j.waste))) : h("span", {class: "dim"}, "no request")},
		{title: "Warnings", key: "warnings", number: true, wide: true, value: j => isSized(j) ? warningsOf(j).length : null,
			cell: j => warningsOf(j).length > 0 && severityBadge(warningsOf(j)[0].severity, warningsOf(j).length)},
	].filter(Boolean);
}

function jobTiles(jobs) {
	const of = name => jobs.filter(JOB_FILTERS.find(f => f[0] === name)[2]).length;
	const running = of("running"), failed = of("failed"), unused = of("unused"), waste = average(jobs.map(j => j.waste));
	const tile = (title, n, text, kind) => h("div", {class: "figure"}, h("dt", null, title), h("dd", null, h("strong", {class: kind}, n), " ", h("span", {class: "dim"}, text)));
	const jobsWord = n => `${count(n)} job${n === 1 ? "" : "s"}`;
	return h("dl", {class: "figures"},
		tile("Watched", jobsWord(jobs.length), `${runsWord(jobs.reduce((sum, j) => sum + j.runs, 0))}`),
		tile("Running now", jobsWord(running), "", running ? "live" : null),
		tile("Failed last", jobsWord(failed), `${count(jobs.filter(j => lastOutcome(j) === "oom_killed").length)} out of memory`, failed ? "bad" : null),
		tile("Unused of the request", isKnown(waste) ? roughly(waste) : UNKNOWN, isKnown(waste) ? `${jobsWord(unused)} over half` : "no request known"));
}

/* The legend of the strip: each sign and its outcome. */
function stripLegend() {
	const sign = o => h("span", {class: "strip", "aria-hidden": "true"}, h("i", {class: o}, STRIP_SIGNS[o]));
	return h("p", {class: "small dim strip-legend"}, [["succeeded", "succeeded"], ["failed", "failed"], ["oom_killed", "out of memory"], ["running", "running"]].map(([o, text]) =>
		h("span", null, sign(o), " ", text)), h("span", null, "Oldest run at the left."));
}

function noJobs() {
	const command = "rightsize-exporter run --job-name=etl/load -- ./load.sh", shown = h("code", {tabindex: "0"}, command);
	return h("div", null, h("div", {class: "top"}, h("h1", {tabindex: "-1"}, "No jobs yet")), h("section", {class: "card"},
		h("p", null, "Put the exporter in front of a command. Three runs are enough for a recommendation."),
		h("div", {class: "paste"}, shown, copyButton(() => command, shown)),
		h("p", {class: "note"}, "The input, output and exit code of the job stay the same. This page refreshes itself.")));
}

/* The sort that an address names: "memory" is up, "-memory" is down. */
function sortOf(columns, text) {
	const down = (text || "").startsWith("-"), i = columns.findIndex(c => c.key === (text || "").slice(down ? 1 : 0));
	return i < 0 ? null : [i, down ? -1 : 1];
}

async function jobsView(_, signal, query) {
	let jobs = (await ask("overview", null, signal)).jobs;
	if (jobs.length === 0)
		return {title: "No jobs yet", node: noJobs(), refresh: 5};

	let filter = Math.max(0, JOB_FILTERS.findIndex(f => f[0] === query.get("show")));
	const search = h("input", {type: "search", placeholder: "Search by name", "aria-label": "Search jobs by name", value: query.get("q"), oninput: () => {
		setAddress({q: search.value});
		apply();
	}});
	const counts = JOB_FILTERS.map(() => h("b"));
	const chips = JOB_FILTERS.map(([key, name], i) => h("button", {class: "chip", "aria-pressed": String(i === filter), onclick: () => {
		filter = i;
		setAddress({show: i ? key : null});
		chips.forEach((c, k) => c.setAttribute("aria-pressed", String(k === i)));
		apply();
	}}, name, counts[i]));
	const columns = jobColumns(jobs);
	const table = new Table("jobs", columns, jobs, sortOf(columns, query.get("sort")), (key, way) => setAddress({sort: (way < 0 ? "-" : "") + key}));
	table.node.classList.add("jobs");
	const found = h("p", {class: "dim", role: "status"});
	const tiles = h("div");

	function apply() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const kept = jobs.filter(j => {
			const name = j.job_name.toLowerCase();
			return JOB_FILTERS[filter][2](j) && words.every(w => name.includes(w));
		});
		table.page = 0;
		table.setRows(kept);
		found.textContent = kept.length === jobs.length ? "" : `${count(kept.length)} of ${count(jobs.length)} jobs`;
	}
	function tell() {
		tiles.replaceChildren(jobTiles(jobs));
		counts.forEach((b, i) => { b.textContent = count(jobs.filter(JOB_FILTERS[i][2]).length); });
		apply();
	}
	async function again(abort) {
		const page = table.page;
		jobs = (await ask("overview", null, abort)).jobs;
		tell();
		table.page = Math.min(page, Math.ceil(table.rows.length / ROWS_ON_A_PAGE) - 1);
		table.draw();
	}
	tell();
	return {
		title: "Jobs",
		node: h("div", {class: "wide-page"}, h("div", {class: "top"}, h("h1", {tabindex: "-1"}, "Jobs")), tiles,
			h("div", {class: "tools"}, search, h("div", {class: "chips", role: "group", "aria-label": "Which jobs"}, chips)), found,
			h("section", {class: "card list"}, table.node), stripLegend()),
		refresh: 15, again,
	};
}
