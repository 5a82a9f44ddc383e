/* A run beside another one: its samples from the same start on in the same charts, and the figures of both. */

const OTHER = "other:";

/* The series of a chart that the other run has, too: the filled one, or else all of the run's own that are switched on. */
function comparedSeries(series) {
	const own = series.filter(s => !s.key.startsWith("system_") && !s.hidden), filled = own.filter(s => s.fill), those = filled.length ? filled : own;
	return those.map(s => ({key: OTHER + s.key, label: those.length === 1 ? "other run" : `${s.label}, other run`, dash: [7, 4], width: 1.75, step: s.step,
		colour: those.length === 1 ? "series-5" : s.colour}));
}

/* Puts both series over one time, that of the run. A value that one of them did not measure then is unknown. */
function overlaid(series, run, other) {
	const shift = instant(run.started_at) - instant(other.run.started_at), theirs = other.series;
	const all = [...series.at.map((t, i) => [t, i, -1]), ...theirs.at.map((t, i) => [t + shift, -1, i])].sort((a, b) => a[0] - b[0]);
	const columns = {};
	for (const [name, values] of Object.entries(series.columns))
		columns[name] = all.map(([, mine]) => mine < 0 ? null : values[mine]);
	for (const [name, values] of Object.entries(theirs.columns))
		columns[OTHER + name] = all.map(([,, its]) => its < 0 ? null : values[its]);
	return {n: all.length, at: all.map(a => a[0]), columns};
}

/* The figures of a run by their keys: [title, how to write it]. */
const FIGURES = Object.fromEntries([["duration_seconds", ["Duration", seconds]],
	...STATISTICS.flatMap(([name, mean, max, write]) => [[mean, [`${name}, average`, write]], [max, [`${name}, peak`, write]]]),
	...TOTALS.map(([name, key, write]) => [key, [name, write]])]);
const COMPARED = ["duration_seconds", "cpu_cores_mean", "cpu_cores_max", "memory_peak_bytes", "gpu_usage_mean", "vram_peak_bytes",
	"cpu_seconds", "disk_read_bytes", "disk_written_bytes"];

const runLabel = r => `${day(instant(r.started_at))}, ${outcomeText(r.outcome).toLowerCase()}`;

/* The difference of two figures, as an amount and as a share. */
function more(value, of, write) {
	if (!(isKnown(value) && of > 0))
		return h("span", {class: "dim"}, "–");
	return write(value) === write(of) ? h("span", {class: "dim"}, "same") : [signed(value - of, write), h("div", {class: "dim"}, signed(value / of - 1, roughly))];
}

/* The figures of both runs, one below the other. drawn: whether the samples of the other one are still there. */
function comparisonTable(run, other, drawn) {
	const figures = {...FIGURES, cost: ["Cost", v => money(v, run.currency)]};
	const all = [...COMPARED, "cost"].filter(key => isKnown(run[key]) || isKnown(other[key])).map(key => [key, ...figures[key]]);
	const cells = (name, value) => h("tr", null, h("th", {scope: "row"}, name), all.map(([key, , write]) => h("td", {class: "number"}, value(key, write))));
	const written = r => (key, write) => isKnown(r[key]) ? write(r[key]) : h("span", {class: "dim"}, UNKNOWN);
	return h("section", {class: "card"}, h("h2", null, "This run and the other"), h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison"},
		h("table", null, h("thead", null, h("tr", null, h("th", {scope: "col"}, "Run"), all.map(([, title]) => h("th", {scope: "col", class: "number"}, title)))),
			h("tbody", null,
				cells([h("span", {class: "sample"}), "This run, ", runLabel(run)], written(run)),
				cells([h("span", {class: "sample other"}), "Other run, ", h("a", {href: runLink(other.run_id)}, runLabel(other))], written(other)),
				cells("This run against the other", (key, write) => more(run[key], other[key], write))))),
	h("p", {class: "note"}, drawn ? "In the charts both begin at the same time; times are those of this run." :
		"The charts show this run only: the samples of the other one are gone from the history."));
}

/* Chooses the run to compare with; the address keeps it. */
function comparePicker(run, runs, other) {
	const others = runs.filter(r => r.run_id !== run.run_id), listed = other && !others.some(r => r.run_id === other.run_id) ? [other, ...others] : others;
	const select = h("select", {"aria-label": "Compare with another run", onchange: () => {
		location.hash = runLink(run.run_id) + (select.value ? "?with=" + encodeURIComponent(select.value) : "");
	}}, h("option", {value: ""}, other ? "Stop comparing" : "Compare with …"), listed.map(r => h("option", {value: r.run_id, selected: other && r.run_id === other.run_id},
		`${runLabel(r)}, ${seconds(r.duration_seconds)}`)));
	return listed.length > 0 && select;
}
