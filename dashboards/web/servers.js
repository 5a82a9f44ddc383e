/* The servers of a recommendation, what a run costs on them and on the current one, and the list of runs with their costs. */

const HOURS_OF_A_MONTH = 720;

const inRegion = s => regionName(s) ? ` in ${regionName(s)}` : "";
const sameServer = (s, today) => today && today.server && s.vendor_id === today.server.vendor_id && s.api_reference === today.server.api_reference;

/* A cost against another one: −0.02 USD is less. */
const against = (more, share, currency) => !isKnown(more) ? UNKNOWN : [signed(more, v => money(v, currency)),
	isKnown(share) && h("div", {class: "dim"}, signed(share, roughly))];

function serverColumns(servers, today) {
	const any = key => servers.some(s => isKnown(s[key]) || (typeof s[key] === "string" && s[key]));
	const first = servers[0], note = s => s.price_note && h("div", {class: "dim note"}, `Price: ${s.price_note}`);
	return [
		{title: "Server", key: "server", value: serverName, cell: s => [named(serverName(s)), " ", h("span", {class: "dim"}, s.vendor_id), note(s)]},
		servers.some(regionName) && {title: "Region", key: "region", wide: true, value: regionName,
			cell: s => regionName(s) ? h("span", {title: s.region_name}, named(regionName(s))) : UNKNOWN},
		{title: "vCPUs", number: true, wide: true, value: s => s.vcpus, cell: s => count(s.vcpus)},
		{title: "Memory", number: true, wide: true, value: s => s.memory_amount, cell: s => mebibytes(s.memory_amount)},
		any("gpu_model") && {title: "GPU", wide: true, value: s => s.gpu_model, cell: s => s.gpu_count ? `${digits(s.gpu_count)} × ${s.gpu_model || "GPU"}` : "–"},
		{title: "Price an hour", key: "price", number: true, wide: true, value: s => s.price, cell: s => money(s.price, s.currency)},
		any("forecast_duration_seconds") && {title: "Duration", key: "duration", number: true, wide: true, value: s => s.forecast_duration_seconds, cell: s => seconds(s.forecast_duration_seconds)},
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
			`. It ${a.asks}.`, a.region_note && ` It is ${a.region_note}.`, a.price_note && ` Its price: ${a.price_note}.`))));
}

/* Names the source and the day of the prices, and the exchange rates that converted them. */
function priceSource(advice) {
	const from = advice.catalogue || {};
	const rates = (advice.rates || []).filter(r => isKnown(r.usd)).map(r => `1 ${r.currency} = ${r.usd} USD` +
		(r.source || r.as_of ? ` (${[r.source, r.as_of].filter(Boolean).join(", ")})` : ""));
	return h("p", {class: "dim"}, `${count(advice.servers_fitting)} server${advice.servers_fitting === 1 ? " fits" : "s fit"}. ` +
		`Prices: ${from.source || UNKNOWN}, ${from.as_of || "of unknown date"}.` +
		(rates.length ? ` Exchange rate${rates.length === 1 ? "" : "s"}: ${rates.join("; ")}.` : ""));
}

const noteList = advice => (advice.notes || []).map(text => h("p", {class: "note"}, text[0].toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".")));

function serversCard(advice) {
	const servers = advice.servers || [], notes = noteList(advice);
	const whole = (...parts) => h("section", {class: "card", id: "servers"}, h("h2", null, "Servers"), parts);
	if (servers.length === 0)
		return whole(h("p", null, "No server to recommend."), alternativeList({...advice, servers}), notes);
	const dots = servers.filter(s => isKnown(s.forecast_duration_seconds) && isKnown(s.forecast_cost)).map((s, i) => ({
		x: s.forecast_duration_seconds, y: s.forecast_cost, label: serverName(s), kind: i === 0 ? "best" : ""}));
	const words = bestWords(advice);
	return whole(words && h("p", null, words), todayFacts(advice), h("div", null,
		new Table("servers", serverColumns(servers, advice.today), servers, null).node),
	alternativeList(advice), notes, priceSource(advice),
	dots.length > 1 && scatter(dots, {xTitle: "Forecast duration", yTitle: "Cost of a run", x: seconds, y: v => money(v, servers[0].currency)}));
}

/* Names the unused part of the request and its cost. No other place says more than the saving. */
function todayFacts(advice) {
	const today = advice.today;
	if (!today)
		return null;
	const s = today.server || {}, over = today.overallocated || {}, currency = today.currency;
	const spare = [over.cpu_cores > 0 && cores(over.cpu_cores), over.memory_bytes > 0 && bytes(over.memory_bytes)].filter(Boolean).join(", ");
	return [facts(
		["Current server", s.api_reference && named(s.api_reference), s.vendor_id],
		["Region", s.region && named(s.region)],
		["Price an hour", isKnown(s.price) ? money(s.price, currency) : null],
		["Cost of a run", isKnown(today.cost_per_run) ? money(today.cost_per_run, currency) : null],
		["Requested, not needed", spare || null],
		["Its cost a run", isKnown(over.cost_per_run) ? money(over.cost_per_run, currency) : null]),
	today.note && h("p", {class: "note"}, today.note)];
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

/* links: whether a run has a page; in a report none has. */
function runColumns(runs, links) {
	const any = key => runs.some(r => isKnown(r[key]));
	return [
		{title: "Started", value: r => instant(r.started_at),
			cell: r => h(links ? "a" : "span", {href: links ? runLink(r.run_id) : null, class: "date"}, when(instant(r.started_at)))},
		{title: "Outcome", value: r => r.outcome, cell: r => [outcomeBadge(r.outcome), " ", h("span", {class: "dim"}, hasFailed(r.outcome) ? ending(r) : null)]},
		{title: "Duration", number: true, value: r => r.duration_seconds, cell: r => seconds(r.duration_seconds)},
		{title: "CPU average", number: true, wide: true, value: r => r.cpu_cores_mean, cell: r => cores(r.cpu_cores_mean)},
		{title: "Peak memory", number: true, value: r => r.memory_peak_bytes, cell: r => bytes(r.memory_peak_bytes)},
		any("cost") && {title: "Cost", number: true, value: r => r.cost, cell: r => money(r.cost, r.currency)},
		{title: "Host", wide: true, value: r => r.host, cell: r => r.host ? named(r.host) : UNKNOWN},
	].filter(Boolean);
}
