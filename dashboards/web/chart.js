/* Charts over time on uPlot. They share one cursor and one zoom. */

const fontOf = (size, bold) => `${bold ? "600 " : ""}${size * devicePixelRatio}px system-ui, sans-serif`;
const FONT = "12px system-ui, sans-serif";

/* Labels have seconds, so that a finer scale would repeat them. */
const WHOLE_SECONDS = TIME_STEPS.filter(s => s >= 1);

/* Pixels at the right of a chart for the names of its lines; none on a phone. */
const END_ROOM = 172;

/* Pixels of a tall chart: its plot, the room above it for names of lines, and what is below it. */
const TALL_PLOT = 220, TALL_TOP = 12, TALL_BELOW = 6, TIME_AXIS = 34;

/* Three line styles that can be told apart without colour. */
const LEVELS = {
	limit: {label: "limit", colour: "bad", width: 1.75, dash: []},
	request: {label: "requested", colour: "ink", width: 1.75, dash: [7, 4]},
	advice: {label: "recommended", colour: "good", width: 3, dash: [], bold: true},
};

function axis(more) {
	return {stroke: colour("dim"), font: FONT, grid: {stroke: colour("grid"), width: 1},
		ticks: {stroke: colour("grid"), width: 1, size: 4}, ...more};
}

function levelPen(ctx, level) {
	ctx.strokeStyle = colour(level.colour);
	ctx.lineWidth = level.width * devicePixelRatio;
	ctx.setLineDash(level.dash.map(d => d * devicePixelRatio));
}

/* The names of lines at their right ends; on a phone, above them. all: [{y, text, level}]. No name covers another. */
function drawEnds(u, all) {
	const {ctx, bbox} = u, right = bbox.left + bbox.width, roomy = u.width * devicePixelRatio - right > 60 * devicePixelRatio;
	let free = -Infinity;
	ctx.save();
	for (const {y, text, level} of all.sort((a, b) => a.y - b.y)) {
		const at = Math.max(y + (roomy ? 0 : -8 * devicePixelRatio), free);
		free = at + 15 * devicePixelRatio;
		ctx.font = fontOf(12, level.bold);
		ctx.fillStyle = colour(level.colour);
		ctx.textBaseline = "middle";
		ctx.textAlign = roomy ? "left" : "right";
		ctx.fillText(text, right + (roomy ? 9 : -4) * devicePixelRatio, Math.max(at, 7 * devicePixelRatio));
	}
	ctx.restore();
}

/* Draws every second phase on a tinted ground, with its number. */
function drawPhases(u, phases) {
	const {ctx, bbox} = u;
	ctx.save();
	ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textAlign = "left";
	ctx.textBaseline = "top";
	phases.forEach((p, i) => {
		const x0 = Math.max(bbox.left, u.valToPos(p.from, "x", true));
		const x1 = Math.min(bbox.left + bbox.width, u.valToPos(p.to, "x", true));
		if (x1 <= x0)
			return;
		ctx.fillStyle = colour(i % 2 ? "phase-odd" : "phase-even");
		ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
		ctx.fillStyle = colour("dim");
		/* Writes the whole name if it fits, and otherwise the number. */
		const text = [`Phase ${i + 1}`, String(i + 1)].find(s => ctx.measureText(s).width + 10 * devicePixelRatio < x1 - x0);
		if (text)
			ctx.fillText(text, x0 + 6 * devicePixelRatio, bbox.top + 3 * devicePixelRatio);
	});
	ctx.restore();
}

/* Labels below the time axis, in the browser's time zone. The first label of a day has its date beneath. */
function timeLabels(u, all, axisIndex, space, step) {
	let before = "";
	return all.map(v => {
		const today = date(v), text = step < 60 ? clockSeconds(v) : step < 86400 ? clock(v) : monthDay(v);
		const named = today !== before && step < 86400 && all.length > 0 && (before !== "" || date(all[all.length - 1]) !== today);
		before = today;
		return named ? `${text}\n${today}` : text;
	});
}

/*
 * One chart. about: {title, write(value), binary, tall, series: [{key, label, colour, dash, hidden, step}], levels: [{value, and
 * what LEVELS has}]}; only series that data has are drawn. group: the charts that move together.
 */
class TimeChart {
	constructor(about, group) {
		this.about = about;
		this.group = group;
		this.levels = (about.levels || []).filter(l => isKnown(l.value));
		this.legend = h("span", {class: "legend"});
		this.flag = h("span", {class: "flag", "aria-hidden": "true"});
		this.box = h("div", {class: "plot", role: "img", tabindex: "0", onkeydown: e => this.key(e)});
		this.node = h("figure", {class: "chart"}, h("figcaption", {class: "head"}, h("span", {class: "h"}, about.title), this.legend), this.box);
		this.watcher = new ResizeObserver(() => this.resize());
	}

	start(data) {
		const {about} = this, phone = innerWidth < 640;
		this.shown = about.series.filter(s => data.columns[s.key]);
		this.data = data;
		const scale = {range: () => [0, this.ceiling()]};
		this.plot = new uPlot({
			width: Math.max(200, this.box.clientWidth),
			height: about.tall ? TALL_TOP + TALL_PLOT + (about.lastTall ? TIME_AXIS : TALL_BELOW) : 150,
			padding: [about.tall ? TALL_TOP : 8, about.tall && !phone ? END_ROOM : 8, about.tall && !about.lastTall ? TALL_BELOW : 0, 0],
			legend: {show: false},
			scales: {x: {time: true}, y: scale},
			axes: [axis({show: !about.tall || about.lastTall === true, size: TIME_AXIS, space: 70, incrs: WHOLE_SECONDS, values: timeLabels, grid: {show: false}}),
				axis({size: phone ? 58 : 66, space: 36, incrs: about.binary ? BINARY_STEPS : undefined,
					values: (u, all) => all.map(about.write)})],
			series: [{}, ...this.shown.map(s => ({label: s.label, stroke: colour(s.colour), width: s.width || 1.75, dash: s.dash,
				fill: s.fill ? colour(s.fill) : undefined, spanGaps: true, points: {show: data.n < 2}, show: !s.hidden,
				/* Steps go up first and then across, so that the line of a highest value never lies below the value. */
				paths: s.step ? uPlot.paths.stepped({align: -1}) : undefined}))],
			cursor: {sync: {key: this.group.name, filters: {pub: type => type === "mousemove" || type === "mouseleave"}},
				drag: {x: true, y: false, setScale: false}, bind: {dblclick: () => () => this.group.reset()},
				points: {size: 7}},
			hooks: {
				drawAxes: [u => drawPhases(u, this.group.phases)],
				draw: [u => this.drawLevels(u)],
				setCursor: [u => this.showCursor(u)],
				setSelect: [u => this.select(u)],
			},
		}, this.values(data), this.box);
		if (this.group.charts[0] === this)
			this.plot.over.append(this.flag);
		this.drawLegend(data);
		this.watcher.observe(this.box);
	}

	values(data) {
		return [data.at, ...this.shown.map(s => data.columns[s.key] || data.at.map(() => null))];
	}

	setData(data) {
		this.data = data;
		this.plot.setData(this.values(data), false);
	}

	/* The highest drawn value of the series that are switched on. */
	top() {
		return largest(this.shown.filter(s => !s.hidden).map(s => largest(this.data.columns[s.key] || []))) || 0;
	}

	/* A line that is far above everything would press the rest flat: it is named at the top edge. */
	isNear(level) {
		return level.value <= 2 * this.top();
	}

	ceiling() {
		return Math.max(this.top() * 1.08, ...this.levels.filter(l => this.isNear(l)).map(l => l.value * (this.group.phases.length ? 1.14 : 1.06))) || 1;
	}

	drawLevels(u) {
		const {ctx, bbox} = u, ends = [];
		for (const level of this.levels) {
			const near = this.isNear(level), y = near ? Math.round(u.valToPos(level.value, "y", true)) : bbox.top;
			ends.push({y, text: `${level.label} ${this.about.write(level.value)}${near ? "" : " ↑"}`, level});
			if (!near)
				continue;
			ctx.save();
			levelPen(ctx, level);
			ctx.beginPath();
			ctx.moveTo(bbox.left, y);
			ctx.lineTo(bbox.left + bbox.width, y);
			ctx.stroke();
			ctx.restore();
		}
		drawEnds(u, ends);
	}

	select(u) {
		if (u.select.width < 4)
			return;
		const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
		u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
		this.group.zoom(from, to);
	}

	drawLegend(data) {
		this.valueCells = this.shown.map(() => h("span", {class: "value"}));
		const line = s => styled(h("span", {class: "mark" + (s.dash ? " dashed" : "")}), "border-color", colour(s.colour));
		this.legend.replaceChildren(...this.shown.map((s, i) => {
			const button = h("button", {class: "key", "aria-pressed": String(!s.hidden), onclick: () => {
				s.hidden = !s.hidden;
				button.setAttribute("aria-pressed", String(!s.hidden));
				this.plot.setSeries(i + 1, {show: !s.hidden});
			}}, line(s), s.label, " ", this.valueCells[i]);
			return button;
		}));
		this.describe(data);
		this.showCursor(this.plot);
	}

	/* The description of the chart for a screen reader. */
	describe(data) {
		this.box.setAttribute("aria-label", this.about.title + ": " + [...this.shown.map(s => {
			const v = data.columns[s.key] || [];
			return `${s.label} on average ${this.about.write(average(v))}, at most ${this.about.write(largest(v))}`;
		}), ...this.levels.map(l => `${l.label} ${this.about.write(l.value)}`)].join("; "));
	}

	/* The values and the time at the cursor. */
	showCursor(u) {
		const {idx, left} = u.cursor, known = idx !== null && idx !== undefined && left >= 0;
		this.shown.forEach((s, i) => {
			const v = known ? u.data[i + 1][idx] : null;
			this.valueCells[i].textContent = isKnown(v) ? this.about.write(v) : "";
		});
		this.flag.textContent = known ? clockSeconds(u.data[0][idx]) : "";
		if (known)
			styled(this.flag, "left", left + "px");
	}

	/* The arrow keys move the time line of all charts. */
	key(event) {
		const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		if (!by || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		this.group.point(by);
	}

	resize() {
		const width = this.box.clientWidth;
		if (this.plot && width > 0 && width !== this.plot.width)
			this.plot.setSize({width, height: this.plot.height});
	}

	stop() {
		this.watcher.disconnect();
		if (this.plot)
			this.plot.destroy();
	}
}

let groups = 0;

/* Charts of one run. onPoint(time) is called when the keys have moved the time line. onZoom(from, to), or null and null
 * for the whole, may fetch finer data and give it to setData. phases: [{from, to}] in seconds since 1970. */
class ChartGroup {
	constructor(abouts, data, phases, onZoom, onPoint) {
		this.name = "group" + groups++;
		this.phases = phases;
		this.onZoom = onZoom;
		this.onPoint = onPoint || (() => {});
		this.data = data;
		this.charts = abouts.filter(a => a.series.some(s => data.columns[s.key])).map(a => new TimeChart(a, this));
		this.range = null;
		const tall = this.charts.filter(c => c.about.tall), more = this.charts.filter(c => !c.about.tall);
		if (tall.length)
			tall[tall.length - 1].about.lastTall = true;
		this.node = h("div", {class: "charts"}, tall.map(c => c.node));
		this.more = h("div", {class: "charts more"}, more.map(c => c.node));
		this.hasMore = more.length > 0;
	}

	/* Moves the time line by a number of points. It begins at the first visible point. */
	point(by) {
		const {data, cursor} = this.charts[0].plot, [min, max] = this.range || this.whole(), at = data[0];
		const first = at.findIndex(t => t >= min), end = at.length - 1 - at.slice().reverse().findIndex(t => t <= max);
		const now = cursor.left >= 0 && isKnown(cursor.idx) ? cursor.idx + by : by > 0 ? first : end;
		this.pointAt(at[Math.max(first, Math.min(end, now))]);
	}

	pointAt(time) {
		for (const c of this.charts)
			c.plot.setCursor({left: c.plot.valToPos(time, "x"), top: 10}, true, false);
		this.onPoint(time);
	}

	/* Call it when the node is in the page and has a width. */
	start() {
		this.charts.forEach(c => c.start(this.data));
	}

	whole() {
		const at = this.data.at;
		return [at[0], at[at.length - 1]];
	}

	zoom(from, to) {
		const [first, last] = this.whole(), least = Math.max(1e-3, (last - first) / 1e5);
		from = Math.max(first, from);
		to = Math.min(last, to);
		if (to - from < least)
			return;
		this.range = from > first || to < last ? [from, to] : null;
		this.show();
		this.onZoom(...this.range || [null, null]);
	}

	/* Zooms or moves by keys and buttons: by < 1 zooms in; shift is a share of the visible range. */
	move(by, shift) {
		const [from, to] = this.range || this.whole(), middle = (from + to) / 2 + shift * (to - from);
		this.zoom(middle - (to - from) / 2 * by, middle + (to - from) / 2 * by);
	}

	reset() {
		this.range = null;
		this.onZoom(null, null);
		this.show();
	}

	show() {
		const [min, max] = this.range || this.whole();
		for (const c of this.charts)
			c.plot.setScale("x", {min, max});
	}

	/* detail: finer points of the range, or null to show the points of the whole run. */
	setDetail(detail) {
		for (const c of this.charts)
			c.setData(detail || this.data);
		this.show();
	}

	/* New points of the whole run arrived. */
	setData(data) {
		this.data = data;
		for (const c of this.charts) {
			c.setData(data);
			c.describe(data);
		}
		this.show();
	}

	stop() {
		this.charts.forEach(c => c.stop());
	}
}
