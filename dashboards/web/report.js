/*
 * A report has its data in it, and no exporter behind it. The exporter wrote its charts and its main facts as HTML, for readers
 * without JavaScript; this keeps the charts, and puts tables that sort and times of the reader's zone around them.
 */

/* The recommendation first, as on the page of its job, then the run. */
function reportPage(data, charts) {
	const run = data.series.run, advice = data.recommend && !data.recommend.error ? data.recommend : null, runs = data.runs ? data.runs.runs : [];
	const told = {...data, recommend: advice, runs};
	addCosts([run, ...runs], advice);
	return h("div", {class: "report"},
		h("header", {class: "top"}, h("div", null,
			h("p", {class: "crumbs"}, `Report of rightsize-exporter, as of ${day(instant(data.as_of))}. ${run.outcome === "running" ? "The run goes on." : "The run has ended."}`),
			h("div", {class: "title"}, h("h1", {tabindex: "-1"}, jobNamed(run)), outcomeBadge(run.outcome)),
			h("p", null, `Run of ${day(instant(run.started_at))}`, run.host && [" on ", named(run.host)], ". ", leadSentence(run, told)))),
		advice ? [heroCard(run, advice, null), warningList(advice)] : noAdvice(run, false),
		failureStrip(run, advice, false), runFigures(run, told), charts,
		advice && whyCard(advice), statisticsCard(run, runs), serverCard(run, null),
		phasesCard(phasesOf(run, data.series.phases)), advice && serversCard(advice),
		h("section", {class: "card"}, h("h2", null, "Runs"), new Table("runs", runColumns(runs, false), runs, null).node));
}

function startReport() {
	const main = document.getElementById("main"), charts = document.getElementById("charts");
	document.getElementById("skip").addEventListener("click", () => main.focus());
	setUpTheme(() => {});
	main.replaceChildren(reportPage(JSON.parse(document.getElementById("data").textContent), charts));
}

startReport();
