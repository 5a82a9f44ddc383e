/* One job: the answer first, then its runs over time, why, where that is cheapest, and the runs. */

/* ---- a number of every run, with what changed and what is expected next ---- */

/* Draws a failed run in a chart: a cross, or a diamond if memory ran out. */
function drawFailure(ctx, outcome, x, y, size) {
	const r = size * devicePixelRatio;
	ctx.beginPath();
	if (outcome === "oom_killed") {
		ctx.moveTo(x, y - r);
		ctx.lineTo(x + r, y);
		ctx.lineTo(x, y + r);
		ctx.lineTo(x - r, y);
		ctx.fill();
		return;
	}
	const k = r * 0.7;
	ctx.lineWidth = 2.5 * devicePixelRatio;
	ctx.moveTo(x - k, y - k);
	ctx.lineTo(x + k, y + k);
	ctx.moveTo(x + k, y - k);
	ctx.lineTo(x - k, y + k);
	ctx.stroke();
}

class RunsChart {
	/*
	 * runs: oldest first; marks: [{run_id, label, anomaly}]; band: {low, expected, high}; levels: lines as in TimeChart, with
	 * a value, or the key of each run's own value, which makes steps between two runs. small: without words and room for them.
	 */
	constructor({title, runs, key, write, steps, marks, band, levels, small, aside}) {
		Object.assign(this, {title, runs, key, write, steps, marks, band, small});
		this.levels = (levels || []).filter(l => isKnown(this.lastOf(l)));
		this.value = h("span", {class: "legend value", "aria-live": "off"}, aside);
		this.aside = aside;
		this.box = h("div", {class: "plot", role: "img", "aria-label": this.words()});
		this.node = h("figure", {class: "chart"}, h("figcaption", {class: "head"}, h("span", {class: "h"}, title), this.value), this.box);
		this.watcher = new ResizeObserver(() => {
			if (this.plot && this.box.clientWidth > 0 && this.box.clientWidth !== this.plot.width)
				this.plot.setSize({width: this.box.clientWidth, height: this.plot.height});
		});
	}

	/* The value of a level at the newest run that knows it. */
	lastOf(level) {
		return level.key ? last(this.runs.map(r => r[level.key]).filter(isKnown)) : level.value;
	}

	words() {
		const values = this.runs.map(r => r[this.key]), levels = this.levels.map(l => `${l.label} ${this.write(this.lastOf(l))}`);
		return `${this.title}: ${runsWord(this.runs.length)}, on average ${this.write(average(values))}, at most ${this.write(largest(values))}` +
			(this.band ? `; the next is expected between ${this.write(this.band.low)} and ${this.write(this.band.high)}` : "") +
			(levels.length ? "; " + levels.join(", ") : "");
	}

	start() {
		const {runs, key} = this, n = runs.length, known = r => isKnown(r[key]) ? r[key] : null, phone = innerWidth < 640;
		const anomalies = new Set(this.marks.filter(m => m.anomaly).map(m => m.run_id));
		const next = this.band ? 1 : 0, size = this.small ? 5 : n > 60 ? 4 : 7;
		const column = keep => [...runs.map(r => keep(r) ? known(r) : null), ...Array(next).fill(null)];
		const dots = (label, stroke, keep, size) => [{label, stroke: colour(stroke), paths: () => null,
			points: {show: true, size, fill: colour(stroke), stroke: colour(stroke)}}, column(keep)];
		const sets = [
			[{label: "succeeded", stroke: colour("series-1"), width: 1.5, spanGaps: true, points: {show: true, size, fill: colour("series-1"), stroke: colour("paper"), width: 1}},
				column(r => r.outcome === "succeeded")],
			dots("other", "dim", r => r.outcome !== "succeeded" && !hasFailed(r.outcome), 7),
			[{label: "unusual", stroke: colour("warn"), paths: () => null, points: {show: true, size: 14, width: 2, fill: "transparent", stroke: colour("warn")}},
				column(r => anomalies.has(r.run_id))],
		];
		this.top = largest([...column(() => true), this.band && this.band.high]);
		this.plot = new uPlot({
			width: Math.max(200, this.box.clientWidth), height: this.small ? 122 : 250, legend: {show: false},
			padding: [this.small ? 8 : 4, this.small ? 10 : phone ? 8 : END_ROOM, 0, 0],
			scales: {x: {time: false, range: [-0.5, n + next - 0.5]}, y: {range: () => [0, this.ceiling()]}},
			axes: [axis({size: this.small ? 22 : 28, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], space: this.small ? 60 : 80, grid: {show: false},
				values: (u, all) => all.map(i => runs[i] ? this.date(i) : i === n ? "next" : "")}),
			axis({size: 66, space: this.small ? 24 : 40, incrs: this.steps, values: (u, all) => all.map(this.write)})],
			series: [{}, ...sets.map(s => s[0])],
			cursor: {drag: {x: false, y: false}, points: {show: false}, bind: {click: () => () => this.open()}},
			hooks: {drawAxes: [u => this.drawBand(u)], draw: [u => this.drawOver(u)], setCursor: [u => this.show(u.cursor.idx)]},
		}, [Array.from({length: n + next}, (_, i) => i), ...sets.map(s => s[1])], this.box);
		this.watcher.observe(this.box);
	}

	/* The day, or the time when all was within two. */
	date(i) {
		const at = k => instant(this.runs[k].started_at);
		return at(this.runs.length - 1) - at(0) > 172800 ? monthDay(at(i)) : clock(at(i));
	}

	/* A level that is far above everything would press the rest flat: it is named at the top edge. */
	isNear(value) {
		return value <= 5 * this.top;
	}

	ceiling() {
		const near = this.levels.map(l => this.lastOf(l)).filter(v => this.isNear(v));
		return Math.max(this.top * 1.1, ...near.map(v => v * 1.05)) || 1;
	}

	show(i) {
		const run = this.runs[i];
		this.value.replaceChildren(...(run ? [`${day(instant(run.started_at))}: ${this.write(run[this.key])}, ${outcomeText(run.outcome).toLowerCase()}`] : [this.aside || ""]).flat());
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

	/* A level over the runs that know it; it steps between two runs. */
	drawLevel(u, level) {
		const {ctx, bbox} = u, points = this.runs.map((r, i) => [i, level.key ? r[level.key] : i >= (level.from || 0) ? level.value : NaN]).filter(p => isKnown(p[1]));
		levelPen(ctx, level);
		ctx.beginPath();
		points.forEach(([i, v], k) => {
			const y = u.valToPos(v, "y", true), to = k + 1 === points.length ? bbox.left + bbox.width : u.valToPos(i + 0.5, "x", true);
			ctx.lineTo(u.valToPos(i - 0.5, "x", true), y);
			ctx.lineTo(to, y);
		});
		ctx.stroke();
	}

	drawOver(u) {
		const {ctx, bbox} = u, named = [];
		ctx.save();
		for (const level of this.levels) {
			const value = this.lastOf(level), near = this.isNear(value), text = `${level.label} ${this.write(value)}${near ? "" : " ↑"}`;
			if (near) {
				ctx.save();
				this.drawLevel(u, level);
				ctx.restore();
			}
			named.push({y: near ? u.valToPos(value, "y", true) : bbox.top, text, level});
		}
		if (!this.small)
			drawEnds(u, named);
		this.drawMarks(u);
		this.drawFailures(u);
		ctx.restore();
	}

	/* A line at each lasting change. */
	drawMarks(u) {
		const {ctx, bbox} = u;
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
	}

	/* Each failure with its sign; its cause beside it where there is room. */
	drawFailures(u) {
		const {ctx, bbox} = u, failed = this.runs.map((r, i) => [r, i]).filter(([r]) => hasFailed(r.outcome));
		ctx.strokeStyle = ctx.fillStyle = colour("bad");
		ctx.font = fontOf(12, true);
		ctx.textBaseline = "middle";
		for (const [r, i] of failed) {
			const x = u.valToPos(i, "x", true), y = isKnown(r[this.key]) ? u.valToPos(r[this.key], "y", true) : bbox.top + bbox.height;
			drawFailure(ctx, r.outcome, x, y, this.small ? 5 : 6);
			if (this.small || failed.length > 3 || innerWidth < 640)
				continue;
			const left = x > bbox.left + bbox.width * 0.6, gap = 11 * devicePixelRatio, oom = r.outcome === "oom_killed";
			ctx.textAlign = oom || left ? "right" : "left";
			ctx.fillText(oom ? "out of memory" : ["failed", ending(r)].filter(Boolean).join(", "), oom ? x + gap / 2 : x + (left ? -gap : gap), oom ? y - 1.4 * gap : y);
		}
	}

	stop() {
		this.watcher.disconnect();
		if (this.plot)
			this.plot.destroy();
	}
}

/* The signs of the runs in a chart, and their words. */
function signLegend(outcomes) {
	const mark = children => svg("svg", {width: 14, height: 12, "aria-hidden": "true"}, children);
	const signs = {
		succeeded: ["succeeded", mark(svg("circle", {class: "dot", cx: 7, cy: 6, r: 3.5}))],
		failed: ["failed", mark(svg("path", {class: "cross-sign", d: "M3 2L11 10M11 2L3 10"}))],
		oom_killed: ["out of memory", mark(svg("path", {class: "diamond", d: "M7 0L13 6L7 12L1 6Z"}))],
		change: ["lasting change", mark(svg("line", {class: "change-sign", x1: 7, x2: 7, y2: 12}))],
		next: ["next run, expected", mark([svg("rect", {class: "next", width: 14, height: 12}), svg("line", {class: "next", x2: 14, y1: 6, y2: 6})])],
	};
	return h("ul", {class: "legend"}, Object.entries(signs).filter(([name]) => outcomes.has(name)).map(([, [text, picture]]) => h("li", null, picture, text)));
}

/* The forecast of how each active run will end. */
function outlookCard(stats) {
	const running = stats && stats.running || [];
	return running.length === 0 ? null : card("Running now", running.map(r => outlookFacts(r)));
}

/* Parts of a run that would be better off as steps of their own. */
function splitPart(split) {
	return split && split.words && h("div", null, h("h3", null, "Could be split"), h("p", null, split.words), facts(
		["Saves of the request", isKnown(split.reserved_saving_ratio) ? roughly(split.reserved_saving_ratio) : null],
		["Saves of the cost", isKnown(split.cost_saving_ratio) ? roughly(split.cost_saving_ratio) : null]));
}

/* ---- the view ---- */

function changesPart(changes) {
	const all = changes.filter(c => c.words);
	return all.length > 0 && h("div", null, h("h3", null, "What changed"), h("ul", null, all.map(c => h("li", null, c.words,
		c.run_id && [" ", h("a", {href: runLink(c.run_id)}, "Open run")]))));
}

function marksOf(changes, measure) {
	return changes.filter(c => c.measure === measure && c.run_id).map(c => ({run_id: c.run_id, anomaly: c.kind === "anomaly" || c.kind === "new_peak"}));
}

/* The forecast for the next run: its middle, and the bounds that one run in ten is below and above. */
function bandOf(stats, measure) {
	const of = stats && stats.forecast && stats.forecast[measure];
	return of && isKnown(of.low) && isKnown(of.high) ? of : null;
}

/* Runs in the charts; what changed is looked for in as many. */
const RUNS_SHOWN = 200;

/* The parts of the page that are one click away; the address keeps the part. */
function partTabs(job, parts) {
	return h("nav", {class: "tabs", "aria-label": "On this page"}, parts.filter(([id]) => id).map(([id, title]) =>
		h("a", {href: address("#/job/" + encodeURIComponent(job.job_name), {...jobOf(job), job_name: null, part: id}), onclick: e => {
			e.preventDefault();
			setAddress({part: id});
			showPart(id);
		}}, title)));
}

function showPart(id) {
	const part = document.getElementById(id);
	if (part)
		part.scrollIntoView();
}

function jobTop(job, runs, counts, parts) {
	const newest = runs[0], name = job.job_name, group = name.includes("/") && name.slice(0, name.indexOf("/"));
	return h("div", {class: "top"},
		h("div", null, h("nav", {class: "crumbs", "aria-label": "Breadcrumb"}, h("ol", null, h("li", null, h("a", {href: "#/"}, "Jobs")), group && h("li", null, named(group)))),
			h("div", {class: "title"}, h("h1", {tabindex: "-1"}, jobNamed(job)),
				h("a", {href: runLink(newest.run_id), class: "plain"}, outcomeBadge(newest.outcome, ago(instant(newest.started_at)))),
				outcomeStrip(runs.slice(0, STRIP_RUNS).reverse().map(r => r.outcome)))),
		h("div", {class: "outcomes"}, h("span", {class: "small dim"}, `${runsWord(runs.length)}: ` +
			counts.map(([text, n]) => `${count(n)} ${text.toLowerCase()}`).join(", ")),
			dashboardLink("Job in Grafana", address("/d/rightsize-job/job", dashboardJob(job))), partTabs(job, parts)));
}

function jobCharts(runs, advice, stats) {
	const changes = stats && stats.changes || [], need = needed(advice), newest = runs[0];
	const oldest = runs.slice().reverse();
	const of = (key, more) => new RunsChart({runs: oldest, key, marks: marksOf(changes, key), band: bandOf(stats, key), ...more});
	const next = bandOf(stats, "duration_seconds"), used = average(runs.filter(r => r.outcome === "succeeded").map(r => r.cpu_cores_mean));
	const b = text => h("b", null, text);
	/* The recommendation counts from the last lasting change on. */
	const from = Math.max(0, ...marksOf(changes, "memory_peak_bytes").filter(m => !m.anomaly).map(m => oldest.findIndex(r => r.run_id === m.run_id)));
	return [
		of("memory_peak_bytes", {title: "Peak memory per run", write: bytes, steps: BINARY_STEPS, levels: [
			{...LEVELS.limit, key: "memory_limit_bytes"}, {...LEVELS.request, key: "requested_memory_bytes"},
			{...LEVELS.advice, value: need.memory * MEBIBYTE, from}]}),
		of("duration_seconds", {title: "Duration per run", write: seconds, steps: TIME_STEPS, small: true,
			aside: next && [b(seconds(next.expected)), " expected next"]}),
		of("cpu_cores_mean", {title: "CPU per run, average", write: v => digits(v), small: true,
			aside: isKnown(used) && [b(digits(used)), isKnown(newest.requested_cpu_cores) ? ` of ${cores(newest.requested_cpu_cores)}` : ` ${used === 1 ? "core" : "cores"}`]}),
	];
}

async function jobView(name, signal, query) {
	const job = jobOf({job_name: name, namespace: query.get("namespace"), cluster: query.get("cluster")});
	const runs = (await ask("runs", {...job, limit: RUNS_SHOWN}, signal)).runs;
	const outcomes = new Set(runs.map(r => r.outcome)), succeeded = outcomes.has("succeeded");
	/* A run that was killed for memory says how much the next one is to have, before any has succeeded. */
	const [advice, stats] = await Promise.all([!succeeded && !outcomes.has("oom_killed") ? null :
		ask("recommend", {...job, limit: 12, details: 1}, signal).catch(e => {
			if (e instanceof Refused)
				return null;
			throw e;
		}), succeeded ? ask("stats", {...job, runs: RUNS_SHOWN, details: 1}, signal) : null]);
	addCosts(runs, advice);
	const charts = jobCharts(runs, advice, stats);
	const counts = Object.keys(OUTCOMES).map(o => [outcomeText(o), runs.filter(r => r.outcome === o).length]).filter(([, n]) => n);
	if (bandOf(stats, "memory_peak_bytes"))
		outcomes.add("next");
	if (charts[0].marks.some(m => !m.anomaly))
		outcomes.add("change");
	return {
		title: name,
		node: h("div", {class: "job"}, jobTop(job, runs, counts, [advice && ["why", "Why"], advice && ["servers", "Servers"], ["runs", "Runs"]].filter(Boolean)),
			advice ? [heroCard(job, advice, signal), warningList(advice)] : noAdvice(runs[0], true),
			outlookCard(stats),
			h("div", {class: "two"}, h("section", {class: "card signed"}, signLegend(outcomes), charts[0].node),
				h("section", {class: "card"}, charts[1].node, charts[2].node)),
			advice && whyCard(advice, changesPart(stats && stats.changes || []), splitPart(stats && stats.split)),
			advice && serversCard(advice),
			h("section", {class: "card", id: "runs"}, h("h2", null, "Runs"), new Table("runs", runColumns(runs, true), runs, null).node)),
		start: () => {
			charts.forEach(c => c.start());
			showPart(query.get("part"));
		},
		stop: () => charts.forEach(c => c.stop()),
	};
}
