"use strict";
/* Elements without a framework. Text is always text, never markup, whatever a job is called. */

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

/* h("a", {href: "#/"}, "Jobs"): an attribute that is null is left out, one that begins with on listens. */
function h(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
	return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/* A name from outside: it may be written from right to left, and must not turn its neighbours around. */
function named(text) {
	return h("bdi", {class: "name"}, text);
}

/* The Content-Security-Policy forbids style attributes, but not this. */
function styled(element, property, value) {
	element.style.setProperty(property, value);
	return element;
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* A definition list of [term, value, hint]; what is null is left out. */
function facts(...rows) {
	return h("dl", {class: "facts"}, rows.filter(r => r && r[1] !== null && r[1] !== undefined).map(([term, value, hint]) =>
		h("div", {title: hint}, h("dt", null, term), h("dd", null, value))));
}

function card(title, ...children) {
	return h("section", {class: "card"}, title && h("h2", null, title), children);
}

/* A link to a dashboard, where the list of routes says which Grafana has it (--web.grafana-url); else null. */
function dashboardLink(title, path) {
	const grafana = document.getElementById("grafana");
	return grafana && h("a", {href: grafana.href.replace(/\/+$/, "") + path, target: "_blank", rel: "noopener"}, title);
}

/* A button that puts text on the clipboard, or selects it where that is not allowed. */
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

/* Reads a value that the browser keeps or, with `value`, keeps it. Returns null if there is none, also
 * where the browser has no storage. */
function stored(name, value) {
	try {
		if (value === undefined)
			return localStorage.getItem(name);
		localStorage.setItem(name, value);
	} catch {
		/* Nothing is kept. */
	}
	return null;
}

/* The address behind the #: its path, and the settings of the view behind a question mark. */
function addressParts(hash) {
	const at = hash.indexOf("?");
	return at < 0 ? [hash, new URLSearchParams()] : [hash.slice(0, at), new URLSearchParams(hash.slice(at + 1))];
}

/* Keeps settings of the view in the address, without a visit; null takes one away. */
function setAddress(settings) {
	const [path, query] = addressParts(location.hash || "#/");
	for (const [name, value] of Object.entries(settings))
		if (value === null || value === undefined || value === "")
			query.delete(name);
		else
			query.set(name, value);
	history.replaceState(null, "", path + (query.size ? "?" + query : ""));
}

/* Addresses of the views. */
const jobLink = name => "#/job/" + encodeURIComponent(name);
const runLink = id => "#/run/" + encodeURIComponent(id);
