/* Small pictures in SVG: a trend in a table's cell, a share as a bar, dots of cost against duration. */

/* A line without axes; one value is a dot. The words beside it say the same. */
function sparkline(values) {
	const all = values.filter(isKnown), width = 88, height = 24;
	const picture = svg("svg", {class: "spark", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"});
	if (all.length === 0)
		return picture;
	const most = Math.max(...all), least = Math.min(...all, most * 0.5);
	const x = i => 3 + i * (width - 6) / Math.max(1, all.length - 1);
	const y = v => most > least ? height - 3 - (v - least) / (most - least) * (height - 6) : height / 2;
	picture.append(svg("polyline", {points: all.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ")}),
		svg("circle", {cx: x(all.length - 1), cy: y(all[all.length - 1]), r: 2.5}));
	return picture;
}

/* How much of the whole: share 0 to 1. */
function shareBar(share, kind) {
	return h("span", {class: "share " + (kind || ""), "aria-hidden": "true"},
		styled(h("span"), "width", Math.max(0, Math.min(1, share)) * 100 + "%"));
}

/* What is asked for beside what is needed, on one scale. rows: [label, value, kind]. */
function comparison(rows, write) {
	const most = largest(rows.map(r => r[1]));
	return h("div", {class: "comparison"}, rows.filter(r => isKnown(r[1])).map(([label, value, kind]) =>
		h("div", null, h("span", {class: "label"}, label), shareBar(value / most, kind), h("span", {class: "value"}, write(value)))));
}

function ticks(least, most, wanted, steps) {
	const rough = (most - least) / wanted, power = 10 ** Math.floor(Math.log10(rough));
	const step = steps && steps.find(k => k >= rough) || power * [1, 2, 5, 10].find(k => k * power >= rough);
	const found = [];
	for (let v = Math.ceil(least / step) * step; v <= most * (1 + 1e-9); v += step)
		found.push(v);
	return found;
}

/* Room around the values, so that no dot lies on the frame; from 0 when that is near. */
function padded(values) {
	const most = Math.max(...values), least = Math.min(...values);
	const room = (most - least || most || 1) * 0.12;
	return [least - room < most * 0.35 ? 0 : least - room, most + room];
}

/* points: [{x, y, label, kind}]; the table beside it says the same. */
function scatter(points, {xTitle, yTitle, x: writeX, y: writeY}) {
	const width = 560, height = 300, left = 84, bottom = 46, top = 12, right = 44;
	const [x0, x1] = padded(points.map(p => p.x)), [y0, y1] = padded(points.map(p => p.y));
	const x = v => left + (v - x0) / (x1 - x0) * (width - left - right);
	const y = v => height - bottom - (v - y0) / (y1 - y0) * (height - top - bottom);
	const picture = svg("svg", {class: "scatter", viewBox: `0 0 ${width} ${height}`, role: "img",
		"aria-label": `${yTitle} against ${xTitle} of ${points.length} servers; the table says the same`});
	for (const v of ticks(y0, y1, 4))
		picture.append(svg("line", {class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v)}),
			svg("text", {x: left - 8, y: y(v) + 4, "text-anchor": "end"}, writeY(v)));
	for (const v of ticks(x0, x1, 4, TIME_STEPS))
		picture.append(svg("line", {class: "grid", x1: x(v), x2: x(v), y1: top, y2: height - bottom}),
			svg("text", {x: x(v), y: height - bottom + 17, "text-anchor": "middle"}, writeX(v)));
	picture.append(svg("text", {class: "title", x: (left + width) / 2, y: height - 6, "text-anchor": "middle"}, xTitle));
	for (const p of points)
		picture.append(svg("circle", {class: p.kind || "", cx: x(p.x), cy: y(p.y), r: p.kind === "best" ? 7 : 5},
			svg("title", null, `${p.label}: ${writeY(p.y)}, ${writeX(p.x)}`)));
	return h("figure", null, h("figcaption", null, yTitle), picture);
}
