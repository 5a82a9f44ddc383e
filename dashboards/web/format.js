/* Formats values for people. An unknown value is written as unknown, never as 0. */

const UNKNOWN = "unknown";
const isKnown = v => typeof v === "number" && isFinite(v);

function digits(v) {
	const size = Math.abs(v);
	return v.toLocaleString("en", {maximumFractionDigits: size >= 100 ? 0 : size >= 10 ? 1 : 2});
}

function scaled(v, step, units) {
	let i = 0;
	while (Math.abs(v) >= step && i + 1 < units.length) {
		v /= step;
		i++;
	}
	return digits(v) + " " + units[i];
}

const known = write => v => isKnown(v) ? write(v) : UNKNOWN;

const bytes = known(v => scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]));
const bytesPerSecond = known(v => bytes(v) + "/s");
const mebibytes = known(v => bytes(v * 1048576));
const plural = (v, one, many) => digits(v) + (digits(v) === "1" ? one : many);
const cores = known(v => plural(v, " core", " cores"));
const count = known(v => v.toLocaleString("en"));
const percent = known(v => digits(v * 100) + " %");
/* Two digits of a share in percent: a forecast is not more precise. */
const roughly = known(v => digits(Number((v * 100).toPrecision(2))) + " %");
/* Writes amounts as requests have them: "4 CPUs". */
const cpus = known(v => plural(v, " CPU", " CPUs"));
const gpus = known(v => plural(v, " GPU", " GPUs"));

const both = (n, unit, rest, lesser) => rest ? `${n} ${unit} ${rest} ${lesser}` : `${n} ${unit}`;

const seconds = known(v => {
	if (v > 0 && v < 1)
		return digits(v * 1000) + " ms";
	if (v < 60)
		return digits(v) + " s";
	if (v < 3600)
		return both(Math.floor(v / 60), "min", Math.floor(v % 60), "s");
	if (v < 172800)
		return both(Math.floor(v / 3600), "h", Math.floor(v % 3600 / 60), "min");
	return digits(v / 86400) + " days";
});

/* A run may cost a few millionths, and a vendor's price has three digits. Money is therefore written with three significant
 * digits, without zeros at the end. */
function money(v, currency) {
	if (!isKnown(v))
		return UNKNOWN;
	return amount(v) + " " + (currency || "USD");
}

/* Three digits of an amount of money, without a currency. */
function amount(v) {
	const size = Math.abs(v);
	const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size === 0 || size >= 1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(size)));
	return v.toFixed(decimals).replace(/(\.\d\d.*?)0+$/, "$1");
}

/* A decrease has a minus sign, an increase a plus sign. */
function signed(v, write) {
	return (v > 0 ? "+" : v < 0 ? "−" : "") + write(Math.abs(v));
}

/* Writes a time for an address: in UTC, with milliseconds. */
const iso = v => new Date(v * 1000).toISOString();
const instant = text => text ? Date.parse(text) / 1000 : NaN;

/* Times are in the browser's time zone, dates in ISO 8601, hours from 0 to 23. */
const two = n => String(n).padStart(2, "0");
const date = known(v => {
	const d = new Date(v * 1000);
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
});
const clock = known(v => {
	const d = new Date(v * 1000);
	return `${two(d.getHours())}:${two(d.getMinutes())}`;
});
const clockSeconds = known(v => `${clock(v)}:${two(new Date(v * 1000).getSeconds())}`);
const day = known(v => `${date(v)} ${clock(v)}`);
const when = known(v => `${date(v)} ${clockSeconds(v)}`);
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const monthDay = known(v => `${MONTHS[new Date(v * 1000).getMonth()]} ${new Date(v * 1000).getDate()}`);

const ago = known(v => {
	const s = Math.max(0, Date.now() / 1000 - v);
	const [n, unit] = s < 60 ? [s, "s"] : s < 3600 ? [s / 60, "min"] : s < 172800 ? [s / 3600, "h"] : [s / 86400, "days"];
	return `${Math.floor(n)} ${unit} ago`;
});

const OUTCOMES = {
	running: ["▶", "Running", "live"],
	succeeded: ["✓", "Succeeded", "good"],
	failed: ["✕", "Failed", "bad"],
	oom_killed: ["◆", "Out of memory", "bad"],
	interrupted: ["–", "Interrupted", "warn"],
	unknown: ["?", "Unknown", "dim"],
};

function outcomeText(name) {
	return (OUTCOMES[name] || OUTCOMES.unknown)[1];
}

/* The sign and the word have the same meaning as the colour. */
function badge([sign, text, kind]) {
	return h("span", {class: "badge " + kind}, h("span", {"aria-hidden": "true"}, sign + " "), h("span", {class: "word"}, text));
}

/* more: text after the outcome, such as how long ago the run ended. */
function outcomeBadge(name, more) {
	const [sign, text, kind] = OUTCOMES[name] || OUTCOMES.unknown;
	return badge([sign, more ? `${text} ${more}` : text, kind]);
}

/* The sign and a short text. A screen reader also reads the word. */
function shortBadge([sign, word, kind], text) {
	return h("span", {class: "badge " + kind, title: word}, h("span", {"aria-hidden": "true"}, sign + " "), h("span", {class: "hide"}, word + " "), text);
}

const SEVERITIES = {
	info: ["i", "Note", "dim"],
	warning: ["⚠", "Warning", "warn"],
	critical: ["✕", "Critical", "bad"],
};

/* The number of warnings, with the sign of the most severe one. */
function severityBadge(name, n) {
	return shortBadge(SEVERITIES[name] || SEVERITIES.info, count(n));
}

/* Writes in words how a run ended. */
function ending(run) {
	if (isKnown(run.exit_signal))
		return `signal ${run.exit_signal}`;
	return isKnown(run.exit_code) ? `exit code ${run.exit_code}` : null;
}

const hasFailed = outcome => outcome === "failed" || outcome === "oom_killed";
const last = values => values.length ? values[values.length - 1] : NaN;

function average(values) {
	const all = values.filter(isKnown);
	return all.length ? all.reduce((a, b) => a + b, 0) / all.length : NaN;
}

function largest(values) {
	const all = values.filter(isKnown);
	return all.length ? all.reduce((a, b) => Math.max(a, b)) : NaN;
}

/* "1 run", "36 runs" */
const runsWord = n => `${count(n)} run${n === 1 ? "" : "s"}`;
