/* Small pictures: a share as a bar, and dots of cost by duration. Also the steps of their scales. */

/* Distances of the lines of a scale: powers of two for sizes, the units of clocks for times. */
const BINARY_STEPS = Array.from({length: 60}, (_, i) => 2 ** i);
const TIME_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
	...Array.from({length: 12}, (_, i) => 86400 * 2 ** i)];

/* A bar: share is from 0 to 1. */
function shareBar(share, kind) {
	return h("span", {class: "share " + (kind || ""), "aria-hidden": "true"},
		styled(h("span"), "width", Math.max(0, Math.min(1, share)) * 100 + "%"));
}

function ticks(least, most, wanted, steps) {
	const rough = (most - least) / wanted, power = 10 ** Math.floor(Math.log10(rough));
	const step = steps && steps.find(k => k >= rough) || power * [1, 2, 5, 10].find(k => k * power >= rough);
	const found = [];
	for (let v = Math.ceil(least / step) * step; v <= most * (1 + 1e-9); v += step)
		found.push(v);
	return found;
}

/* Adds room around the values, so that no dot lies on the frame. Begins at 0 if the values are near it. */
function padded(values) {
	const most = Math.max(...values), least = Math.min(...values);
	const room = (most - least || most || 1) * 0.12;
	return [least - room < most * 0.35 ? 0 : least - room, most + room];
}

/* points: [{x, y, label, kind}]. A table beside the picture has the same facts. */
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
