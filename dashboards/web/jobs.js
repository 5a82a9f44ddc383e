/* All jobs: how each ended last, how it develops, what it leaves unused. */

const jobLink = name => "#/job/" + encodeURIComponent(name);
const runLink = id => "#/run/" + encodeURIComponent(id);

const last = values => values.length ? values[values.length - 1] : NaN;
const lastOutcome = job => last(job.outcomes);
const hasFailed = outcome => outcome === "failed" || outcome === "oom_killed";

const JOB_FILTERS = [
	["All", () => true],
	["Running", j => lastOutcome(j) === "running"],
	["Failed last", j => hasFailed(lastOutcome(j))],
	["Over half unused", j => j.waste > 0.5],
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

/* Cost and waste are columns only where something is known of them. */
function jobColumns(jobs) {
	const trend = (title, key, write) => ({
		title, number: true,
		value: j => last(j[key]),
		cell: j => j[key].length === 0 ? h("span", {class: "dim"}, "no success yet") :
			h("span", {class: "trend"}, sparkline(j[key]), h("span", null, write(last(j[key]))))});
	return [
		{title: "Job", value: j => j.job_name, cell: j => h("a", {href: jobLink(j.job_name)}, named(j.job_name))},
		{title: "Last run", value: lastOutcome, cell: j => h("a", {href: runLink(j.last_run), class: "plain"}, outcomeBadge(lastOutcome(j)))},
		{title: "Started", value: j => -instant(j.last_started_at), wide: true,
			cell: j => h("time", {datetime: j.last_started_at, title: when(instant(j.last_started_at))}, ago(instant(j.last_started_at)))},
		{title: "Runs", number: true, wide: true, value: j => j.runs, cell: j => count(j.runs)},
		trend("Duration", "duration_seconds", seconds),
		trend("Peak memory", "memory_peak_bytes", bytes),
		jobs.some(j => isKnown(j.cost)) && {title: "Cost of a run", number: true, value: j => j.cost,
			cell: j => money(j.cost, j.currency)},
		jobs.some(j => isKnown(j.waste)) && {title: "Unused", number: true, value: j => j.waste,
			cell: j => isKnown(j.waste) ? h("span", {class: "trend", title: "Of what was asked for: cores on average, memory at its peak"},
				shareBar(j.waste, j.waste > 0.5 ? "warn" : ""), h("span", null, percent(j.waste))) : UNKNOWN},
		{title: "Warnings", number: true, wide: true, value: j => isSized(j) ? warningsOf(j).length : null,
			cell: j => warningsOf(j).length > 0 && [severityBadge(warningsOf(j)[0].severity), " ", count(warningsOf(j).length)]},
	].filter(Boolean);
}

function jobTiles(jobs) {
	const running = jobs.filter(JOB_FILTERS[1][1]).length, failed = jobs.filter(JOB_FILTERS[2][1]).length;
	const waste = average(jobs.map(j => j.waste));
	const tile = (value, text, kind) => h("div", {class: "tile " + (kind || "")}, h("strong", null, value), h("span", null, text));
	return h("div", {class: "tiles"},
		tile(count(jobs.length), jobs.length === 1 ? "job" : "jobs"),
		tile(count(running), "running now", running ? "live" : ""),
		tile(count(failed), "failed in their last run", failed ? "bad" : "good"),
		isKnown(waste) && tile(percent(waste), "of what was asked for is unused"));
}

function noJobs() {
	const command = "rightsize-exporter run --job-name=etl/load -- ./load.sh";
	const shown = h("code", null, command);
	return h("div", null, h("h1", {tabindex: "-1"}, "No jobs yet"),
		card("Watch the first one",
			h("p", null, "Write the exporter in front of a command. The job does not notice: its input, output and exit code pass through."),
			h("div", {class: "snippet"}, h("pre", null, shown), copyButton(() => command, shown)),
			h("p", {class: "dim"}, "After three runs there is something to compare, and a recommendation to trust.")));
}

async function jobsView(_, signal) {
	let jobs = (await ask("overview", null, signal)).jobs;
	if (jobs.length === 0)
		return {title: "No jobs yet", node: noJobs(), refresh: 5};

	let filter = 0;
	const search = h("input", {type: "search", placeholder: "Search", "aria-label": "Search jobs by name", oninput: () => apply()});
	const chips = JOB_FILTERS.map(([name], i) => h("button", {class: "chip", "aria-pressed": String(i === 0), onclick: () => {
		filter = i;
		chips.forEach((c, k) => c.setAttribute("aria-pressed", String(k === i)));
		apply();
	}}, name));
	const table = new Table("jobs", jobColumns(jobs), jobs, null);
	const found = h("p", {class: "dim", role: "status"});
	const tiles = h("div", null, jobTiles(jobs));

	function apply() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const kept = jobs.filter(j => {
			const name = j.job_name.toLowerCase();
			return JOB_FILTERS[filter][1](j) && words.every(w => name.includes(w));
		});
		table.page = 0;
		table.setRows(kept);
		found.textContent = kept.length === jobs.length ? "" : `${count(kept.length)} of ${count(jobs.length)} jobs`;
	}
	async function again(abort) {
		const page = table.page;
		jobs = (await ask("overview", null, abort)).jobs;
		tiles.replaceChildren(jobTiles(jobs));
		apply();
		table.page = Math.min(page, Math.ceil(table.rows.length / ROWS_ON_A_PAGE) - 1);
		table.draw();
	}
	return {
		title: "Jobs",
		node: h("div", null, h("h1", {tabindex: "-1"}, "Jobs"), tiles,
			h("div", {class: "tools"}, search, h("div", {class: "chips", role: "group", "aria-label": "Which jobs"}, chips)), found, table.node),
		refresh: 15, again,
	};
}
