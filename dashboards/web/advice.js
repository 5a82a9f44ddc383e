/* The answer: the request for the next run, how sure it is, the line to paste, the saving, and warnings. */

const MEBIBYTE = 1048576;
const needed = advice => advice && advice.resources || {};
const serverName = s => s.display_name || s.api_reference || s.server_id;
const regionName = s => s.region || s.region_name || s.region_id;
const ALLOCATIONS = {ondemand: "on-demand", spot: "spot"};

/* ---- the request ---- */

/* The request in one sentence, the first of the summary; the duration behind it stands elsewhere. */
function requestSentence(advice, before) {
	const need = needed(advice), first = /^(Request .+?)(?: for about .+?)?\.(?:\s|$)/.exec(advice.summary || "");
	const words = first ? first[1] : "Request " + [isKnown(need.cpu) && cpus(need.cpu), isKnown(need.memory) && mebibytes(need.memory)].filter(Boolean).join(" and ");
	const same = (a, b) => isKnown(a) && isKnown(b) && Math.abs(a / b - 1) < 0.005;
	return (same(before.cpu_cores, need.cpu) && same(before.memory_bytes, need.memory * MEBIBYTE) ? words.replace(/^Request/, "Keep") : words) + ".";
}

function chanceSentence(advice) {
	const runs = (advice.based_on || {}).runs, peak = (advice.used || {}).memory_bytes, chance = (advice.memory || {}).too_small_chance;
	if (!chance || !isKnown(peak) || !isKnown(runs))
		return (advice.summary || "").replace(/^Request .+?\.\s+/, "").replace(/^Request .*$/, "");
	return `${count(runs)} successful run${runs === 1 ? "" : "s"} peaked at ${bytes(peak)}${runs === 1 ? "" : " at most"}; ${chance} may need more.`;
}

/* A track as long as the request, what was used in it, and a tick at the recommendation. */
function bullet(used, requested, recommended, write) {
	const most = largest([used, requested, recommended]), at = v => (v / most * 99).toFixed(2) + "%";
	if (!isKnown(most) || most <= 0)
		return null;
	const words = [isKnown(used) && `${write(used)} used`, isKnown(requested) && `${write(requested)} requested`, isKnown(recommended) && `${write(recommended)} recommended`];
	return svg("svg", {height: 26, role: "img", "aria-label": words.filter(Boolean).join(", ")},
		svg("rect", {class: "track", x: 0.5, y: 8.5, width: at(isKnown(requested) ? requested : most), height: 12, rx: 4}),
		isKnown(used) && svg("rect", {class: "used", x: 1, y: 9, width: at(used), height: 11, rx: 3.5}),
		isKnown(recommended) && svg("line", {class: "tick", x1: at(recommended), x2: at(recommended), y1: 4, y2: 25}));
}

function changeWords(from, to) {
	if (!isKnown(from) || !isKnown(to) || from <= 0)
		return null;
	const change = to / from - 1;
	return Math.abs(change) < 0.005 ? h("span", {class: "change dim"}, "same") :
		h("span", {class: "change " + (change < 0 ? "good" : "warn")}, signed(change, v => roughly(v)));
}

function compareTable(advice) {
	const need = needed(advice), used = advice.used || {}, now = advice.requested || {}, demand = advice.demand || {};
	const failed = advice.based_on && advice.based_on.failed_runs && advice.based_on.failed_runs.memory_peak_bytes || {};
	const killed = advice.based_on && advice.based_on.ended && advice.based_on.ended.killed_for_memory > 0 && failed.max > used.memory_bytes ? failed.max : NaN;
	const none = h("span", {class: "dim"}, UNKNOWN);
	const row = (name, use, request, advised, write, more) => isKnown(advised) && h("tr", null, h("th", {scope: "row"}, name),
		h("td", null, isKnown(use) ? write(use) : none.cloneNode(true), more),
		h("td", null, isKnown(request) ? write(request) : none.cloneNode(true)),
		h("td", {class: "new"}, write(advised), " ", changeWords(request, advised)),
		h("td", {class: "bullet"}, bullet(use, request, advised, write)));
	return h("table", {class: "compare"},
		h("thead", null, h("tr", null, h("th", {scope: "col"}, h("span", {class: "hide"}, "Resource")),
			["Used at most", "Requested now", "Recommended"].map(t => h("th", {scope: "col"}, t)),
			h("th", {scope: "col", class: "bullet"}, "Used, recommended ", h("span", {class: "good", "aria-hidden": "true"}, "┃"), ", requested"))),
		h("tbody", null, row("CPU", used.cpu_cores, now.cpu_cores, need.cpu, cores),
			row("Memory", used.memory_bytes, now.memory_bytes, need.memory * MEBIBYTE, bytes,
				isKnown(killed) && h("div", {class: "small bad"}, `killed at ${bytes(killed)}`)),
			need.gpu > 0 && row("GPU", used.gpus, NaN, need.gpu, gpus),
			need.gpu > 0 && row("GPU memory", used.vram_bytes, NaN, demand.vram_bytes, bytes)));
}

/* ---- the line to paste ---- */

/* The page says of each route which formats it has. */
function formatWords() {
	const link = document.querySelector('#routes a[href="recommend"]');
	return link && link.dataset.formats ? link.dataset.formats.split(" ") : [];
}

/* Decimal megabytes differ from the MiB of the answer, so that they are said. */
function decimalNote(advice, format, text) {
	const found = /^metaflow/.test(format) && /memory=(\d+)/.exec(text);
	return found ? `${mebibytes(needed(advice).memory)} = ${found[1]} decimal MB, as Metaflow counts.` : "";
}

/* Why the numbers differ from those of the request, where they do. */
function noteOf(advice, paste, format, text) {
	const note = paste.note && format === paste.format ? `For ${format}: ${paste.note}.` : "";
	return [note, decimalNote(advice, format, text)].filter(Boolean).join(" ");
}

/* signal is null in a report: it has the one line that was asked for. */
function pasteBox(job, advice, signal) {
	const paste = advice.paste || {}, code = h("code", {tabindex: "0", "aria-label": "The request as text"}, (paste.text || "").trim());
	const note = h("p", {class: "note"}, noteOf(advice, paste, paste.format || "", paste.text || ""));
	const formats = signal ? formatWords() : [];
	if (formats.length === 0)
		return paste.text ? [h("div", {class: "paste"}, code, copyButton(() => code.textContent, code)),
			h("p", {class: "note"}, paste.note ? note.textContent : `For ${paste.format}. ${note.textContent}`)] : null;
	const format = h("select", {id: "format"}, formats.map(f => h("option", {value: f}, f)));
	async function write() {
		stored("format", format.value);
		try {
			code.textContent = (await askText("recommend", {...jobOf(job), format: format.value, strategy: advice.strategy}, signal)).trim();
		} catch (e) {
			if (e.name !== "AbortError")
				code.textContent = e.message;
		}
		note.textContent = noteOf(advice, paste, format.value, code.textContent);
	}
	const before = stored("format");
	format.value = formats.includes(before) ? before : formats.includes(paste.format) ? paste.format : formats[0];
	format.addEventListener("change", write);
	if (format.value !== paste.format || !paste.text)
		write();
	return [h("div", {class: "paste"}, h("label", {class: "hide", for: "format"}, "Format"), format, code, copyButton(() => code.textContent, code)), note];
}

/* ---- the saving ---- */

/* From now to then, or one value where they are equal or one of them is not known. */
function arrow(now, then) {
	return [now && now !== then && [now, " → "], then];
}

function placeOf(s) {
	return [s.vendor_id, " ", regionName(s) && named(regionName(s)), s.allocation && `, ${ALLOCATIONS[s.allocation] || s.allocation}`];
}

/* Returns the change that the recommendation brings: {title, words, kind, below}. */
function savingWords(advice, monthly) {
	const {best, today} = advice, currency = best.currency || today && today.currency;
	const now = today && today.cost_per_run, then = best.forecast_cost, fitting = advice.servers_fitting;
	const byMonth = isKnown(monthly), times = byMonth ? monthly : 1, of = byMonth ? " a month" : " a run";
	const rate = byMonth ? `at ${runsWord(Math.round(monthly))} a month` : "A month is unknown: too few runs";
	if (!isKnown(now))
		return {title: "Best server", words: isKnown(then) ? `${money(then, currency)} a run` : serverName(best),
			below: h("p", null, named(serverName(best)), ", ", placeOf(best), ".")};
	if (best.is_current || (isKnown(best.saving) && best.saving <= 0))
		return {title: "Saving", words: "Nothing to save", below: h("p", null, best.is_current && isKnown(fitting) ?
			`The current server costs least of the ${count(fitting)} that fit.` : "The current server costs least.")};
	if (isKnown(best.saving))
		return {title: "Saving", words: money(best.saving * times, currency) + of, kind: "good", below: h("p", null,
			`${roughly(best.saving_percent / 100)} of ${money(now * times, currency)}${byMonth ? ", " + rate : of}.`, !byMonth && ` ${rate}.`)};
	if (isKnown(then) && then > now)
		return {title: "Cost", words: `+${money((then - now) * times, currency)}${of}`, kind: "warn",
			below: h("p", null, "In exchange, the next run has the memory that it needs. The current server is too small for that.")};
	return {title: "Cost", words: isKnown(then) ? `${money(then, currency)} a run` : serverName(best),
		below: h("p", null, "The current server is too small for this request.")};
}

function savingPart(advice) {
	const {best, today} = advice, based = advice.based_on || {}, chance = (advice.memory || {}).too_small_probability;
	const pairs = rows => h("dl", {class: "pairs"}, rows.filter(Boolean).map(([term, value]) => [h("dt", null, term), h("dd", null, value)]));
	const sure = [isKnown(chance) && ["Out of memory", `${roughly(chance)} of runs`], ["Confidence", `${based.confidence || UNKNOWN}, ${runsWord(based.runs || 0)}`]];
	const eyebrow = text => h("h2", {class: "eyebrow"}, text);
	if (!best && advice.servers_fitting > 0)
		return h("div", null, eyebrow("Server"), h("p", {class: "money"}, "No best server"), h("p", null, "Servers fit, but the price of the first is in doubt."), pairs(sure));
	if (!best && !isKnown(advice.servers_fitting))
		return h("div", null, eyebrow("Server"), h("p", {class: "money"}, UNKNOWN), h("p", null, "The prices of a requested region were not fetched."), pairs(sure));
	if (!best)
		return h("div", null, eyebrow("Server"), h("p", {class: "money"}, "No server fits"), h("p", null, "No server of the catalogue has what the request asks for."), pairs(sure));
	const {title, words, kind, below} = savingWords(advice, advice.runs_a_month), server = today && today.server || {};
	const now = today && today.cost_per_run, stays = best.is_current, lasts = (advice.duration || {}).expected_seconds;
	const forecast = isKnown(best.forecast_duration_seconds) ? seconds(best.forecast_duration_seconds) : null;
	return h("div", null, eyebrow(title), h("p", {class: "money " + (kind || "")}, words), below, pairs([
		isKnown(best.forecast_cost) && ["Cost of a run", stays ? money(now, today.currency) :
			[isKnown(now) && `${amount(now)} → `, money(best.forecast_cost, best.currency)]],
		isKnown(now) && ["Server", stays || !server.api_reference ? named(serverName(best)) : arrow(server.api_reference, serverName(best))],
		isKnown(now) && ["Region", [placeOf(best), best.region_note && `: ${best.region_note}`]],
		forecast && ["Duration", stays || !isKnown(now) || !isKnown(lasts) ? forecast : arrow(seconds(lasts), forecast)],
		...sure]), !isKnown(now) && h("p", {class: "note"}, server.api_reference ? `No price of the current server, ${server.api_reference}, is known.` :
		"Current server unknown. Set --server.vendor and --server.type to see the saving."));
}

/* ---- both, and warnings ---- */

function heroCard(job, advice, signal) {
	const now = advice.requested || {};
	return h("section", {class: "card hero", "aria-labelledby": "next"}, h("div", null,
		h("h2", {class: "eyebrow", id: "next"}, "Next run"),
		h("p", {class: "answer"}, requestSentence(advice, now)), h("p", {class: "chance"}, chanceSentence(advice)),
		compareTable(advice), pasteBox(job, advice, signal),
		!isKnown(now.cpu_cores) && !isKnown(now.memory_bytes) &&
			h("p", {class: "note"}, "Request unknown. Set --request-cpu and --request-memory to compare with it.")),
	savingPart(advice));
}

const ALERTS = {info: ["i", "Note", "plain"], warning: ["⚠", "Warning", ""], critical: ["✕", "Critical", "bad"]};

/* A strip: a sign and a word, then sentences, then maybe a link. */
function alertStrip(sign, word, kind, text, link) {
	return [h("b", null, h("span", {"aria-hidden": "true"}, sign + " "), h("span", {class: "word"}, word)), h("p", null, text), link];
}

const WARNINGS_SHOWN = 2;

/* The server sends the most severe warning first. Further ones are folded away. */
function warningList(advice) {
	const all = advice.warnings || [];
	const list = warnings => h("ul", {class: "alerts"}, warnings.map(w => {
		const [sign, word, kind] = ALERTS[w.severity] || ALERTS.info;
		return h("li", {class: "alert " + kind}, alertStrip(sign, word, kind, w.text));
	}));
	const more = all.slice(WARNINGS_SHOWN);
	const waits = advice.apply && !advice.apply.safe && h("span", {class: "note"}, "Automatic tuning waits until a person has looked at this.");
	return all.length > 0 && h("section", {"aria-label": "Warnings"}, list(all.slice(0, WARNINGS_SHOWN)),
		more.length > 0 ? h("details", null, h("summary", null, `${more.length} more warning${more.length === 1 ? "" : "s"} `, waits), list(more)) :
			waits && h("p", null, waits));
}

/* Before a run has succeeded: how the last one ended. */
function noAdvice(newest, links) {
	const failed = hasFailed(newest.outcome);
	return h("section", {class: "card"}, h("h2", {class: "eyebrow"}, "Next run"), h("p", {class: "answer"}, "No recommendation yet."),
		h("p", null, newest.outcome === "running" ? "The first run goes on. A recommendation needs one that succeeded." :
			failed ? ["The last run failed: ", ending(newest) || "the reason is unknown", `, its memory peaked at ${bytes(newest.memory_peak_bytes)}. `,
				links && h("a", {href: runLink(newest.run_id)}, "Open run")] : "A recommendation needs a run that succeeded."));
}

/* ---- why ---- */

const WHY_ABOUT = [["Memory", /^memory\b/i], ["CPU", /^(cpu|waits|duration by cores)\b/i], ["Duration and others", /./]];

/* A reason without the subject that stands above it. */
function reasonWords(text) {
	const words = text.replace(/^(memory|cpu): /i, "");
	return words[0].toUpperCase() + words.slice(1);
}

/* The reasons by their subject. */
function whyCard(advice, ...more) {
	const left = [...advice.explain || []], based = advice.based_on || {};
	const groups = WHY_ABOUT.map(([title, about]) => {
		const mine = left.filter(t => about.test(t));
		mine.forEach(t => left.splice(left.indexOf(t), 1));
		return mine.length > 0 && h("div", null, h("h3", null, title), h("ul", null, mine.map(t => h("li", null, reasonWords(t)))));
	});
	return h("section", {class: "card", id: "why", "aria-labelledby": "why-title"}, h("h2", {id: "why-title"}, "Why"), h("div", {class: "why"}, groups, more),
		h("p", {class: "note"}, `From ${count(based.runs || 0)} successful run${based.runs === 1 ? "" : "s"}` +
			(based.excluded ? `, ${count(based.excluded)} other${based.excluded === 1 ? "" : "s"} left out` : "") + `; confidence ${based.confidence || UNKNOWN}.`));
}
