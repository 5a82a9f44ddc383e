/* Chooses the view, its theme, and the message when the exporter cannot be reached. */

const main = document.getElementById("main"), notice = document.getElementById("notice");
const RETRY_SECONDS = 5;

const VIEWS = [
	[/^#?\/?$/, jobsView],
	[/^#\/job\/(.+)$/, jobView],
	[/^#\/run\/(.+)$/, runView],
	[/^#\/servers$/, finderView],
	[/^#\/machine$/, machineView],
];

let shown = null, abort = new AbortController(), timer = 0, visits = 0;

function say(text, kind) {
	notice.className = kind || "";
	notice.textContent = text || "";
}

function leave() {
	clearTimeout(timer);
	abort.abort();
	if (shown && shown.stop)
		shown.stop();
	shown = null;
}

function refused(e) {
	return h("div", null, h("h1", {tabindex: "-1"}, "Not found"), h("p", null, e.message + "."),
		e.didYouMean.length > 0 && h("p", null, "Did you mean ",
			e.didYouMean.map((name, i) => [i ? ", " : "", h("a", {href: jobLink(jobOfText(name))}, named(name))]), "?"),
		h("p", null, h("a", {href: "#/"}, "All jobs")));
}

/* Repeats a refresh after a while, as long as this view is shown and the page is visible. */
function later(view, mine) {
	timer = setTimeout(async () => {
		if (mine !== visits)
			return;
		if (document.hidden) {
			later(view, mine);
			return;
		}
		if (!view.again) {
			await show(false);
			return;
		}
		try {
			await view.again(abort.signal);
			say("");
		} catch (e) {
			if (e.name !== "AbortError")
				say(`${e.message} The page shows the moment before. It tries again every ${view.refresh || RETRY_SECONDS} s.`, "warn");
		}
		if (mine === visits)
			later(view, mine);
	}, (view.refresh || RETRY_SECONDS) * 1000);
}

/* An address may end within an encoded character: a person typed it, or a mail program cut it off. */
function isEncoded(text) {
	try {
		decodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
}

/* The part of the address after a question mark has the settings of the view: its zoom, its filter. Names have no
 * question mark, because they are encoded. */
async function viewOf(hash) {
	const [path, query] = addressParts(hash);
	for (const [pattern, view] of VIEWS) {
		const match = pattern.exec(path);
		if (match && isEncoded(match[1] || ""))
			return view(decodeURIComponent(match[1] || ""), abort.signal, query);
	}
	return {title: "Not found", node: refused(new Refused({message: "There is no such page"}))};
}

/* Says in the bar which page this is; jobs and runs are among the jobs. */
function markPage() {
	const [path] = addressParts(location.hash || "#/");
	for (const a of document.querySelectorAll(".bar nav a")) {
		const href = a.getAttribute("href"), here = href === path || (href === "#/" && /^#\/(job|run)\//.test(path));
		a.toggleAttribute("aria-current", false);
		if (here)
			a.setAttribute("aria-current", "page");
	}
}

/* arrived: a person followed a link, so a screen reader reads the heading next. */
async function show(arrived) {
	const mine = ++visits;
	let view;

	leave();
	abort = new AbortController();
	if (arrived)
		main.setAttribute("aria-busy", "true");
	try {
		view = await viewOf(location.hash);
		say("");
	} catch (e) {
		if (mine !== visits)
			return;
		if (e instanceof Refused) {
			view = {title: "Not found", node: refused(e)};
		} else {
			say(`${e.message} The page tries again every ${RETRY_SECONDS} s.`, "warn");
			if (!(e instanceof Unreachable))
				throw e;
			later({refresh: RETRY_SECONDS}, mine);
			return;
		}
	} finally {
		if (mine === visits)
			main.removeAttribute("aria-busy");
	}
	if (mine !== visits) {
		if (view.stop)
			view.stop();
		return;
	}
	shown = view;
	markPage();
	document.title = view.title + " – rightsize-exporter";
	main.replaceChildren(view.node);
	if (view.start)
		view.start();
	if (arrived) {
		scrollTo(0, 0);
		const heading = main.querySelector("h1");
		if (heading && visits > 1)
			heading.focus({preventScroll: true});
	}
	if (view.refresh)
		later(view, mine);
}

function startUp() {
	document.getElementById("skip").addEventListener("click", () => main.focus());
	setUpTheme(() => show(false));
	addEventListener("hashchange", () => show(true));
	show(true);
}

startUp();
