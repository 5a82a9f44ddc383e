/* Requests to the exporter. The page may be served below any path, so all addresses are relative. */

const routes = new Set([...document.querySelectorAll("#routes a")].map(a => a.getAttribute("href")));

class Refused extends Error {
	constructor(error, status) {
		super(error.message || `the exporter answered ${status}`);
		this.code = error.code;
		this.didYouMean = error.did_you_mean || [];
	}
}

class Unreachable extends Error {}

function address(path, parameters) {
	const query = new URLSearchParams(Object.entries(parameters || {}).filter(([, v]) => v !== null && v !== undefined));
	return path + (query.size ? "?" + query : "");
}

async function askText(path, parameters, signal) {
	let answer;
	try {
		answer = await fetch(address(path, parameters), {signal, cache: "no-store"});
	} catch (e) {
		if (e.name === "AbortError")
			throw e;
		throw new Unreachable("The exporter does not answer.");
	}
	const text = await answer.text();
	if (answer.ok)
		return text;
	let error = {};
	try {
		error = JSON.parse(text).error || {};
	} catch {
		/* A proxy in between has answered, without an error in JSON: only its status is known. */
	}
	throw new Refused(error, answer.status);
}

async function ask(path, parameters, signal) {
	return JSON.parse(await askText(path, parameters, signal));
}

/* Returns null if the exporter has no such route, or no content. */
async function askIfAny(path, parameters, signal) {
	if (!routes.has(path))
		return null;
	try {
		return await ask(path, parameters, signal);
	} catch (e) {
		if (e instanceof Refused)
			return null;
		throw e;
	}
}
