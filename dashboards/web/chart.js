/* Charts over time that share their cursor and their zoom, on uPlot. */

const BINARY_STEPS = Array.from({length: 60}, (_, i) => 2 ** i);
const TIME_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	...Array.from({length: 12}, (_, i) => 86400 * 2 ** i)];
const fontOf = (size, bold) => `${bold ? "600 " : ""}${size * devicePixelRatio}px system-ui, sans-serif`;
const FONT = "12px system-ui, sans-serif";

/* Pixels at the right of a chart for the names of its lines; a phone has none. */
const END_ROOM = 172;

/* Three lines that no two of which look alike, also without colour. */
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

/* The names of lines at their right ends; on a phone above them. all: [{y, text, level}]. None covers another. */
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

/* Every second phase on a tinted ground, with its number. */
function drawPhases(u, phases) {
	const {ctx, bbox} = u;
	ctx.save();
	ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textBaseline = "top";
	phases.forEach((p, i) => {
		const x0 = Math.max(bbox.left, u.valToPos(p.from, "x", true));
		const x1 = Math.min(bbox.left + bbox.width, u.valToPos(p.to, "x", true));
		if (x1 <= x0)
			return;
		ctx.fillStyle = colour(i % 2 ? "phase-odd" : "phase-even");
		ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
		ctx.fillStyle = colour("dim");
		if (x1 - x0 > 20 * devicePixelRatio)
			ctx.fillText(String(i + 1), x0 + 4 * devicePixelRatio, bbox.top + 3 * devicePixelRatio);
	});
	ctx.restore();
}

/*
 * One chart. about: {title, write(value), binary, series: [{key, label, colour, dash, hidden, step}], lines:
 * [{value, label}]}; only series that data has are drawn. group: the charts that move together.
 */
class TimeChart {
	constructor(about, group) {
		this.about = about;
		this.group = group;
		this.legend = h("div", {class: "legend"});
		this.box = h("div", {class: "plot", role: "img"});
		this.node = h("figure", {class: "chart"}, h("figcaption", null, about.title, this.legend), this.box);
		this.watcher = new ResizeObserver(() => this.resize());
	}

	start(data) {
		const {about} = this, phone = innerWidth < 600;
		this.shown = about.series.filter(s => data.columns[s.key]);
		const scale = {range: (u, least, most) => [0, this.ceiling(u, most)]};
		this.plot = new uPlot({
			width: Math.max(200, this.box.clientWidth), height: phone ? 150 : 170,
			legend: {show: false},
			scales: {x: {time: true}, y: scale},
			axes: [axis(), axis({size: phone ? 62 : 74, incrs: about.binary ? BINARY_STEPS : undefined,
				values: (u, all) => all.map(about.write)})],
			series: [{}, ...this.shown.map(s => ({label: s.label, stroke: colour(s.colour), width: s.width || 1.5, dash: s.dash,
				fill: s.fill ? colour(s.fill) : undefined, spanGaps: true, points: {show: data.n < 2}, show: !s.hidden,
				paths: s.step ? uPlot.paths.stepped({align: 1}) : undefined}))],
			cursor: {sync: {key: this.group.name, filters: {pub: type => type === "mousemove" || type === "mouseleave"}},
				drag: {x: true, y: false, setScale: false}, bind: {dblclick: () => () => this.group.reset()},
				points: {size: 6}},
			hooks: {
				drawAxes: [u => drawPhases(u, this.group.phases)],
				draw: [u => (about.lines || []).forEach((l, i) => drawLine(u, l.value, l.label, colour("limit"), i))],
				setCursor: [u => this.showValues(u.cursor.idx)],
				setSelect: [u => this.select(u)],
			},
		}, this.values(data), this.box);
		this.drawLegend(data);
		this.watcher.observe(this.box);
	}

	values(data) {
		return [data.at, ...this.shown.map(s => data.columns[s.key] || data.at.map(() => null))];
	}

	/* A line that is far above everything would press the rest flat: then it is only named in the legend. */
	ceiling(u, most) {
		const near = (this.about.lines || []).map(l => l.value).filter(v => v <= 5 * most);
		return Math.max(most * 1.08, ...near.map(v => v * 1.04)) || 1;
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
		}), ...(this.about.lines || []).map(l => h("span", {class: "key"},
			styled(h("span", {class: "mark dashed"}), "border-color", colour("limit")), `${l.label} ${this.about.write(l.value)}`)));
		this.describe(data);
		this.showValues(null);
	}

	/* What a screen reader says of the picture. */
	describe(data) {
		this.box.setAttribute("aria-label", this.about.title + ": " + this.shown.map(s => {
			const v = data.columns[s.key] || [];
			return `${s.label} on average ${this.about.write(average(v))}, at most ${this.about.write(largest(v))}`;
		}).join("; "));
	}

	showValues(index) {
		this.shown.forEach((s, i) => {
			const v = index === null || index === undefined ? null : this.plot.data[i + 1][index];
			this.valueCells[i].textContent = isKnown(v) ? this.about.write(v) : "";
		});
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

/*
 * Charts of one run. onZoom(from, to), or null and null for the whole, may fetch finer data and give it to
 * setData. phases: [{from, to}] in seconds since 1970.
 */
class ChartGroup {
	constructor(abouts, data, phases, onZoom) {
		this.name = "group" + groups++;
		this.phases = phases;
		this.onZoom = onZoom;
		this.data = data;
		this.charts = abouts.filter(a => a.series.some(s => data.columns[s.key])).map(a => new TimeChart(a, this));
		this.range = null;
		this.node = h("div", {class: "charts"}, this.charts.map(c => c.node));
	}

	/* Once the node is in the page and has a width. */
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

	/* Keys and buttons: by < 1 is closer; shift is a share of what is seen. */
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

	/* detail: finer points of the range, or null for those of the whole. */
	setDetail(detail) {
		for (const c of this.charts)
			c.plot.setData(c.values(detail || this.data), false);
		this.show();
	}

	/* More of the whole came. */
	setData(data) {
		this.data = data;
		for (const c of this.charts) {
			c.plot.setData(c.values(data), false);
			c.describe(data);
		}
		this.show();
	}

	stop() {
		this.charts.forEach(c => c.stop());
	}
}
