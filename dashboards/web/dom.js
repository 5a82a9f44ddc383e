"use strict";
/* Makes elements without a framework. Text is never read as markup, whatever the name of a job contains. */

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
	return element;
}

/* h("a", {href: "#/"}, "Jobs"). An attribute that is null is left out. An attribute that begins with "on" is an event
 * listener. */
function h(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/* A name from outside may be written from right to left. It must not change the direction of the text around it. */
function named(text) {
	return h("bdi", {class: "name"}, text);
}

/* The Content-Security-Policy forbids style attributes, but allows styles that a script sets. */
function styled(element, property, value) {
	element.style.setProperty(property, value);
	return element;
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* A definition list of [term, value, hint]. A null entry is left out. */
function facts(...rows) {
	return h("dl", {class: "facts"}, rows.filter(r => r && r[1] !== null && r[1] !== undefined).map(([term, value, hint]) =>
		h("div", {title: hint}, h("dt", null, term), h("dd", null, value))));
}

function card(title, ...children) {
	return h("section", {class: "card"}, title && h("h2", null, title), children);
}

/* Variables of a dashboard of Grafana; an absent label is an empty one there. */
const dashboardJob = o => ({"var-job_name": o.job_name, "var-namespace": o.namespace || "", "var-cluster": o.cluster || ""});

/* Returns a link to a dashboard if the list of routes has the address of Grafana (--web.grafana-url), and otherwise
 * null. */
function dashboardLink(title, path) {
	const grafana = document.getElementById("grafana");
	return grafana && h("a", {href: grafana.href.replace(/\/+$/, "") + path, target: "_blank", rel: "noopener"}, title);
}

/* A button that copies a text to the clipboard. If that is not allowed, it selects the text. */
function copyButton(text, source) {
	const button = h("button", {class: "main", onclick: async () => {
		try {
			await navigator.clipboard.writeText(text());
			button.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(source);
			button.textContent = "Selected: press Ctrl+C";
		}
		setTimeout(() => { button.textContent = "Copy"; }, 3000);
	}}, "Copy");
	return button;
}

/* Reads a value that the browser keeps, or, with `value`, stores it. Returns null if there is none, or if the browser
 * has no storage. */
function stored(name, value) {
	try {
		if (value === undefined)
			return localStorage.getItem(name);
		localStorage.setItem(name, value);
	} catch {
		/* The browser has no storage: the value is lost. */
	}
	return null;
}

/* The part of the address after the #: its path, and after a question mark the settings of the view. */
function addressParts(hash) {
	const at = hash.indexOf("?");
	return at < 0 ? [hash, new URLSearchParams()] : [hash.slice(0, at), new URLSearchParams(hash.slice(at + 1))];
}

/* Writes settings of the view to the address, without a new entry in the browser's history. null removes a setting. */
function setAddress(settings) {
	const [path, query] = addressParts(location.hash || "#/");
	for (const [name, value] of Object.entries(settings))
		if (value === null || value === undefined || value === "")
			query.delete(name);
		else
			query.set(name, value);
	history.replaceState(null, "", path + (query.size ? "?" + query : ""));
}

/* The parameters that name the job of an answer. A namespace and a cluster may be absent. */
const jobOf = o => ({job_name: o.job_name, namespace: o.namespace || null, cluster: o.cluster || null});
const jobKey = o => JSON.stringify(Object.values(jobOf(o)));

/* The name of a job, with its namespace and cluster behind it. */
function jobNamed(o) {
	const place = [o.namespace, o.cluster].filter(Boolean).join(", ");
	return [named(o.job_name), place && h("span", {class: "dim"}, " in ", named(place))];
}

/* Reads a job as error messages name it: "load (namespace etl, cluster eu)". */
function jobOfText(text) {
	const [, job_name, namespace, both, alone] = /^(.*?)(?: \((?:namespace (.*?)(?:, cluster (.*))?|cluster (.*))\))?$/s.exec(text);
	return jobOf({job_name, namespace, cluster: both || alone});
}

/* Addresses of the views. */
const jobLink = o => address("#/job/" + encodeURIComponent(o.job_name), {...jobOf(o), job_name: null});
const runLink = id => "#/run/" + encodeURIComponent(id);
