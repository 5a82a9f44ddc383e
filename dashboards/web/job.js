/* One job: its runs over time, what it asks for against what it needs, and where that is cheapest. */

const FORMAT_FALLBACK = ["json"];

/* ---- a number of every run, with what changed and what is expected next ---- */

class RunsChart {
	/* runs: oldest first; marks: [{run_id, label, anomaly}]; band: {low, expected, high}; lines as in TimeChart. */
	constructor({title, runs, key, write, steps, marks, band, lines}) {
		Object.assign(this, {title, runs, key, write, steps, marks, band, lines});
		this.value = h("span", {class: "legend value", "aria-live": "off"});
		this.box = h("div", {class: "plot", role: "img", "aria-label": this.words()});
		this.node = h("figure", {class: "chart"}, h("figcaption", null, title, this.value), this.box);
		this.watcher = new ResizeObserver(() => {
			if (this.plot && this.box.clientWidth > 0 && this.box.clientWidth !== this.plot.width)
				this.plot.setSize({width: this.box.clientWidth, height: this.plot.height});
		});
	}

	words() {
		const values = this.runs.map(r => r[this.key]);
		return `${this.title} of ${this.runs.length} runs: on average ${this.write(average(values))}, at most ${this.write(largest(values))}` +
			(this.band ? `; the next is expected between ${this.write(this.band.low)} and ${this.write(this.band.high)}` : "");
	}

	start() {
		const {runs, key} = this, n = runs.length, known = r => isKnown(r[key]) ? r[key] : null;
		const anomalies = new Set(this.marks.filter(m => m.anomaly).map(m => m.run_id));
		const next = this.band ? 1 : 0;
		const column = keep => [...runs.map(r => keep(r) ? known(r) : null), ...Array(next).fill(null)];
		const dots = (label, stroke, keep, size) => [{label, stroke: colour(stroke), paths: () => null,
			points: {show: true, size, fill: colour(stroke), stroke: colour(stroke)}}, column(keep)];
		const sets = [
			[{label: "succeeded", stroke: colour("series-1"), width: 1.5, spanGaps: true, points: {show: true, size: 6, fill: colour("series-1")}},
				column(r => r.outcome === "succeeded")],
			dots("failed", "bad", r => hasFailed(r.outcome), 9),
			dots("other", "dim", r => r.outcome !== "succeeded" && !hasFailed(r.outcome), 7),
			[{label: "unusual", stroke: colour("warn"), paths: () => null, points: {show: true, size: 14, width: 2, fill: "transparent", stroke: colour("warn")}},
				column(r => anomalies.has(r.run_id))],
		];
		this.plot = new uPlot({
			width: Math.max(200, this.box.clientWidth), height: 200, legend: {show: false},
			scales: {x: {time: false, range: [-0.5, n + next - 0.5]}, y: {range: (u, least, most) => [0, this.ceiling(most)]}},
			axes: [axis({incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: 80,
				values: (u, all) => all.map(i => runs[i] ? this.date(i) : i === n ? "next" : "")}),
			axis({size: 74, incrs: this.steps, values: (u, all) => all.map(this.write)})],
			series: [{}, ...sets.map(s => s[0])],
			cursor: {drag: {x: false, y: false}, points: {show: false}, bind: {click: () => () => this.open()}},
			hooks: {drawAxes: [u => this.drawBand(u)], draw: [u => this.drawMarks(u)], setCursor: [u => this.show(u.cursor.idx)]},
		}, [Array.from({length: n + next}, (_, i) => i), ...sets.map(s => s[1])], this.box);
		this.watcher.observe(this.box);
	}

	/* The day, or the time when all was within two. */
	date(i) {
		const at = k => instant(this.runs[k].started_at);
		return at(this.runs.length - 1) - at(0) > 172800 ? date(at(i)) : clock(at(i));
	}

	ceiling(most) {
		const near = (this.lines || []).map(l => l.value).filter(v => v <= 5 * most);
		return Math.max(most * 1.1, this.band && isKnown(this.band.high) ? this.band.high * 1.05 : 0, ...near.map(v => v * 1.05)) || 1;
	}

	show(i) {
		const run = this.runs[i];
		this.value.textContent = !run ? "" : `${day(instant(run.started_at))}: ${this.write(run[this.key])}, ${outcomeText(run.outcome).toLowerCase()}`;
	}

	open() {
		const run = this.runs[this.plot.cursor.idx];
		if (run)
			location.hash = runLink(run.run_id);
	}

	drawBand(u) {
		const {band} = this;
		if (!band || !isKnown(band.low) || !isKnown(band.high))
			return;
		const {ctx} = u, n = this.runs.length, y = v => u.valToPos(v, "y", true);
		const x0 = u.valToPos(n - 0.45, "x", true), x1 = u.valToPos(n + 0.45, "x", true);
		ctx.save();
		ctx.fillStyle = colour("band");
		ctx.fillRect(x0, y(band.high), x1 - x0, Math.max(2, y(band.low) - y(band.high)));
		if (isKnown(band.expected)) {
			ctx.fillStyle = colour("series-1");
			ctx.fillRect(x0, y(band.expected) - devicePixelRatio, x1 - x0, 2 * devicePixelRatio);
		}
		ctx.restore();
	}

	drawMarks(u) {
		const {ctx, bbox} = u;
		(this.lines || []).forEach((l, i) => drawLine(u, l.value, l.label, colour(l.colour || "limit"), i));
		ctx.save();
		ctx.strokeStyle = colour("warn");
		ctx.lineWidth = 1.5 * devicePixelRatio;
		for (const mark of this.marks) {
			const i = this.runs.findIndex(r => r.run_id === mark.run_id);
			if (mark.anomaly || i < 0)
				continue;
			const x = u.valToPos(i - 0.5, "x", true);
			ctx.beginPath();
			ctx.moveTo(x, bbox.top);
			ctx.lineTo(x, bbox.top + bbox.height);
			ctx.stroke();
		}
		ctx.restore();
	}

	stop() {
		this.watcher.disconnect();
		if (this.plot)
			this.plot.destroy();
	}
}

/* ---- what to ask for ---- */

const needed = advice => advice && advice.resources || {};

function requestCard(run, advice) {
	const need = needed(advice), memory = isKnown(need.memory) ? need.memory * 1048576 : NaN;
	if (!isKnown(need.cpu) && !isKnown(memory))
		return null;
	const part = (title, today, next, used, write) => {
		const saved = isKnown(today) && isKnown(next) ? 1 - next / today : NaN;
		return h("div", null, h("h3", null, title), comparison([
			["asked for today", today, "dim"], ["recommended", next, "best"], ["used at most", used, ""]], write),
		isKnown(saved) && Math.abs(saved) >= 0.01 && h("p", {class: saved > 0 ? "good" : "warn"},
			saved > 0 ? `${percent(saved)} less than today` : `${percent(-saved)} more than today: the request is too small`));
	};
	return card("Asked for, and needed",
		part("CPU", run.requested_cpu_cores, need.cpu, run.cpu_cores_max, cores),
		part("Memory", run.requested_memory_bytes, memory, run.memory_peak_bytes, bytes),
		need.gpu > 0 && part("GPU", NaN, need.gpu, run.gpu_usage_max, gpus),
		!isKnown(run.requested_cpu_cores) && !isKnown(run.requested_memory_bytes) &&
			h("p", {class: "dim"}, "What its runs ask for today is unknown."));
}

const WARNINGS_SHOWN = 2;

/* The server sends the most severe warning first. Further ones are folded away. */
function warningList(advice) {
	const all = advice.warnings || [];
	const list = warnings => h("ul", {class: "warnings"}, warnings.map(w => h("li", null, severityBadge(w.severity), h("span", null, w.text))));
	const more = all.slice(WARNINGS_SHOWN);
	return all.length > 0 && h("section", {"aria-label": "Warnings"}, list(all.slice(0, WARNINGS_SHOWN)),
		more.length > 0 && h("details", null, h("summary", null, `${more.length} more warning${more.length === 1 ? "" : "s"}`), list(more)),
		advice.apply && !advice.apply.safe && h("p", {class: "dim"}, "Automatic tuning waits until a person has looked at this."));
}

/* The sentences that say why. */
function adviceWords(advice) {
	const based = advice.based_on || {};
	const why = h("ul", {class: "explain"}, (advice.explain || []).map(text => h("li", null, text)));
	return [advice.summary && h("p", null, advice.summary), warningList(advice),
		advice.summary ? h("details", null, h("summary", null, "Why, number by number"), why) : why,
		h("p", {class: "dim"}, `From ${count(based.runs)} successful run${based.runs === 1 ? "" : "s"}` +
			(based.excluded ? `, ${count(based.excluded)} other${based.excluded === 1 ? "" : "s"} left out` : "") + `; confidence ${based.confidence || UNKNOWN}.`)];
}

/* The page says of each route which formats it has. */
function formatWords() {
	const link = document.querySelector('#routes a[href="recommend"]');
	return link && link.dataset.formats ? link.dataset.formats.split(" ") : FORMAT_FALLBACK;
}

function adviceCard(name, advice, signal) {
	const text = h("code", null), format = h("select", {id: "format"}), strategy = advice.strategy;
	async function write() {
		try {
			text.textContent = (await askText("recommend", {job_name: name, format: format.value, strategy}, signal)).trim();
		} catch (e) {
			if (e.name !== "AbortError")
				text.textContent = e.message;
		}
	}
	for (const f of formatWords())
		format.append(h("option", {value: f}, f));
	format.value = formatWords().includes("metaflow") ? "metaflow" : format.options[0].value;
	format.addEventListener("change", write);
	write();
	return card("Recommendation", adviceWords(advice),
		h("div", {class: "tools"}, h("label", {for: "format"}, "Written for "), format, copyButton(() => text.textContent, text)),
		h("div", {class: "snippet"}, h("pre", {tabindex: "0", "aria-label": "The recommendation as text"}, text)));
}

/* ---- on which server ---- */

const serverName = s => s.display_name || s.api_reference || s.server_id;
const regionName = s => s.region || s.region_name || s.region_id;
const inRegion = s => regionName(s) ? ` in ${regionName(s)}` : "";
const sameServer = (s, today) => today && today.server && s.vendor_id === today.server.vendor_id && s.api_reference === today.server.api_reference;

/* A cost against another one: −0.02 USD is less. */
const against = (more, share, currency) => !isKnown(more) ? UNKNOWN : [signed(more, v => money(v, currency)),
	isKnown(share) && h("div", {class: "dim"}, signed(share, roughly))];

function serverColumns(servers, today) {
	const any = key => servers.some(s => isKnown(s[key]) || (typeof s[key] === "string" && s[key]));
	const first = servers[0], note = s => s.price_note && h("div", {class: "dim note"}, `Price: ${s.price_note}`);
	return [
		{title: "Server", value: serverName, cell: s => [named(serverName(s)), " ", h("span", {class: "dim"}, s.vendor_id), note(s)]},
		servers.some(regionName) && {title: "Region", wide: true, value: regionName,
			cell: s => regionName(s) ? h("span", {title: s.region_name}, named(regionName(s))) : UNKNOWN},
		{title: "vCPUs", number: true, wide: true, value: s => s.vcpus, cell: s => count(s.vcpus)},
		{title: "Memory", number: true, wide: true, value: s => s.memory_amount, cell: s => mebibytes(s.memory_amount)},
		any("gpu_model") && {title: "GPU", wide: true, value: s => s.gpu_model, cell: s => s.gpu_count ? `${digits(s.gpu_count)} × ${s.gpu_model || "GPU"}` : "–"},
		{title: "Price an hour", number: true, wide: true, value: s => s.price, cell: s => money(s.price, s.currency)},
		any("forecast_duration_seconds") && {title: "Duration", number: true, wide: true, value: s => s.forecast_duration_seconds, cell: s => seconds(s.forecast_duration_seconds)},
		any("forecast_cost") && {title: "Cost of a run", number: true, value: s => s.forecast_cost, cell: s => money(s.forecast_cost, s.currency)},
		any("saving") && {title: "Against today", number: true, value: s => -s.saving,
			cell: s => sameServer(s, today) && s.saving === 0 ? "today's server" : against(-s.saving, -s.saving_percent / 100, s.currency)},
		any("more_than_first") && {title: "Against the first", number: true, wide: true, value: s => s.more_than_first,
			cell: s => s === first ? "–" : against(s.more_than_first, s.more_than_first / first.forecast_cost, s.currency)},
	].filter(Boolean);
}

/* The server to take, in a sentence. */
function bestWords(advice) {
	const {best, today} = advice, currency = (advice.servers[0] || {}).currency || (today || {}).currency;
	if (!best)
		return null;
	const cost = isKnown(best.forecast_cost) ? `A run costs ${money(best.forecast_cost, currency)}` : null;
	if (best.is_current)
		return ["Today's server, ", named(serverName(best)), ", is the best.", cost && ` ${cost} there.`];
	return ["The best server is ", named(serverName(best)), ` of ${best.vendor_id}${inRegion(best)}.`, cost && ` ${cost} there` +
		(best.saving > 0 ? `, ${money(best.saving, currency)} (${roughly(best.saving_percent / 100)}) less than on today's server.` : "."),
	best.price_note && ` Its price: ${best.price_note}.`];
}

const CONDITIONS = {arm64: "With an arm64 build", spot: "As a spot server", burstable: "On a burstable server"};

/* Servers that ask something of the job, and what they save. */
function alternativeList(advice) {
	const all = advice.alternatives || [], currency = (advice.servers[0] || {}).currency || (advice.today || {}).currency;
	return all.length > 0 && h("section", {"aria-label": "Cheaper on a condition"}, h("h3", null, "Cheaper on a condition"),
		h("ul", {class: "explain"}, all.map(a => h("li", null, `${CONDITIONS[a.condition] || a.condition}: `, named(serverName(a)), ` of ${a.vendor_id}${inRegion(a)}`,
			isKnown(a.forecast_cost) && ` costs ${money(a.forecast_cost, currency)} a run`,
			isKnown(a.saving) && ` and saves ${money(a.saving, currency)} (${roughly(a.saving_percent / 100)}) against the best server`,
			`. It ${a.asks}.`, a.price_note && ` Its price: ${a.price_note}.`))));
}

/* Where prices come from, of which day, and the exchange rates that they were converted with. */
function priceSource(advice) {
	const from = advice.catalogue || {};
	const rates = (advice.rates || []).filter(r => isKnown(r.usd)).map(r => `1 ${r.currency} = ${r.usd} USD` +
		(r.source || r.as_of ? ` (${[r.source, r.as_of].filter(Boolean).join(", ")})` : ""));
	return h("p", {class: "dim"}, `${count(advice.servers_fitting)} server${advice.servers_fitting === 1 ? " fits" : "s fit"}. ` +
		`Prices: ${from.source || UNKNOWN}, ${from.as_of || "of unknown date"}.` +
		(rates.length ? ` Exchange rate${rates.length === 1 ? "" : "s"}: ${rates.join("; ")}.` : ""));
}

function serversCard(advice) {
	const servers = advice.servers || [];
	const notes = (advice.notes || []).map(text => h("p", {class: "dim"}, text[0].toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".")));
	if (servers.length === 0)
		return card("Servers", h("p", null, "There is no server to recommend."), alternativeList({...advice, servers}), notes);
	const dots = servers.filter(s => isKnown(s.forecast_duration_seconds) && isKnown(s.forecast_cost)).map((s, i) => ({
		x: s.forecast_duration_seconds, y: s.forecast_cost, label: serverName(s), kind: i === 0 ? "best" : ""}));
	const words = bestWords(advice);
	return card("Best servers", words && h("p", null, words), h("div", null,
		new Table("servers", serverColumns(servers, advice.today), servers, null).node,
		dots.length > 1 && scatter(dots, {xTitle: "Forecast duration", yTitle: "Cost of a run", x: seconds, y: v => money(v, servers[0].currency)})),
	alternativeList(advice), notes, priceSource(advice));
}

/* In a report, where nothing can be asked any more. */
function advicePart(advice) {
	if (!advice || advice.error)
		return h("div");
	return h("div", null, card("Recommendation for the next run", adviceWords(advice)), serversCard(advice));
}

/* What a run costs where it runs today, what of that is for nothing, and what the best server would save. */
function savingsCard(advice) {
	const today = advice && advice.today, best = advice && advice.best;
	if (!today)
		return null;
	const s = today.server || {}, over = today.overallocated || {}, currency = today.currency;
	const spare = [over.cpu_cores > 0 && cores(over.cpu_cores), over.memory_bytes > 0 && bytes(over.memory_bytes)].filter(Boolean).join(", ");
	const rows = facts(
		["Runs on", s.api_reference && named(s.api_reference), s.vendor_id],
		["In", s.region && named(s.region)],
		["Price an hour", isKnown(s.price) ? money(s.price, currency) : null],
		["A run costs", isKnown(today.cost_per_run) ? money(today.cost_per_run, currency) : null],
		["Asked for, not needed", spare || null],
		["That costs by run", isKnown(over.cost_per_run) ? money(over.cost_per_run, currency) : null],
		best && (best.is_current ? ["Best server", "today's"] : isKnown(best.saving) && ["Best server saves",
			`${money(best.saving, currency)} a run` + (isKnown(best.saving_percent) ? ` (${roughly(best.saving_percent / 100)})` : "")]));
	return card("Cost and savings", rows, today.note && h("p", {class: "dim"}, `Not known in full: ${today.note}.`));
}

/* How the runs that go on now will end, as far as can be told. */
function outlookCard(stats) {
	const running = stats && stats.running || [];
	return running.length === 0 ? null : card("Running now", running.map(r => outlookFacts(r)));
}

function outlookFacts(r) {
	const left = r.overprovisioned_ratio || {};
	return facts(
		["Run", h("a", {href: runLink(r.run_id)}, r.run_id)],
		["Expected end", r.expected_end ? when(instant(r.expected_end)) : null],
		["Expected duration", isKnown(r.expected_duration_seconds) ? seconds(r.expected_duration_seconds) : null],
		["Expected peak memory", isKnown(r.expected_peak_bytes) ? bytes(r.expected_peak_bytes) : null],
		["Risk to run out of memory", isKnown(r.oom_risk_ratio) ?
			h("span", {class: r.oom_risk_ratio > 0.1 ? "bad" : ""}, percent(r.oom_risk_ratio)) : null],
		["Memory unused so far", isKnown(left.memory) ? percent(left.memory) : null],
		["CPU unused so far", isKnown(left.cpu) ? percent(left.cpu) : null]);
}

/* Parts of a run that would be better off as steps of their own. */
function splitCard(split) {
	if (!split || !split.words)
		return null;
	return card("Could be split", h("p", null, split.words), facts(
		["Saves of what is reserved", isKnown(split.reserved_saving_ratio) ? percent(split.reserved_saving_ratio) : null],
		["Saves of the cost", isKnown(split.cost_saving_ratio) ? percent(split.cost_saving_ratio) : null]));
}

/* ---- the view ---- */

function changesCard(changes) {
	const all = changes.filter(c => c.words);
	return all.length === 0 ? null : card("What changed", h("ul", null, all.map(c => h("li", null, c.words,
		c.run_id && [" ", h("a", {href: runLink(c.run_id)}, "Its run")]))));
}

function runColumns(runs) {
	const any = key => runs.some(r => isKnown(r[key]));
	return [
		{title: "Started", value: r => instant(r.started_at), cell: r => h("a", {href: runLink(r.run_id), class: "date"}, when(instant(r.started_at)))},
		{title: "Outcome", value: r => r.outcome, cell: r => [outcomeBadge(r.outcome), " ", h("span", {class: "dim"}, hasFailed(r.outcome) ? ending(r) : null)]},
		{title: "Duration", number: true, value: r => r.duration_seconds, cell: r => seconds(r.duration_seconds)},
		{title: "CPU average", number: true, wide: true, value: r => r.cpu_cores_mean, cell: r => cores(r.cpu_cores_mean)},
		{title: "Peak memory", number: true, value: r => r.memory_peak_bytes, cell: r => bytes(r.memory_peak_bytes)},
		any("cost") && {title: "Cost", number: true, value: r => r.cost, cell: r => money(r.cost, r.currency)},
		{title: "Host", wide: true, value: r => r.host, cell: r => r.host ? named(r.host) : UNKNOWN},
	].filter(Boolean);
}

function marksOf(changes, measure) {
	return changes.filter(c => c.measure === measure && c.run_id).map(c => ({run_id: c.run_id, anomaly: c.kind === "anomaly" || c.kind === "new_peak"}));
}

/* What the next run is expected to take: the middle, and what a tenth is below and above. */
function bandOf(stats, measure) {
	const of = stats && stats.forecast && stats.forecast[measure];
	return of && isKnown(of.low) && isKnown(of.high) ? of : null;
}

/* The costs that /recommend gives beside its picks, by run. */
function addCosts(runs, advice) {
	const today = advice && advice.today;
	const priced = new Map((today && today.runs || []).map(r => [r.run_id, r]));
	for (const r of runs) {
		const {price, cost} = priced.get(r.run_id) || {};
		Object.assign(r, {price, cost, currency: today && today.currency});
	}
}

async function jobView(name, signal) {
	const runs = (await ask("runs", {job_name: name, limit: 200}, signal)).runs, oldestFirst = runs.slice().reverse();
	const succeeded = runs.some(r => r.outcome === "succeeded");
	/* A run that was killed for memory says how much the next one is to have, before any has succeeded. */
	const [advice, stats] = await Promise.all([!succeeded && !runs.some(r => r.outcome === "oom_killed") ? null :
		ask("recommend", {job_name: name, limit: 12, details: 1}, signal).catch(e => {
			if (e instanceof Refused)
				return null;
			throw e;
		}), succeeded ? ask("stats", {job_name: name, details: 1}, signal) : null]);
	addCosts(runs, advice);
	const changes = stats && stats.changes || [], newest = runs.find(r => r.outcome === "succeeded") || runs[0];
	const memory = needed(advice).memory;
	const charts = [
		new RunsChart({title: "Duration", runs: oldestFirst, key: "duration_seconds", write: seconds, steps: TIME_STEPS,
			marks: marksOf(changes, "duration_seconds"), band: bandOf(stats, "duration_seconds")}),
		new RunsChart({title: "Peak memory", runs: oldestFirst, key: "memory_peak_bytes", write: bytes, steps: BINARY_STEPS,
			marks: marksOf(changes, "memory_peak_bytes"), band: bandOf(stats, "memory_peak_bytes"), lines: [
				isKnown(memory) && {value: memory * 1048576, label: "recommended", colour: "good"},
				isKnown(newest.requested_memory_bytes) && {value: newest.requested_memory_bytes, label: "asked for"}].filter(Boolean)}),
	];
	const counts = Object.keys(OUTCOMES).map(o => [outcomeText(o), runs.filter(r => r.outcome === o).length]).filter(([, n]) => n);
	return {
		title: name,
		node: h("div", null, h("h1", {tabindex: "-1"}, named(name), " ", outcomeBadge(runs[0].outcome)),
			dashboardLink("Job in Grafana", "/d/rightsize-job/job?var-job_name=" + encodeURIComponent(name)),
			facts(["Last run", h("a", {href: runLink(runs[0].run_id)}, ago(instant(runs[0].started_at)))],
				...counts.map(([text, n]) => [text, count(n)])),
			h("div", {class: "columns"}, card(null, charts[0].node), card(null, charts[1].node)),
			outlookCard(stats), changesCard(changes), splitCard(stats && stats.split),
			advice ? h("div", {class: "columns"}, adviceCard(name, advice, signal), h("div", null, requestCard(newest, advice), savingsCard(advice))) :
				card("Recommendation", h("p", null, "There is none before a run has succeeded.")),
			advice && serversCard(advice),
			card("Runs", new Table("runs", runColumns(runs), runs, null).node)),
		start: () => charts.forEach(c => c.start()),
		stop: () => charts.forEach(c => c.stop()),
	};
}
