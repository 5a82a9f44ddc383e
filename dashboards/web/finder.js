/* Finds servers: a sentence ("4 CPUs, 16 GB, Frankfurt") and fields say the same; the address keeps it. */

const CONTINENTS = ["Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America"];
const DURATIONS = [[/^d/, 86400], [/^h/, 3600], [/^m/, 60], [/^s/, 1]];

/* Words around wishes. */
const FILLERS = new Set("a about an and at at-least for in least linux lasting machine memory of on or ram run runs server servers taking that the with".split(" "));
const isFiller = word => FILLERS.has(word.toLowerCase());

/* Returns the words of a part of a sentence without the fillers at both ends: "in the Isle of Man" is "Isle of Man". A part
   that is all fillers is a country if it ends with a code of one: "in IN" is IN. */
function placeWords(part) {
	const words = part.split(/\s+/).filter(Boolean), first = words.findIndex(w => !isFiller(w));
	return first < 0 ? words.slice(-1).filter(w => /^[A-Z]{2}$/.test(w)).join("") : words.slice(first, words.findLastIndex(w => !isFiller(w)) + 1).join(" ");
}

/* Maps the words that name a vendor in a sentence, in small letters, to its id: the id, the name and the name's first word, as the catalogue has them. */
const vendorIds = new Map();

async function learnVendors(signal) {
	const answer = vendorIds.size ? null : await askIfAny("servers", {limit: 1, details: 1}, signal);
	for (const [id, name] of Object.entries(answer ? answer.catalogue.vendors : {}))
		[id, name, name && name.split(" ")[0]].filter(word => word && !isFiller(word)).forEach(word => vendorIds.set(word.toLowerCase(), id));
}

function vendorOf(text) {
	return vendorIds.get(text.toLowerCase()) || text;
}

const countryCodes = {};

/* ISO 3166 names and codes, as the browser knows them. */
function countryOf(text) {
	if (Object.keys(countryCodes).length === 0) {
		const names = new Intl.DisplayNames("en", {type: "region", fallback: "none"}), letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
		Object.assign(countryCodes, {usa: "US", uk: "GB"});
		for (const code of letters.flatMap(a => letters.map(b => a + b)))
			if (names.of(code))
				countryCodes[names.of(code).toLowerCase()] = code;
	}
	return /^[A-Z]{2}$/.test(text) ? text : countryCodes[text.toLowerCase()];
}

/* A number and its unit. A number begins a word: that of A100 or of europe-west3 is none. */
const NUMBER = "(\\d+(?:\\.\\d+)?)";
const amountOf = units => new RegExp(`(?<![\\w.-])${NUMBER}\\s*${units}\\b`, "i");
const A_TIME = `${NUMBER}\\s*(days?|d|hours?|hrs?|h|minutes?|mins?|seconds?|secs?|s)(?![a-z])`;

/* Returns the seconds of "1 h 30 min". */
function durationOf(text) {
	const sum = [...text.matchAll(new RegExp(A_TIME, "gi"))].reduce((total, [, n, unit]) => total + n * DURATIONS.find(([p]) => p.test(unit.toLowerCase()))[1], 0);
	return String(Number(sum.toFixed(3)));
}

/* Reads the wishes of a sentence: {cpu, memory (GiB), gpu, model, where, vendor, duration (seconds), arm, burstable, spot}. A wish that it does not say is absent. */
function parsedWish(sentence) {
	const wish = {};
	let text = sentence;
	const take = (pattern, use) => { text = text.replace(pattern, (...found) => { use(found); return ","; }); };
	take(/\bvendor\s+([^,;]+)/i, m => { wish.vendor = vendorOf(m[1].trim()); });
	take(/\bgpu model\s+([^,;]+)/i, m => { wish.model = m[1].trim(); });
	take(amountOf("(?:v?cpus?|cores?)"), m => { wish.cpu = m[1]; });
	take(amountOf("(?:x\\s*)?(?:([a-z]+\\d\\w*)\\s+)?gpus?"), m => { Object.assign(wish, {gpu: m[1]}, m[2] && {model: m[2]}); });
	take(amountOf("(gi?b?|ti?b?|mi?b)"), m => { wish.memory = String(Number(m[1]) * {g: 1, t: 1024, m: 1 / 1024}[m[2][0].toLowerCase()]); });
	take(new RegExp(`(?<![\\w.-])(?:${A_TIME}[\\s,]*(?:and\\s+)?)+`, "i"), m => { wish.duration = durationOf(m[0]); });
	take(/\b(?:arm64|arm|aarch64|graviton)\b/i, () => { wish.arm = "1"; });
	take(/\bspot\b/i, () => { wish.spot = "1"; });
	take(/\b(?:burstable|shared)\b/i, () => { wish.burstable = "1"; });
	take(/\bon[- ]?demand\b|\bx86(?:_64)?\b/ig, () => {});
	if (vendorIds.size)
		take(new RegExp(`(?<![\\w-])(?:${[...vendorIds.keys()].sort((a, b) => b.length - a.length).map(name => name.replace(/\W/g, "\\$&")).join("|")})(?![\\w-])`, "i"), m => { wish.vendor = vendorOf(m[0]); });
	const places = text.split(/[,;]+/).map(placeWords).filter(Boolean);
	if (places.length)
		wish.where = places.join(", ");
	return wish;
}

function durationWords(v) {
	const [unit, name] = [[86400, "days"], [3600, "h"], [60, "min"], [1, "s"]].find(([u]) => v >= u && v % u === 0) || [1, "s"];
	return `${v / unit} ${name}`;
}

/* The sentence of a wish. parsedWish() of it is the wish again, unless a field has words of another one, as "2 CPUs" for a region. */
function wishWords(w) {
	const of = (n, word) => n && `${n} ${word}${n === "1" ? "" : "s"}`;
	return [of(w.cpu, "CPU"), w.memory && `${w.memory} GB`, of(w.gpu, "GPU"), w.model && `GPU model ${w.model}`, w.where,
		w.vendor && (vendorIds.has(w.vendor) ? w.vendor : `vendor ${w.vendor}`),
		w.duration && durationWords(Number(w.duration)), w.arm && "arm64", w.burstable && "burstable", w.spot && "spot"].filter(Boolean).join(", ");
}

/* Memory is that of the server as sold, so that "16 GB" finds servers of 16 GiB. */
function wishQuestion(w, page) {
	const places = (w.where || "").split(",").map(t => t.trim()).filter(Boolean), countries = places.map(countryOf).filter(Boolean);
	const continents = CONTINENTS.filter(c => places.some(p => p.toLowerCase() === c.toLowerCase()));
	const regions = places.filter(p => !countryOf(p) && !continents.some(c => c.toLowerCase() === p.toLowerCase()));
	const all = {vcpus_min: w.cpu, memory_min: w.memory, gpu_min: w.gpu, gpu_model: w.model, vendor: w.vendor, duration: w.duration, architecture: w.arm ? "any" : "x86_64",
		cpu_allocation: w.burstable ? "any" : "Dedicated", allocation: w.spot ? "any" : "ondemand", limit: ROWS_ON_A_PAGE, page: page + 1, details: 1};
	return [...Object.entries(all).filter(([, v]) => v), ...regions.map(r => ["regions", r]), ...countries.map(c => ["countries", c]), ...continents.map(c => ["continents", c])];
}

const WISHES = ["cpu", "memory", "gpu", "model", "where", "vendor", "duration", "arm", "burstable", "spot"];
const finderLink = wish => "#/servers?" + new URLSearchParams(WISHES.filter(k => wish[k]).map(k => [k, wish[k]]));

/* Sorted by the exporter: the headings do not sort. */
function finderColumns(servers) {
	const small = s => [regionName(s), `${count(s.vcpus)} vCPUs`, mebibytes(s.memory_amount), s.asks].filter(Boolean).join(", ");
	const columns = serverColumns(servers, null).filter(c => c.key !== "duration").map(c => ({...c, value: null})), at = key => columns.find(c => c.key === key) || {};
	const name = at("server").cell;
	at("server").cell = s => [name(s), h("div", {class: "dim note narrow"}, small(s))];
	at("region").kind = "date";
	at("price").wide = false;
	columns.splice(columns.indexOf(at("price")) + 1, 0, {title: "A month", number: true, wide: true, cell: s => money(s.price * HOURS_OF_A_MONTH, s.currency)});
	return [...columns, {title: "Conditions", wide: true, cell: s => s.asks || faint("none")}];
}

/* The number is unknown while the prices of a requested region are. */
const fittingWords = ({servers_fitting: n}) => !isKnown(n) ? "It is not known which servers fit" : n === 1 ? "1 server fits" : `${count(n)} servers fit`;

function foundServers(answer, wish, page, turn) {
	const table = new PagedTable("servers", finderColumns(answer.servers), null, page, () => turn(table.page));
	table.fill(answer.servers, answer.servers_fitting);
	return h("section", {class: "card"}, h("h2", null, fittingWords(answer)),
		answer.servers.length > 0 && [h("p", null, wish.duration ? `Cheapest run of ${seconds(Number(wish.duration))} first. ` : "Lowest price first. Say how long a run takes to see its cost. "), alternativeList(answer), table.node],
		noteList(answer), priceSource(answer));
}

function finderForm(wish, changed) {
	const field = (key, title, attributes) => h("label", null, title, h("input", {name: key, value: wish[key], oninput: changed, ...attributes}));
	const number = (key, title) => field(key, title, {type: "number", min: 0, step: "any", inputmode: "decimal"});
	const tick = (key, title) => h("label", {class: "tick"}, h("input", {type: "checkbox", name: key, checked: Boolean(wish[key]), onchange: changed}), title);
	const hours = isKnown(Number(wish.duration)) && wish.duration ? Number(wish.duration) / 3600 : null;
	return h("form", {class: "fields", onsubmit: e => e.preventDefault()}, number("cpu", "CPUs, at least"), number("memory", "Memory, GB, at least"), number("gpu", "GPUs, at least"),
		field("model", "GPU model", {type: "text"}),
		field("where", "Region, country or continent", {type: "text"}), field("vendor", "Vendor", {type: "text"}),
		h("label", null, "Hours of a run", h("input", {name: "hours", type: "number", min: 0, step: "any", inputmode: "decimal", value: hours === null ? null : Number(hours.toFixed(4)), oninput: changed})),
		tick("arm", "arm64, too"), tick("burstable", "burstable CPUs, too"), tick("spot", "spot, too"));
}

const EXAMPLES = ["4 CPUs, 16 GB, Frankfurt", "8 CPUs, 32 GB, Europe, 2 h, spot", "1 GPU, 64 GB, aws", "2 CPUs, 4 GB, Germany, arm64"];

async function finderView(_, signal, query) {
	await learnVendors(signal);
	let wish = Object.fromEntries(WISHES.filter(k => query.get(k)).map(k => [k, query.get(k)])), page = Math.max(0, (parseInt(query.get("page"), 10) || 1) - 1), wanted = 0, waits = 0;
	const sentence = h("input", {type: "search", "aria-label": "The server in a sentence", placeholder: EXAMPLES[0], value: wishWords(wish), oninput: () => {
		wish = parsedWish(sentence.value);
		form.replaceChildren(finderForm(wish, fromFields));
		soon();
	}});
	const form = h("div", null, finderForm(wish, fromFields)), results = h("div"), status = h("p", {class: "hide", role: "status"});

	function fromFields() {
		const get = key => form.querySelector(`[name=${key}]`), hours = get("hours").value;
		wish = Object.fromEntries(WISHES.filter(k => get(k)).map(k => [k, get(k).type === "checkbox" ? get(k).checked && "1" : get(k).type === "number" ? get(k).value && String(Number(get(k).value)) : get(k).value.trim()]).filter(([, v]) => v));
		if (hours > 0)
			wish.duration = String(Number((hours * 3600).toFixed(3)));
		sentence.value = wishWords(wish);
		soon();
	}
	/* A person goes on typing. */
	function soon() {
		page = 0;
		clearTimeout(waits);
		waits = setTimeout(look, SEARCH_PAUSE_MS * 2);
	}
	function look() {
		setAddress({...Object.fromEntries(WISHES.map(k => [k, wish[k]])), page: page ? page + 1 : null});
		find().catch(e => {
			if (e.name !== "AbortError")
				say(e.message, "warn");
		});
	}
	async function find() {
		const mine = ++wanted;
		if (Object.keys(wish).length === 0) {
			results.replaceChildren(h("section", {class: "card"}, h("p", null, "Say what the server is to have. For example:"),
				h("ul", {class: "explain"}, EXAMPLES.map(text => h("li", null, h("a", {href: finderLink(parsedWish(text))}, text))))));
			return;
		}
		let found;
		try {
			const answer = await ask("servers?" + new URLSearchParams(wishQuestion(wish, page)), null, signal);
			found = foundServers(answer, wish, page, to => { page = to; look(); });
			status.textContent = fittingWords(answer);
		} catch (e) {
			if (!(e instanceof Refused))
				throw e;
			status.textContent = "No servers found";
			found = h("section", {class: "card"}, h("p", null, e.message[0].toUpperCase() + e.message.slice(1) + "."));
		}
		if (mine === wanted) {
			results.replaceChildren(found);
			say("");
		}
	}
	await find();
	return {
		title: "Servers",
		node: h("div", {class: "wide-page"}, h("div", {class: "top"}, h("div", null, h("h1", {tabindex: "-1"}, "Find a server"), h("p", {class: "lead"}, "In a sentence or in fields: both say the same."))),
			h("section", {class: "card finder"}, sentence, form), status, results),
	};
}
