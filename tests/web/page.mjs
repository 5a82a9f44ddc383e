// Drives the page in a real Chromium. Reads the addresses from stdin (page.py). A failed check is printed and counted.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const require = createRequire(process.env.WEB_MODULES + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const told = JSON.parse(readFileSync(0, "utf8"));
const PATIENCE = 60000;
let failed = 0;
const only = process.env.WEB_ONLY; // the name of a single part to run

function check(holds, what) {
	console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
	if (!holds)
		failed++;
}

mkdirSync(told.screenshots, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"] });

// A page whose console messages are collected. expected: the allowed messages.
async function open(url, { phone = false, dark = false, expected = null } = {}) {
	const context = await browser.newContext({ viewport: phone ? { width: 390, height: 800 } : { width: 1440, height: 900 },
		colorScheme: dark ? "dark" : "light", isMobile: phone, hasTouch: phone, permissions: ["clipboard-read", "clipboard-write"] });
	const page = await context.newPage();
	page.complaints = [];
	page.asked = [];
	const complain = text => { if (!expected || !expected.test(text)) page.complaints.push(text); };
	page.on("console", m => { if (m.type() === "error" || m.type() === "warning") complain(m.text()); });
	page.on("pageerror", e => complain(String(e.stack || e)));
	page.on("dialog", d => { complain("a dialog: " + d.message()); d.dismiss(); });
	page.on("request", r => page.asked.push(r.url()));
	page.setDefaultTimeout(PATIENCE);
	await page.goto(url);
	await page.waitForSelector("main h1");
	return page;
}

async function accessible(page, what) {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
	const words = violations.map(v => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map(n => n.target.join(" ")).join(", ")}`);
	check(violations.length === 0, `${what}: accessible to axe${words.length ? ": " + words.join("; ") : ""}`);
}

// Checks that every view must pass. Then the page is closed.
async function finish(page, what, { shot = true } = {}) {
	if (shot)
		await page.screenshot({ path: `${told.screenshots}/${what.replaceAll(/[^a-z0-9]+/g, "-")}.png`, fullPage: true });
	const overflow = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
	check(overflow <= 1, `${what}: nothing sticks out sideways${overflow > 1 ? ` (${overflow} px)` : ""}`);
	check(page.complaints.length === 0, `${what}: the console is silent${page.complaints.length ? ": " + page.complaints.join(" | ") : ""}`);
	await page.context().close();
}

const drawn = page => page.evaluate(() => [...document.querySelectorAll(".plot canvas")].filter(c => {
	const pixels = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	return pixels.some((v, i) => i % 4 === 3 && v > 0);
}).length);
const runUrl = (base, id) => `${base}#/run/${id}`;
const jobUrl = (base, name) => `${base}#/job/${encodeURIComponent(name)}`;
const axisTexts = page => page.$$eval(".charts .plot", all => all.map(p => p.getAttribute("aria-label")));

async function emptyState() {
	const page = await open(told.empty);
	check(await page.textContent("h1") === "No jobs yet", "empty: says that there is nothing yet");
	await page.click("text=Copy");
	check((await page.evaluate(() => navigator.clipboard.readText())).startsWith("rightsize-exporter run"), "empty: the first command can be copied");
	await accessible(page, "empty");
	await finish(page, "empty");
}

const names = page => page.$$eval("tbody th a", all => all.map(e => e.textContent));
/* Waits until the list shows other jobs than before the act. */
async function relisted(page, act) {
	const before = (await names(page)).join();
	await act();
	await page.waitForFunction(old => [...document.querySelectorAll("tbody th a")].map(e => e.textContent).join() !== old, before);
	return names(page);
}

async function manyJobs() {
	const page = await open(told.many);
	await page.waitForSelector("tbody tr:nth-child(50)");
	const ready = await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
	const sizes = await page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
		.map(e => ({ name: e.name, size: e.encodedBodySize })));
	const own = sizes.filter(e => !/overview/.test(e.name)).reduce((sum, e) => sum + e.size, 0);
	const data = sizes.filter(e => /overview/.test(e.name)).map(e => e.size);
	console.log(`     the page is ${own} bytes compressed, its data ${data}; interactive after ${ready.toFixed(0)} ms`);
	check(own < 150 * 1024, "10,000 jobs: the page is smaller than 150 KiB");
	check(data.every(n => n < 100 * 1000) && page.asked.filter(u => /overview/.test(u)).every(u => /limit=50/.test(u)), "10,000 jobs: one page of them is asked for");
	check(ready < 5000, "10,000 jobs: interactive within 5 s on a busy machine");
	check(/^1 to 50 of 10,0\d\d$/.test(await page.textContent(".pager span")), "10,000 jobs: says how many there are");
	const found = await relisted(page, () => page.fill("input[type=search]", "etl load"));
	check(found.length > 0 && found.every(n => n.includes("etl") && n.includes("load")), `10,000 jobs: the search finds ${found.length} by both words`);
	check(/^[\d,]+ jobs found$/.test(await page.textContent("p[role=status]")), "10,000 jobs: and says how many match");
	await relisted(page, () => page.fill("input[type=search]", ""));
	await page.fill("input[type=search]", "é".repeat(101));
	await page.waitForFunction(() => document.querySelector("p[role=status]").textContent === "0 jobs found");
	check(await page.inputValue("input[type=search]") === "é".repeat(100), "10,000 jobs: a search ends at as many bytes as the exporter takes");
	await relisted(page, () => page.fill("input[type=search]", ""));
	const asked = page.asked.length, since = Date.now();
	await relisted(page, () => page.click("thead button >> text=Peak memory"));
	console.log(`     sorted in ${Date.now() - since} ms`);
	check(page.asked.slice(asked).some(u => /sort=-memory/.test(u)), "10,000 jobs: the exporter sorts them");
	check(await page.getAttribute("th[aria-sort]", "aria-sort") === "descending", "10,000 jobs: the sorted column says so");
	const memories = (await page.$$eval("tbody .c-mem", all => all.map(e => e.textContent))).map(t => t.split(" ")[0]);
	check(memories.length === 50, "10,000 jobs: a page has 50 of them");
	await relisted(page, () => page.click(".chip >> text=Failed last"));
	check((await page.$$eval("tbody a.plain .badge", all => all.length > 0 && all.every(b => b.classList.contains("bad")))),
		"10,000 jobs: the filter keeps failed ones only");
	await relisted(page, () => page.click(".chip >> text=All"));
	const strips = await page.$$eval("tbody .strip", all => all.map(e => e.querySelectorAll("i").length));
	check(strips.length === 50 && strips.every(n => n === 12), "10,000 jobs: each row draws the outcomes of 12 runs");
	check((await page.$$eval("tbody .strip", all => all.some(e => /failed|out of memory/.test(e.getAttribute("aria-label"))))), "10,000 jobs: and says them");
	check(/ of /.test(await page.textContent("tbody .c-mem")) || /no request/.test(await page.textContent("tbody .c-mem")), "10,000 jobs: the peak stands beside the request");
	await relisted(page, () => page.click("text=Next"));
	check(/^51 to 100 of/.test(await page.textContent(".pager span")) && /page=2/.test(page.url()), "10,000 jobs: pages turn, and the address keeps the page");
	const turned = await names(page);
	await page.click("tbody th a");
	await page.waitForSelector(".job");
	await page.goBack();
	await page.waitForSelector(".jobs tbody tr");
	check((await names(page)).join() === turned.join(), "10,000 jobs: Back brings the page back");
	await page.waitForFunction(() => document.querySelectorAll("tbody .c-advice").length === 50 && ![...document.querySelectorAll("tbody .c-advice")].some(e => /^(none yet|…)$/.test(e.textContent) && !/no success/.test(e.parentNode.textContent)));
	check(true, "10,000 jobs: those of the page are sized, also when the exporter does not size all");
	await accessible(page, "10,000 jobs");
	await relisted(page, () => page.fill("input[type=search]", "etl load"));
	await relisted(page, () => page.click(".chip >> text=Failed last"));
	const kept = await names(page);
	check(/q=etl\+load/.test(page.url()) && /sort=-memory/.test(page.url()) && /show=failed/.test(page.url()) && !/page=/.test(page.url()), `10,000 jobs: the address keeps search, filter and sort: ${page.url()}`);
	await page.click("tbody th a");
	await page.waitForSelector(".job");
	await page.goBack();
	await page.waitForSelector(".jobs tbody tr");
	check((await names(page)).join() === kept.join() && await page.inputValue("input[type=search]") === "etl load", "10,000 jobs: Back brings them back");
	await finish(page, "jobs");
	const beyond = await open(told.many + "#/?page=9999&sort=nonsense&show=nonsense");
	await beyond.waitForSelector("tbody tr");
	check(/ to 10,0\d\d of 10,0/.test(await beyond.textContent(".pager span")), "10,000 jobs: a page past the end is the last one");
	await finish(beyond, "jobs last page");
	for (const [what, look] of [["dark", { dark: true }], ["phone", { phone: true }], ["phone dark", { phone: true, dark: true }]]) {
		const seen = await open(told.many, look);
		await seen.waitForSelector("tbody tr:nth-child(50)");
		const hidden = await seen.$eval(".jobs .scroll", e => e.scrollWidth - e.clientWidth);
		check(hidden <= 1, `jobs, ${what}: no column is cut${hidden > 1 ? ` (${hidden} px)` : ""}`);
		await accessible(seen, `jobs, ${what}`);
		await finish(seen, `jobs ${what}`);
	}
}

/* The costs are those of the Job page: one answer makes both. */
async function savings() {
	const list = async () => (await (await fetch(told.prices + "overview")).json()).jobs.find(j => j.job_name === told.priced);
	for (const end = Date.now() + PATIENCE; (await list()).saving_a_month === null && Date.now() < end;)
		await new Promise(done => setTimeout(done, 200));
	const { resources } = await list();
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "savings" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(told.prices + "#/?sort=-saving", look);
		await page.waitForSelector("tbody .c-saving b");
		const saved = await page.textContent("tbody .c-saving"), advised = await page.textContent("tbody .c-advice");
		const first = (await names(page))[0];
		check(first === told.priced, `${what}: the job that saves most comes first: ${first}`);
		check(advised === `${resources.cpu} CPU${resources.cpu === 1 ? "" : "s"}, ${(resources.memory / 1024).toFixed(2)} GiB`, `${what}: says what to request: ${advised}`);
		const tile = await page.textContent(".figure:has-text('Can be saved')");
		check(tile.includes(saved), `${what}: the sum of the month stands above: ${tile}`);
		await accessible(page, what);
		await finish(page, what);
		const job = await open(jobUrl(told.prices, told.priced), look);
		await job.waitForSelector(".money");
		check(await job.textContent(".money") === saved + " a month", `${what}: and is that of the page of the job`);
		await finish(job, what + " job", { shot: false });
	}
}

/* Addresses that a person types, or that a mail program makes from a link. */
async function wrongAddresses() {
	for (const [hash, says] of [["#/job/%E0%A4%A", "There is no such page"], ["#/nonsense", "There is no such page"], ["#/job/nobody", "no job"],
		["#/run/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "<script>"], ["#/job/" + "x".repeat(3000), "bytes"]]) {
		const page = await open(told.many + hash, { expected: /40[04]/ });
		check((await page.textContent("h1")) === "Not found" && (await page.textContent("main")).includes(says),
			`${hash.slice(0, 40)}: not found, and says why`);
		await finish(page, `wrong ${hash.slice(2, 20)}`, { shot: false });
	}
}

async function keyboard() {
	const page = await open(told.many);
	await page.waitForSelector("tbody tr");
	await page.keyboard.press("Tab");
	check(await page.evaluate(() => document.activeElement.id) === "skip", "keyboard: the first stop skips to the content");
	await page.keyboard.press("Enter");
	check(await page.evaluate(() => document.activeElement.id) === "main", "keyboard: and does so");
	await page.focus("tbody th a");
	await page.keyboard.press("Enter");
	await page.waitForSelector(".chart");
	check(await page.evaluate(() => document.activeElement.tagName) === "H1", "keyboard: after a link its heading is read next");
	await finish(page, "keyboard", { shot: false });
}

async function oneJob() {
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "job" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(jobUrl(told.many, "train/segments"), look);
		await page.waitForFunction(() => document.querySelector(".paste code")?.textContent);
		check(await drawn(page) === 3, `${what}: memory, duration and CPU of the runs are drawn`);
		const bottom = await page.$eval(".paste", e => e.getBoundingClientRect().bottom);
		check(look.phone || bottom < 500, `${what}: the line to paste is high on the first screen (${bottom} px)`);
		const before = await page.textContent(".paste code");
		await page.selectOption("#format", "kubernetes");
		await page.waitForFunction(old => document.querySelector(".paste code").textContent !== old, before);
		await page.click(".paste >> text=Copy");
		const copied = await page.evaluate(() => navigator.clipboard.readText());
		check(copied.includes("requests:") && copied === await page.textContent(".paste code"), `${what}: the recommendation is copied in the format of choice`);
		await page.selectOption("#format", "metaflow");
		await page.waitForFunction(() => /decimal MB/.test(document.querySelector(".hero .note").textContent));
		check(true, `${what}: decimal MB are explained under the line`);
		const text = await page.textContent("main");
		for (const part of ["Requested now", "Recommended", "Used at most", "What changed", "Servers", "Runs", "Out of memory"])
			check(text.includes(part), `${what}: shows "${part}"`);
		check(/expected between .*requested .*recommended/.test(await page.getAttribute(".plot", "aria-label")), `${what}: says what the next run is expected to take`);
		const summary = (await (await fetch(`${told.many}recommend?job_name=train/segments&limit=1`)).json()).summary;
		check(summary.startsWith((await page.textContent(".answer")).slice(0, -1)), `${what}: the request is the sentence of /recommend`);
		await page.click(".tabs >> text=Runs");
		check(await page.$eval("#runs", e => e.getBoundingClientRect().top < innerHeight) && page.url().endsWith("part=runs"), `${what}: the runs are one click away, and the address keeps it`);
		await accessible(page, what);
		await finish(page, what);
	}
}

// Reads a number as people write it, within half of its last digit: "−0.0291 USD", "21 min 12 s", "55 %".
function reads(text, value) {
	const units = { ms: 1e-3, s: 1, min: 60, h: 3600, USD: 1, EUR: 1, "%": 1 };
	const parts = [...text.matchAll(/([+−]?)([\d,]*\.?\d+) (ms|s|min|h|USD|EUR|%)/g)];
	if (parts.length === 0)
		return false;
	const last = parts.at(-1), digit = 10 ** -(last[2].split(".")[1] || "").length;
	const number = (parts[0][1] === "−" ? -1 : 1) * parts.reduce((sum, p) => sum + p[2].replace(",", "") * units[p[3]], 0);
	const off = last[3] === "%" ? Math.max(0.51, 0.051 * Math.abs(number)) : 1.01 * digit * units[last[3]];
	return Math.abs(number - value) <= off;
}

// Returns the rows of the list of servers, by their headings.
const serverRows = page => page.$$eval("[aria-label=servers] table", ([table]) => {
	const heads = [...table.querySelectorAll("thead th")].map(e => e.textContent);
	return [...table.querySelectorAll("tbody tr")].map(tr => Object.fromEntries([...tr.children].map((e, i) => [heads[i], e.innerText.replaceAll(/\s+/g, " ")])));
});

// The servers of a page and of a report must be those of /recommend.
async function sameNumbers(page, advice, what) {
	const rows = await serverRows(page), today = advice.today;
	const faults = [], same = (holds, words) => { if (!holds) faults.push(words); };
	same(rows.length === advice.servers.length, `${rows.length} rows, ${advice.servers.length} servers`);
	for (const [i, s] of advice.servers.slice(0, rows.length).entries()) {
		const row = rows[i], at = text => `${s.api_reference}: ${text}`;
		same(row.Server === `${s.display_name} ${s.vendor_id}` + (s.price_note ? ` Price: ${s.price_note}` : ""), at(row.Server));
		same(row.Region === (s.region || s.region_name || s.region_id || "unknown"), at(row.Region));
		same(reads(row["Price an hour"], s.price), at(row["Price an hour"]));
		same(reads(row.Duration, s.forecast_duration_seconds), at(row.Duration));
		same(reads(row["Cost of a run"], s.forecast_cost), at(row["Cost of a run"]));
		const isToday = s.api_reference === today.server.api_reference && s.saving === 0, against = row["Against today"];
		same(isToday ? against === "today's server" : reads(against.split("USD")[0] + "USD", -s.saving) && reads(against.split("USD")[1], -s.saving_percent), at(against));
		same(i === 0 ? row["Against the first"] === "–" : reads(row["Against the first"].split("USD")[0] + "USD", s.more_than_first), at(row["Against the first"]));
	}
	const words = await page.innerText(".card:has([aria-label=servers]) > p >> nth=0");
	same(words.includes(advice.best.api_reference) && reads(words.match(/A run costs [^,]*? (?:USD|EUR)/)[0], advice.best.forecast_cost), words);
	same(advice.best.is_current ? words.startsWith("Today's server") : reads(words.match(/, ([^,]*) USD \(/)[1] + " USD", advice.best.saving), words);
	const conditions = await page.$$eval("[aria-label='Cheaper on a condition'] li", all => all.map(e => e.innerText));
	same(conditions.length === advice.alternatives.length && conditions.length > 0, `${conditions.length} conditions`);
	for (const [i, a] of advice.alternatives.entries())
		same(conditions[i].includes(a.api_reference) && conditions[i].includes(a.asks) && reads(conditions[i].match(/costs .*? USD/)[0], a.forecast_cost) &&
			reads(conditions[i].match(/saves .*? USD/)[0], a.saving), conditions[i]);
	check(faults.length === 0, `${what}: says the numbers of /recommend${faults.length ? ": " + faults.join(" | ") : ""}`);
}

// States with little data. None of it may be made up.
async function sparse() {
	const one = await open(jobUrl(told.many, "demo/short"));
	await one.waitForSelector(".money");
	check(!/a month/.test(await one.textContent(".money")), "one run: no month is made of it");
	check(/1 successful run peaked/.test(await one.textContent(".chance")) && /low, 1 run/.test(await one.textContent(".pairs")), "one run: says how little that is");
	await accessible(one, "one run");
	await finish(one, "one run");
	const failed = await open(jobUrl(told.many, "demo/fails"));
	check(await failed.textContent(".answer") === "No recommendation yet." && /exit code 3/.test(await failed.textContent(".card")), "failed only: no recommendation, and how the last run ended");
	check(await failed.locator("main >> text=Servers").count() === 0, "failed only: no empty servers");
	await accessible(failed, "failed only");
	await finish(failed, "failed only");
	const unknown = await open(jobUrl(told.many, told.steady));
	await unknown.waitForSelector(".hero");
	const words = await unknown.textContent(".hero");
	check(/Current server unknown\. Set --server\.vendor/.test(words) && /Request unknown\. Set --request-cpu/.test(words) && !/[+−]\d+ %/.test(words), "server and request unknown: no saving and no percentage");
	await finish(unknown, "server unknown");
}

async function prices() {
	const ask = async job => (await fetch(`${told.prices}recommend?limit=12&details=1&job_name=${encodeURIComponent(job)}`)).json();
	const advice = await ask(told.priced);
	check(advice.servers.some(s => s.price_note), "prices: some of 12 servers have a price in doubt"); // a report has 5 servers
	for (const look of [{}, { phone: true }, { dark: true }]) {
		const what = "prices" + (look.phone ? " phone" : look.dark ? " dark" : "");
		const page = await open(jobUrl(told.prices, told.priced), look);
		await page.waitForSelector("[aria-label=servers] tbody tr");
		if (!look.phone) {
			await sameNumbers(page, advice, what);
			const facts = await page.$$eval("#servers .facts div", all => Object.fromEntries(all.map(e => e.innerText.split("\n"))));
			check(reads(facts["Cost of a run"], advice.today.cost_per_run) && facts["Current server"] === advice.today.server.api_reference, `${what}: and so does the cost now`);
			// 20 runs, one in two hours: 19 intervals in 38 hours.
			const monthly = 19 / 38 * 720, money = await page.textContent(".money");
			check(/ a month$/.test(money) && reads(money, advice.best.saving * monthly), `${what}: the saving of a month is that of its runs: ${money}`);
		}
		await accessible(page, what);
		await finish(page, what);
	}
	const best = await open(jobUrl(told.prices, told.priced + "/best"));
	await best.waitForSelector("[aria-label=servers] tbody tr");
	const words = await best.innerText("main");
	check(/Today's server, e2-standard-2, is the best/.test(words) && /Nothing to save/.test(words) && !/saves? −|less than on today/.test(words), "prices best: today's server is the best, and saves nothing");
	check(/1 EUR = [\d.]+ USD \([^)]*\d{4}-\d\d-\d\d\)/.test(words), "prices: the exchange rate has its source and its day");
	await sameNumbers(best, await ask(told.priced + "/best"), "prices best");
	await finish(best, "prices best");
	const report = await open("file://" + told.pricedReport);
	await report.waitForSelector("[aria-label=servers] tbody tr");
	await sameNumbers(report, await report.evaluate(() => JSON.parse(document.getElementById("data").textContent).recommend), "prices report");
	await finish(report, "prices report");
}

async function warnings() {
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "warnings" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(jobUrl(told.many, told.mixed), look);
		const shown = page.locator("section[aria-label=Warnings]");
		check((await shown.locator("> ul .word").allTextContents()).join() === "Warning,Warning", `${what}: the most severe are shown, in a word`);
		check(/The label "customer" tells them apart \(such as "acme" below, "zoo" above\)/.test(await shown.textContent()), `${what}: says what tells the runs apart`);
		check(/waits until a person/.test(await shown.textContent()), `${what}: says that automatic tuning waits`);
		const more = shown.locator("details li");
		check(!await more.first().isVisible(), `${what}: more are folded away`);
		await shown.locator("summary").click();
		check(/used 0\.30 of 1 GPU on average/.test(await more.first().textContent()) && await more.first().isVisible(), `${what}: and unfold`);
		await accessible(page, what);
		await finish(page, what);
	}
	const steady = await open(jobUrl(told.many, told.steady));
	await steady.waitForSelector(".paste code");
	check(await steady.locator("section[aria-label=Warnings]").count() === 0, "warnings: no list where there are none");
	await finish(steady, "warnings none", { shot: false });
}

/* The server sizes its jobs in the background. */
async function warnedJobs() {
	const sized = async () => (await (await fetch(`${told.many}overview?search=${told.mixed}`)).json()).jobs.find(j => j.job_name === told.mixed).warnings;
	for (const end = Date.now() + PATIENCE; (await sized()).some(w => w.code === "not_sized") && Date.now() < end;)
		await new Promise(done => setTimeout(done, 200));
	const page = await open(told.many);
	await page.fill("input[type=search]", told.mixed);
	await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
	check(/Warning\s*3/.test(await page.textContent("tbody tr th")), "jobs: how many warnings a job has, and how severe they are");
	await accessible(page, "jobs with warnings");
	await finish(page, "jobs with warnings");
}

async function oneRun() {
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "run" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(runUrl(told.many, told.story), look);
		await page.waitForSelector(".charts canvas");
		check(await drawn(page) === 8, `${what}: CPU, memory, GPU, VRAM, disk, disk space, network and processes are drawn`);
		const text = await page.textContent("main");
		for (const part of ["Server", "before it", "Before", "VRAM", "Phases", "highest so far"])
			check(text.includes(part), `${what}: shows "${part}"`);
		check(/^Succeeded after 1 h 30 min/.test(await page.textContent(".lead")), `${what}: one sentence says what happened`);
		check((await page.$$eval(".figure strong", all => all.map(e => e.textContent).join())).startsWith("36 %,"), `${what}: the shares of the request come first`);
		const boxes = await page.$$eval(".charts:not(.more) .u-over", all => all.map(e => [e.clientHeight, e.clientWidth / innerWidth, e.getBoundingClientRect().bottom]));
		check(boxes.length === 2 && boxes.every(b => b[0] >= 220) && (look.phone || boxes[1][2] < 860), `${what}: CPU and memory are large, and on the first screen: ${JSON.stringify(boxes)}`);
		check(/limit 8 GiB; requested 8 GiB; recommended/.test((await axisTexts(page))[1]), `${what}: limit, request and recommendation are named`);
		check(await page.getAttribute(".turn a", "href") !== null && await page.locator(".turn button[disabled]").count() === 1, `${what}: the run before is one click away, the newest has none after it`);
		await accessible(page, what);
		await finish(page, what);
	}
}

async function compare() {
	const runs = (await (await fetch(`${told.many}runs?job_name=train/segments`)).json()).runs;
	const first = await open(runUrl(told.many, told.story));
	await first.waitForSelector(".charts canvas");
	await first.selectOption("[aria-label='Compare with another run']", told.storyBefore);
	await first.waitForSelector("[aria-label=Comparison]");
	check(first.url().endsWith("?with=" + told.storyBefore), "compare: the address keeps the other run");
	await first.goBack();
	await first.waitForSelector(".figures");
	check(await first.locator("[aria-label=Comparison]").count() === 0, "compare: Back leads to the run alone");
	await finish(first, "compare chosen", { shot: false });
	const [mine, its] = [told.story, told.storyBefore].map(id => runs.find(r => r.run_id === id));
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "compare" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(runUrl(told.many, told.story) + "?with=" + told.storyBefore, look);
		await page.waitForSelector(".charts canvas");
		const rows = await page.$$eval("[aria-label=Comparison] tr", all => all.map(tr => [...tr.children].map(e => e.innerText.replaceAll(/\s+/g, " "))));
		const at = rows[0].indexOf("Duration"), time = text => reads(text.replace("+", "").split(/ \+/)[0], mine.duration_seconds - its.duration_seconds);
		check(reads(rows[1][at], mine.duration_seconds) && reads(rows[2][at], its.duration_seconds) && time(rows[3][at]), `${what}: both durations and their difference: ${rows.map(r => r[at])}`);
		check(rows[1][rows[0].indexOf("Memory, peak")] === "6.1 GiB", `${what}: and the peaks`);
		check(rows[0].join() === "Run,Duration,CPU, average,CPU, peak,Memory, peak,GPU, average,VRAM, peak,CPU time,Read from disk,Written to disk", `${what}: figures are called as on the page of a run: ${rows[0]}`);
		// The runs have no disk space and no network of their own.
		const texts = (await axisTexts(page)).filter(t => !/^(Disk space|Network):/.test(t));
		check(texts.length === 6 && texts.every(t => /other run on average/.test(t)), `${what}: each chart of the run has both runs`);
		check(await drawn(page) === 8, `${what}: and draws them`);
		await accessible(page, what);
		await finish(page, what);
	}
	const lost = await open(runUrl(told.many, told.story) + "?with=" + runs.at(-1).run_id);
	check(/samples of the other one are gone/.test(await lost.textContent("main")), "compare: says that the other run has no samples");
	await finish(lost, "compare without samples", { shot: false });
	const nobody = await open(runUrl(told.many, told.story) + "?with=nobody", { expected: /404/ });
	check(/not in the history/.test(await nobody.textContent(".alert")) && await nobody.locator(".figures").count() === 1, "compare: a run that is not there leaves the page of the run");
	await accessible(nobody, "compare with nobody");
	await finish(nobody, "compare with nobody", { shot: false });
}

/* The lines that /metrics would have for two GPUs. */
const GPUS = `rightsize_gpu_up{gpu="0"} 1
rightsize_gpu_up{gpu="1"} 1
rightsize_gpu_utilization_ratio{gpu="0"} 0.75
rightsize_gpu_utilization_ratio{gpu="1"} 0.5
rightsize_gpu_memory_used_bytes{gpu="0"} 1073741824
rightsize_gpu_memory_used_bytes{gpu="1"} 2147483648
`;

async function machine() {
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "machine" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const page = await open(told.many + "#/machine", look);
		await page.waitForSelector(".charts canvas");
		check(await page.textContent(".bar [aria-current=page]") === "Machine", `${what}: the bar says where one is`);
		check(await drawn(page) >= 3, `${what}: CPU, memory, disk and network are drawn`);
		const figures = await page.textContent(".figures"), before = (await axisTexts(page))[1];
		check(/CPU, now\d+.*Memory, now.*Disk space.*Running now\d jobs?$/.test(figures), `${what}: says what is used of what there is: ${figures}`);
		check(/live\/stays/.test(await page.textContent("[aria-label='running jobs'] tbody")), `${what}: and which job runs on it`);
		await page.waitForFunction(() => /core/.test(document.querySelector("[aria-label='running jobs'] tbody").textContent));
		await page.waitForFunction(old => document.querySelectorAll(".charts .plot")[1].getAttribute("aria-label") !== old, before);
		check(page.asked.filter(u => /metrics\?/.test(u)).every(u => /name=rightsize_cpu_usage_cores/.test(u)), `${what}: moves, and asks for no more than it draws`);
		await accessible(page, what);
		await finish(page, what);
	}
	const known = await open(told.prices + "#/machine");
	check(/^aws m5\.xlarge in us-east-1: 4 vCPUs, 16 GiB, 0\.192 USD an hour, 138 USD a month\.$/.test(await known.textContent(".lead")), `machine: which server it is, and its price: ${await known.textContent(".lead")}`);
	check(/No job runs/.test(await known.innerText("main")) && !await known.locator("[aria-label='running jobs']").isVisible(), "machine: says that no job runs");
	await known.click("text=Find a server like this");
	await known.waitForSelector("[aria-label=servers] tbody tr");
	check(/cpu=4&memory=16&where=us-east-1/.test(known.url()), "machine: leads to servers like it");
	await finish(known, "machine known", { shot: false });
	const context = await open(told.empty);
	await context.route(/metrics\?/, async route => {
		const answer = await route.fetch();
		await route.fulfill({ response: answer, body: await answer.text() + GPUS });
	});
	await context.goto(told.empty + "#/machine");
	await context.waitForFunction(() => [...document.querySelectorAll(".charts .plot")].some(p => /^GPU:/.test(p.getAttribute("aria-label"))));
	check(/GPUs, now63 %1\.25 of 2 GPUs/.test((await context.textContent(".figures")).replace(/ (?=63|1\.25)/g, "")), `machine: the GPUs are summed: ${await context.textContent(".figures")}`);
	check((await axisTexts(context)).some(t => /^VRAM: in use on average 3 GiB/.test(t)), "machine: and their memory");
	check(/Set --server.vendor/.test(await context.textContent(".lead")), "machine: an unknown server says what to set");
	await accessible(context, "machine with GPUs");
	await finish(context, "machine with GPUs");
	writeFileSync(told.endStays, "");
}

/* [sentence, wish] */
const SENTENCES = [
	["4 CPUs, 16 GB, Frankfurt", { cpu: "4", memory: "16", where: "Frankfurt" }],
	["a server with 8 cores and 32GB of RAM in europe-west3 for 2 hours", { cpu: "8", memory: "32", where: "europe-west3", duration: "7200" }],
	["1 GPU, 512 MiB, AWS, spot, 90 min", { gpu: "1", memory: "0.5", vendor: "aws", spot: "1", duration: "5400" }],
	["1.5 vCPU 2 TB Hetzner burstable arm64", { cpu: "1.5", memory: "2048", vendor: "hcloud", burstable: "1", arm: "1" }],
	["Frankfurt, Germany; Europe", { where: "Frankfurt, Germany, Europe" }],
	["on demand", {}], ["", {}],
	["4 CPUs, AT", { cpu: "4", where: "AT" }], ["4 CPUs, IN", { cpu: "4", where: "IN" }], ["2 CPUs in the Isle of Man", { cpu: "2", where: "Isle of Man" }],
	["4 CPUS AT LEAST, IN FRANKFURT", { cpu: "4", where: "FRANKFURT" }], ["2 CPUs in IN, at AT", { cpu: "2", where: "IN, AT" }],
	["8x A100 GPUs", { gpu: "8", model: "A100" }], ["1 GPU, GPU model RTX Pro 6000", { gpu: "1", model: "RTX Pro 6000" }],
	["8 GB, 1 h 30 min", { memory: "8", duration: "5400" }], ["1h30min in Frankfurt", { duration: "5400", where: "Frankfurt" }],
	["1 day, 2 hours and 3 s", { duration: "93603" }], ["Amazon Web Services", { vendor: "aws" }], ["vendor Google, 2 CPUs", { vendor: "gcp", cpu: "2" }],
	["2 CPUs, vendor scaleway", { vendor: "scaleway", cpu: "2" }],
];

/* Wishes of fields that a sentence must keep. */
const KEPT = [{ vendor: "scaleway" }, { vendor: "ovh", where: "GB" }, { duration: "5400.5", model: "L4" }, { where: "IN, Isle of Man", memory: "0.5" }];

async function finder() {
	const page = await open(told.prices + "#/servers");
	for (const [sentence, wish] of SENTENCES) {
		const [found, again] = await page.evaluate(text => { const w = parsedWish(text); return [w, parsedWish(wishWords(w))]; }, sentence);
		const sorted = o => JSON.stringify(Object.entries(o).sort());
		check(sorted(found) === sorted(wish) && sorted(again) === sorted(wish), `finder: "${sentence}" is ${JSON.stringify(found)}`);
	}
	for (const wish of KEPT) {
		const again = await page.evaluate(w => parsedWish(wishWords(w)), wish);
		check(JSON.stringify(Object.entries(again).sort()) === JSON.stringify(Object.entries(wish).sort()), `finder: ${JSON.stringify(wish)} stays in a sentence: ${JSON.stringify(again)}`);
	}
	const asked = await page.evaluate(() => String(new URLSearchParams(wishQuestion({ where: "Frankfurt, Germany, Europe, FR", cpu: "4", model: "T4" }, 2))));
	check(/regions=Frankfurt&countries=DE&countries=FR&continents=Europe/.test(asked) && /page=3/.test(asked) && /gpu_model=T4/.test(asked) && /cpu_allocation=Dedicated/.test(asked), `finder: places are regions, countries and continents: ${asked}`);
	check(await page.locator("main li a").count() === 4, "finder: begins with examples");
	await accessible(page, "finder begin");
	await page.fill("[aria-label='The server in a sentence']", "2 CPUs, 8 GB, 1 h");
	await page.waitForSelector("[aria-label=servers] tbody tr");
	check(await page.inputValue("[name=cpu]") === "2" && await page.inputValue("[name=hours]") === "1", "finder: the sentence fills the fields");
	check(/cpu=2&memory=8&duration=3600/.test(page.url()), `finder: the address keeps it: ${page.url()}`);
	const rows = await serverRows(page), answer = await (await fetch(`${told.prices}servers?vcpus_min=2&memory_min=8&duration=3600&architecture=x86_64&cpu_allocation=Dedicated&limit=50&details=1`)).json();
	check(rows.length === answer.servers.length && rows.every((r, i) => r.Server.startsWith(answer.servers[i].api_reference) && reads(r["Price an hour"], answer.servers[i].price) && reads(r["Cost of a run"], answer.servers[i].forecast_cost)),
		`finder: the servers, prices and costs are those of /servers: ${rows.map(r => r.Server)}`);
	check(rows.every(r => r.Conditions === "none"), "finder: without conditions unless they are allowed");
	await page.check("[name=spot]");
	await page.check("[name=arm]");
	await page.check("[name=burstable]");
	await page.waitForFunction(() => /spot: may be interrupted/.test(document.querySelector("[aria-label=servers]").textContent) && /build for arm64/.test(document.querySelector("[aria-label=servers]").textContent));
	check(await page.inputValue("[aria-label='The server in a sentence']") === "2 CPUs, 8 GB, 1 h, arm64, burstable, spot", "finder: the fields write the sentence");
	const kept = page.url();
	await page.fill("[name=where]", "nowhere");
	await page.waitForFunction(() => /nowhere/.test(document.querySelector("main").textContent) && !document.querySelector("[aria-label=servers]"));
	check(/not in the catalogue/.test(await page.innerText("main")), "finder: a place that is not known is said");
	page.complaints = page.complaints.filter(c => !/status of 400/.test(c));
	await finish(page, "finder unknown", { shot: false });
	for (const look of [{}, { dark: true }, { phone: true }]) {
		const what = "finder" + (look.dark ? " dark" : look.phone ? " phone" : "");
		const again = await open(kept, look);
		await again.waitForSelector("[aria-label=servers] tbody tr");
		if (look.phone)
			check(/us-east-1, 2 vCPUs, 8 GiB, needs programs built for arm64/.test(await again.innerText("[aria-label=servers]")), `${what}: sizes and conditions stand below the name`);
		check(await again.isChecked("[name=spot]") && await again.inputValue("[name=memory]") === "8", `${what}: the address brings it back`);
		await accessible(again, what);
		await finish(again, what);
	}
	const none = await open(told.prices + "#/servers?cpu=5000");
	await none.waitForSelector("main h2");
	check(/0 servers/.test(await none.textContent("main h2")) && /None of the/.test(await none.innerText("main")), "finder: says why there is none");
	await finish(none, "finder none");
}

async function zoom() {
	const page = await open(runUrl(told.many, told.day));
	await page.waitForSelector(".charts canvas");
	const series = () => page.asked.filter(u => /\/series\?/.test(u));
	check(series().length === 1, "24 hours: one question brings the whole run");
	const chart = page.locator(".charts .u-over").nth(1);
	await chart.scrollIntoViewIfNeeded();
	const box = await chart.boundingBox();
	await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 5 });
	await page.mouse.up();
	await page.waitForFunction(() => performance.getEntriesByType("resource").filter(e => /series\?.*from=/.test(e.name)).length > 0);
	await page.waitForTimeout(300);
	check(/\?from=.*&to=/.test(page.url()), "24 hours: the address keeps the zoom");
	const again = await open(page.url());
	await again.waitForSelector(".charts canvas");
	await again.waitForFunction(() => performance.getEntriesByType("resource").some(e => /series\?.*from=/.test(e.name)));
	check(true, "24 hours: the address brings the zoom back");
	await finish(again, "run 24h again", { shot: false });
	check(series().length === 2, "24 hours: a zoom asks for finer samples of that part only");
	await page.screenshot({ path: `${told.screenshots}/run-24h-zoomed.png`, fullPage: true });
	for (const key of ["Zoom in", "Later", "Earlier", "Zoom out"])
		await page.click(`[aria-label="${key}"]`);
	await page.dblclick(".charts .u-over");
	await page.click("text=Whole run");
	check(!/from=/.test(page.url()), "24 hours: the whole run needs no zoom in the address");
	await page.focus(".charts .plot");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	check(/^\d\d:\d\d:\d\d$/.test(await page.textContent(".flag")), "24 hours: the arrow keys move a time line that says the time of 24 hours");
	check((await page.$$eval(".charts:not(.more) .legend .value", all => all.filter(e => e.textContent).length)) >= 3, "24 hours: and reads both charts there");
	await page.click(".legend .key >> nth=1");
	check(await page.getAttribute(".legend .key >> nth=1", "aria-pressed") === "false", "24 hours: a series is put out by its key");
	check((await axisTexts(page)).every(t => /on average/.test(t)), "24 hours: each chart is said in words");
	await finish(page, "run 24h");
}

async function hostile() {
	for (const url of [runUrl(told.many, told.hostile), jobUrl(told.many, told.hostileName), told.many]) {
		const page = await open(url);
		if (url === told.many)
			await page.fill("input[type=search]", "<img");
		await page.waitForFunction(name => document.querySelector("main").textContent.includes(name), told.hostileName);
		check(await page.locator("main img").count() === 0, "hostile name: it is text, not markup");
		await accessible(page, "hostile name");
		await finish(page, "hostile " + (url === told.many ? "jobs" : url.includes("/job/") ? "job" : "run"));
	}
	const phone = await open(runUrl(told.many, told.hostile), { phone: true });
	await finish(phone, "hostile phone");
}

async function live() {
	const page = await open(jobUrl(told.many, "live/grows"));
	await page.click(".title a");
	await page.waitForSelector(".charts canvas");
	check(/Running/.test(await page.textContent(".title .badge")), "live: the run goes on");
	const clockBefore = await page.textContent(".title .badge"), figuresBefore = await page.textContent(".figures");
	const tableBefore = await page.textContent("[aria-label=Statistics]");
	const before = (await axisTexts(page))[1];
	await page.waitForFunction(old => document.querySelectorAll(".charts .plot")[1].getAttribute("aria-label") !== old, before);
	check(true, "live: its memory grows without asking for the whole series again");
	await page.waitForFunction(([title, figures, table]) => document.querySelector(".title .badge").textContent !== title &&
		document.querySelector(".figures").textContent !== figures && document.querySelector("[aria-label=Statistics]").textContent !== table,
	[clockBefore, figuresBefore, tableBefore], { timeout: 12000 });
	check(true, "live: clock, shares and statistics move with it, sooner than they are asked for");
	check(!/[\d,]{4,} %/.test(await page.textContent("main")), "live: no share is a multiple");
	check(page.asked.filter(u => /\/series\?(?!.*points=2&?)/.test(u)).length === 1, "live: the series was asked for once");
	const both = await open(page.url() + "?with=" + told.story);
	await both.waitForSelector(".charts canvas");
	const [text, table] = [(await axisTexts(both))[1], await both.textContent("[aria-label=Comparison] tr:nth-child(1)")];
	await both.waitForFunction(([old, before]) => document.querySelectorAll(".charts .plot")[1].getAttribute("aria-label") !== old &&
		document.querySelector("[aria-label=Comparison] tbody tr:nth-child(1)").textContent !== before, [text, table]);
	check(/other run/.test((await axisTexts(both))[1]), "live: a run that goes on is compared, and moves");
	await finish(both, "live compared");
	await page.screenshot({ path: `${told.screenshots}/run-live.png`, fullPage: true });
	writeFileSync(told.endLive, "");
	await page.waitForFunction(() => document.querySelector(".title .badge").textContent.includes("Succeeded"));
	check(true, "live: its end shows by itself");
	await finish(page, "live ended");
}

async function offline() {
	const page = await open(told.dying, { expected: /ERR_CONNECTION_REFUSED|Failed to load resource/ });
	await page.waitForSelector("tbody tr");
	const machine = await open(told.dying + "#/machine", { expected: /ERR_CONNECTION_REFUSED|Failed to load resource/ });
	await machine.waitForSelector(".charts canvas");
	process.kill(told.dyingPid, "SIGTERM");
	for (const seen of [page, machine])
		await seen.waitForFunction(() => document.getElementById("notice").textContent.includes("does not answer"));
	check(await drawn(machine) >= 2, "offline: what was drawn of the machine stays");
	await finish(machine, "machine offline");
	check(await page.locator("tbody tr").count() === 50, "offline: what was there stays, and it is said that it is old");
	await accessible(page, "offline");
	await finish(page, "offline");
}

async function unknown() {
	const page = await open(jobUrl(told.many, "train/segment"), { expected: /404/ });
	check((await page.textContent("main")).includes("Did you mean train/segments"), "unknown job: says which it may be");
	await accessible(page, "unknown job");
	await finish(page, "unknown job");
}

async function reports() {
	for (const [name, path] of [["report", told.storyReport], ["report hostile failed", told.hostileReport]])
		for (const phone of [false, true]) {
			const what = name + (phone ? " phone" : "");
			const page = await open("file://" + path, { phone, dark: phone });
			await page.waitForSelector(".card:has-text('Runs') tbody tr");
			check(await page.locator("#charts figure").count() >= 4, `${what}: CPU, memory, GPU and its memory are drawn`);
			check(page.asked.filter(u => !u.startsWith("data:")).length === 1, `${what}: nothing is loaded but the file itself`);
			check(/as of \d{4}-\d\d-\d\d \d\d:\d\d\. The run has ended/.test(await page.textContent(".crumbs")), `${what}: says of when it is`);
			const size = readFileSync(path).length;
			check(size < 200 * 1000, `${what}: smaller than 200 KB (${size})`);
			const order = await page.$$eval("main .hero, main .card .answer, #charts", all => all.map(e => e.id));
			check(order.length >= 2 && order.at(-1) === "charts", `${what}: the recommendation comes before the charts`);
			await page.click("#theme");
			await accessible(page, what);
			await finish(page, what);
		}
	const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1080, height: 900 } }), still = await context.newPage();
	await still.goto("file://" + told.storyReport);
	const words = await still.innerText("main");
	for (const part of ["Request ", "Requested now", "For docker", "--cpus=", "UTC", "CPU, average"])
		check(words.includes(part), `report without JavaScript: shows "${part}"`);
	const paths = await still.$$eval("#charts path[class=use]", all => all.map(e => e.getAttribute("d").length));
	check(paths.filter(n => n > 1000).length >= 2, "report without JavaScript: CPU and memory are drawn");
	// Returns the corners of a path; "V" is a step at the previous x. Both series have the same samples.
	const corners = await still.$$eval("#charts figure:nth-of-type(2) path[class]:not(.sign path)", all => Object.fromEntries(all.map(e => {
		let x = 0;
		return [e.getAttribute("class"), [...e.getAttribute("d").matchAll(/([MLV])([\d.]+)(?: (\d+))?/g)].map(([, kind, a, b]) => kind === "V" ? [x, +a] : [x = +a, +b])];
	})));
	const markAt = at => Math.max(...corners.peak.filter(([x]) => x === at).map(c => c[1]));
	check(corners.peak.length > corners.use.length && corners.use.every(([x, y]) => markAt(x) <= y), "report: the highest so far is never below the memory");
	await still.screenshot({ path: `${told.screenshots}/report-without-javascript.png`, fullPage: true });
	await context.close();
	const paper = await open("file://" + told.storyReport);
	await paper.emulateMedia({ media: "print" });
	await paper.setViewportSize({ width: 690, height: 1000 });
	const cut = await paper.$$eval("main .scroll, main .card, main .paste code", all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className));
	check(cut.length === 0, `report on A4: no column is cut${cut.length ? ": " + cut : ""}`);
	await paper.pdf({ path: `${told.screenshots}/report.pdf`, preferCSSPageSize: true }).catch(() => {});
	await finish(paper, "report paper", { shot: false });
}

// Every page of the manual, and the runbook. Wide tables and blocks of code scroll.
async function manual() {
	const first = await open(told.empty + "manual");
	const links = await first.$$eval("a[href]", all => all.map(a => a.href.replace(/#.*/, "")));
	const pages = [...new Set(links)].filter(url => url.startsWith(told.empty + "manual/"));
	await first.context().close();
	check(pages.length >= 15, `manual: the first page leads to the others (${pages.length})`);
	for (const url of [told.empty + "manual", ...pages, told.empty + "runbook"])
		for (const phone of [false, true]) {
			const what = url.slice(told.empty.length) + (phone ? " phone" : "");
			const page = await open(url, { phone, dark: phone });
			await accessible(page, what);
			await finish(page, what, { shot: false });
		}
}

// Jobs of one name in several namespaces are different jobs on every view.
async function namespaces() {
	const page = await open(told.spaces, { expected: /404/ });
	await page.waitForSelector("tbody th a");
	check((await names(page)).sort().join() === "demo/short,load,load in etl,load in ml, eu & us", `namespaces: the list tells jobs apart: ${await names(page)}`);
	for (const [text, gib] of [["load in etl", "1.86"], ["load in ml, eu & us", "3.73"], ["load", "954"]]) {
		await page.goto(told.spaces + "#/");
		await page.waitForSelector("tbody th a");
		await page.evaluate(name => [...document.querySelectorAll("tbody th a")].find(a => a.textContent === name).click(), text);
		await page.waitForSelector(".job h1");
		check(await page.textContent(".job h1") === text, `namespaces: the page of ${text}`);
		check((await page.textContent("main")).includes(gib), `namespaces: ${text} has its own memory`);
		await page.waitForSelector(".paste code");
		await page.selectOption("#format", "kubernetes");
		await page.waitForFunction(() => document.querySelector(".paste code").textContent.includes("requests:"));
		await page.click(".tabs a:text-is('Runs')");
		await page.reload();
		await page.waitForSelector(".job h1");
		check(await page.textContent(".job h1") === text, `namespaces: the address keeps ${text}`);
		await page.click("#runs tbody a >> nth=0");
		await page.waitForSelector(".crumbs a[href^='#/job/']");
		await page.click(".crumbs a[href^='#/job/']");
		await page.waitForSelector(".job h1");
		check(await page.textContent(".job h1") === text, `namespaces: from a run back to ${text}`);
	}
	await page.goto(told.spaces + "#/job/load?namespace=nobody");
	await page.waitForSelector("main p a[href^='#/job/load?namespace=etl']", { state: "attached" }).catch(() => {});
	check(/is known/.test(await page.textContent("main")), "namespaces: an unknown one is said");
	await page.goto(told.spaces + "#/job/load?namespace=ml");
	await finish(page, "namespaces", { shot: false });
}

for (const part of [live, namespaces, machine, finder, emptyState, manyJobs, savings, wrongAddresses, keyboard, oneJob, sparse, prices, warnings, warnedJobs, oneRun, compare, zoom, hostile, unknown, reports, manual, offline]) {
	if (only && part.name !== only)
		continue;
	try {
		await part();
	} catch (e) {
		check(false, `${part.name}: ${e.stack}`);
	}
}
await browser.close();
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
