/* All jobs, a page at a time: how each ended last, what it uses, what to request, what that saves. The exporter searches, sorts and cuts. */

/* [value of show in the address and in /overview, words] */
const JOB_FILTERS = [["all", "All"], ["can_save", "Can save"], ["too_small", "Too small"], ["failed", "Failed last"], ["running", "Running"], ["no_request", "No request"]];

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
const lastOutcome = job => last(job.outcomes);

const faint = text => h("span", {class: "dim"}, text);
const noSuccess = () => faint("no success lately");

/* Returns the use of the newest success as a part of the request: as text and as a bar. */
function usedCell(used, of, write, writeOf) {
	if (!isKnown(used))
		return faint("–");
	return isKnown(of) ? [writeOf(used, of), svg("svg", {class: "mini", "aria-hidden": "true"}, svg("rect", {class: "track", x: 0.5, y: 0.5, width: 39, height: 9, rx: 4}),
		svg("rect", {class: "used", x: 1, y: 1, width: (Math.min(1, used / of) * 38).toFixed(1), height: 8, rx: 3.5}))] : [write(used), faint(" no request")];
}

const cpuCell = j => usedCell(last(j.cpu_cores_mean), j.requested_cpu_cores, digits, (used, of) => `${digits(used)} of ${digits(of)}`);
const peakCell = j => usedCell(last(j.memory_peak_bytes), j.requested_memory_bytes, bytes, memoryOf);

const adviceMemory = j => j.resources.memory * MEBIBYTE;

/* The exporter is still asked for the size, or has none. */
const awaitsSize = j => !isSized(j) && (advised.get(jobKey(j)) || {}).state !== adviceState(j);
const noAdviceYet = j => faint(awaitsSize(j) ? "…" : "none yet");

/* "386 → 169 MiB": from the request to the recommendation. One value where they are alike, or nothing is requested. */
function fromTo(now, then, write) {
	const [before, after] = [now, then].map(write), unit = text => text.replace(/^\S+/, "").replace(/s$/, "");
	return isKnown(now) && before !== after ? [faint(`${unit(before) === unit(after) ? before.replace(/ .*/, "") : before} → `), after] : after;
}

function adviceCell(j) {
	const {cpu, memory} = j.resources;
	return isKnown(memory) ? [isKnown(cpu) && [fromTo(j.requested_cpu_cores, cpu, cpus), ", "], fromTo(j.requested_memory_bytes, adviceMemory(j), bytes)] : noAdviceYet(j);
}

function savingCell(j) {
	const month = isKnown(j.saving_a_month), saving = month ? j.saving_a_month : j.saving;
	if (isKnown(saving))
		return saving > 0 ? h("b", {class: month ? "good month" : "good"}, money(saving, j.currency), !month && " a run") : faint("nothing to save");
	if (j.too_small)
		return h("span", {class: "warn"}, "too small");
	return h("span", {class: "dim", title: "The server of its runs, or its price, is unknown"}, isKnown(j.resources.memory) ? UNKNOWN : noAdviceYet(j));
}

/* word: what /overview sorts by. */
const JOB_COLUMNS = [
	{title: "Job", word: "name", kind: "c-name", cell: j => [h("a", {href: jobLink(j)}, jobNamed(j)),
		warningsOf(j).length > 0 && [" ", severityBadge(warningsOf(j)[0].severity, warningsOf(j).length)]]},
	{title: `Last ${STRIP_RUNS} runs`, word: "failures", down: true, kind: "c-strip", cell: j => outcomeStrip(j.outcomes.slice(-STRIP_RUNS))},
	{title: "Last run", word: "last", down: true, kind: "c-last", cell: j => h("a", {href: runLink(j.last_run), class: "plain"},
		shortBadge(OUTCOMES[lastOutcome(j)] || OUTCOMES.unknown, lastOutcome(j) === "running" ? "running" : ago(instant(j.last_started_at))))},
	{title: "Duration", word: "duration", number: true, wide: true, cell: j => j.duration_seconds.length ? seconds(last(j.duration_seconds)) : noSuccess()},
	{title: "CPU, average", number: true, kind: "c-cpu", cell: cpuCell},
	{title: "Peak memory", word: "memory", number: true, kind: "c-mem", cell: peakCell},
	{title: "Recommended", number: true, kind: "c-advice", cell: adviceCell},
	{title: "Saves a month", word: "saving", number: true, kind: "c-saving", cell: savingCell},
];

/* The exporter knows the saving of its newest jobs only. */
function jobTiles({counts, savings}) {
	const tile = (title, n, text, kind) => h("div", {class: "figure"}, h("dt", null, title), h("dd", null, h("strong", {class: kind}, n), " ", h("span", {class: "dim"}, text)));
	const jobsWord = n => `${count(n)} job${n === 1 ? "" : "s"}`, usd = savings.usd_a_month;
	return h("dl", {class: "figures"},
		tile("Can be saved", isKnown(usd) ? money(usd) : UNKNOWN, isKnown(usd) ? `a month, ${jobsWord(counts.can_save)}` : "no saving is known", usd > 0 ? "good" : null),
		tile("Too small", jobsWord(counts.too_small), "by memory", counts.too_small ? "bad" : null),
		tile("Failed last", jobsWord(counts.failed), `${count(counts.oom_killed)} out of memory`, counts.failed ? "bad" : null),
		tile("Running now", jobsWord(counts.running), `of ${count(counts.all)}`, counts.running ? "live" : null));
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
function sortOf(text) {
	const down = (text || "").startsWith("-"), i = JOB_COLUMNS.findIndex(c => c.word && c.word === (text || "").slice(down ? 1 : 0));
	return i < 0 ? null : [i, down ? -1 : 1];
}

/* A table whose rows the exporter sorts and cuts. ask() is called when a person wants other rows, and then calls fill(). */
class PagedTable extends Table {
	constructor(label, columns, sort, page, ask) {
		super(label, columns, null, sort);
		this.ask = ask;
		this.page = page;
		this.mark();
	}

	order() {
		this.mark();
		this.draw();
	}

	draw() {
		this.ask();
	}
}

/* Sizes that the exporter computed for a page of the list. It keeps only those of its newest jobs. A size is valid until the job runs again. */
const advised = new Map();
const adviceState = j => `${j.last_run} ${lastOutcome(j)}`;

function withAdvice(jobs) {
	return jobs.map(j => {
		const known = advised.get(jobKey(j));
		return !isSized(j) && known && known.state === adviceState(j) ? {...j, ...known.advice} : j;
	});
}

const SEARCH_PAUSE_MS = 150;

/* Most bytes of a search, as /overview allows. */
const SEARCH_BYTES = 200;

/* Returns the beginning of a text that is whole letters of at most so many bytes. */
function firstBytes(text, most) {
	return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, most), {stream: true});
}

async function jobsView(_, signal, query) {
	let filter = Math.max(0, JOB_FILTERS.findIndex(f => f[0] === query.get("show"))), wanted = 0, waits = 0;
	const search = h("input", {type: "search", placeholder: "Search by name", "aria-label": "Search jobs by name", value: firstBytes(query.get("q") || "", SEARCH_BYTES), oninput: () => {
		const kept = firstBytes(search.value, SEARCH_BYTES);
		if (kept !== search.value)
			search.value = kept;
		clearTimeout(waits);
		waits = setTimeout(() => { table.page = 0; shift(); }, SEARCH_PAUSE_MS);
	}});
	const counts = JOB_FILTERS.map(() => h("b"));
	const chips = JOB_FILTERS.map(([, name], i) => h("button", {class: "chip", "aria-pressed": String(i === filter), onclick: () => {
		filter = i;
		chips.forEach((c, k) => c.setAttribute("aria-pressed", String(k === i)));
		table.page = 0;
		shift();
	}}, name, counts[i]));
	const table = new PagedTable("jobs", JOB_COLUMNS, sortOf(query.get("sort")), Math.max(0, (parseInt(query.get("page"), 10) || 1) - 1), () => shift());
	table.node.classList.add("jobs");
	const found = h("p", {class: "dim found", role: "status"}), tiles = h("div");

	const sortWord = () => table.sort && (table.sort[1] < 0 ? "-" : "") + JOB_COLUMNS[table.sort[0]].word;
	const question = more => ({search: search.value.trim() || null, show: JOB_FILTERS[filter][0], sort: sortWord(),
		runs: STRIP_RUNS, limit: ROWS_ON_A_PAGE, offset: table.page * ROWS_ON_A_PAGE, ...more});

	/* Asks for the page, then for the sizes that the exporter does not keep. An answer that was overtaken is dropped. */
	async function load(abort) {
		const mine = ++wanted;
		let answer = await ask("overview", question(), abort);
		if (mine !== wanted)
			return answer;
		if (answer.jobs.length === 0 && table.page > 0 && answer.total > 0) {
			table.page = Math.ceil(answer.total / ROWS_ON_A_PAGE) - 1;
			return load(abort);
		}
		tell(answer);
		if (answer.jobs.some(awaitsSize))
			sizes(mine, abort).catch(() => {});
		return answer;
	}
	async function sizes(mine, abort) {
		const answer = await ask("overview", question({advise: 1}), abort);
		for (const j of answer.jobs)
			advised.set(jobKey(j), {state: adviceState(j), advice: {resources: j.resources, saving: j.saving, saving_a_month: j.saving_a_month, too_small: j.too_small, warnings: j.warnings}});
		if (mine === wanted)
			tell(answer);
	}
	function tell(answer) {
		tiles.replaceChildren(jobTiles(answer));
		counts.forEach((b, i) => { b.textContent = count(answer.counts[JOB_FILTERS[i][0]]); });
		found.textContent = search.value.trim() || filter ? `${count(answer.total)} job${answer.total === 1 ? "" : "s"} found` : "";
		table.fill(withAdvice(answer.jobs), answer.total);
	}
	/* A person chose other rows: the address keeps which. */
	function shift() {
		setAddress({q: search.value.trim(), show: filter ? JOB_FILTERS[filter][0] : null, sort: sortWord(), page: table.page ? table.page + 1 : null});
		load(signal).then(() => say("")).catch(e => {
			if (e.name !== "AbortError")
				say(e.message, "warn");
		});
	}
	const first = await load(signal);
	if (first.counts.all === 0 && !search.value)
		return {title: "No jobs yet", node: noJobs(), refresh: 5};
	return {
		title: "Jobs",
		node: h("div", {class: "wide-page"}, h("div", {class: "top"}, h("h1", {tabindex: "-1"}, "Jobs")), tiles,
			h("div", {class: "tools"}, search, h("div", {class: "chips", role: "group", "aria-label": "Which jobs"}, chips)), found,
			h("section", {class: "card list"}, table.node), stripLegend()),
		refresh: 15, again: load,
	};
}
