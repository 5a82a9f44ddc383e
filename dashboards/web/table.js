/*
 * Tables that sort by a click or a key on a heading and show a page of rows at a time, so that ten thousand rows
 * cost no more than fifty. A column: {title, cell(row), value(row) to sort by, number or down: the first
 * click sorts from the highest on, wide: not on a phone, kind: a class, key: what other code calls it}.
 */

const ROWS_ON_A_PAGE = 50;

const isMissing = v => v === null || v === undefined || v !== v;

/* Unknown values are last in both directions. */
function compare(a, b, way) {
	if (isMissing(a) || isMissing(b))
		return isMissing(a) - isMissing(b);
	return way * (typeof a === "string" ? a.localeCompare(b) : a - b);
}

class Table {
	/* rows: null if they come later. sort: [index of a column, 1 up or -1 down], or null for the order as given. */
	constructor(label, columns, rows, sort) {
		this.columns = columns;
		this.sort = sort;
		this.page = 0;
		this.body = h("tbody");
		this.pager = h("nav", {class: "pager", "aria-label": "Pages of " + label});
		this.heads = columns.map((c, i) => h("th", {scope: "col", class: this.classes(c)},
			c.value || c.word ? h("button", {onclick: () => this.sortBy(i)}, c.title) : c.title));
		this.node = h("div", {class: "tablebox"},
			h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": label},
				h("table", null, h("thead", null, h("tr", null, this.heads)), this.body)),
			this.pager);
		if (rows)
			this.setRows(rows);
	}

	classes(c) {
		return [c.number && "number", c.wide && "wide", c.kind].filter(Boolean).join(" ") || null;
	}

	setRows(rows) {
		this.rows = rows;
		this.page = Math.min(this.page, Math.max(0, Math.ceil(rows.length / ROWS_ON_A_PAGE) - 1));
		this.order();
	}

	sortBy(i) {
		const {number, down} = this.columns[i];
		this.sort = [i, this.sort && this.sort[0] === i ? -this.sort[1] : number || down ? -1 : 1];
		this.page = 0;
		this.order();
	}

	/* Says which column the rows are sorted by. */
	mark() {
		const [i, way] = this.sort || [-1, 1];
		this.heads.forEach((th, k) => {
			if (k === i)
				th.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
			else
				th.removeAttribute("aria-sort");
		});
	}

	order() {
		const [i, way] = this.sort || [-1, 1];
		this.ordered = this.rows;
		if (i >= 0) {
			const value = this.columns[i].value;
			const keyed = this.rows.map(r => [value(r), r]);
			keyed.sort(([a], [b]) => compare(a, b, way));
			this.ordered = keyed.map(k => k[1]);
		}
		this.mark();
		this.draw();
	}

	draw() {
		const first = this.page * ROWS_ON_A_PAGE;
		this.fill(this.ordered.slice(first, first + ROWS_ON_A_PAGE), this.ordered.length);
	}

	turn(by) {
		this.page += by;
		this.draw();
		this.node.scrollIntoView({block: "nearest"});
	}

	/* Draws the rows of this.page, and the pager of all of them. */
	fill(rows, total) {
		const first = this.page * ROWS_ON_A_PAGE, pages = Math.ceil(total / ROWS_ON_A_PAGE);
		this.body.replaceChildren(...rows.map(r => h("tr", null, this.columns.map((c, i) =>
			h(i ? "td" : "th", {class: this.classes(c), scope: i ? null : "row"}, c.cell(r))))));
		this.pager.replaceChildren(...(pages < 2 ? [] : [
			h("button", {disabled: this.page === 0, onclick: () => this.turn(-1)}, "Previous"),
			h("span", null, `${count(first + 1)} to ${count(first + rows.length)} of ${count(total)}`),
			h("button", {disabled: this.page + 1 >= pages, onclick: () => this.turn(1)}, "Next")]));
	}
}
