/* Dark and light theme: that of the system, until a person chooses one. */

function isDark() {
	return (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

function setUpTheme(again) {
	const button = document.getElementById("theme"), before = stored("theme");
	if (before)
		document.documentElement.dataset.theme = before;
	const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
	name();
	button.addEventListener("click", () => {
		const next = isDark() ? "light" : "dark";
		document.documentElement.dataset.theme = next;
		stored("theme", next);
		name();
		again();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); again(); });
	/* A printed page is always light. */
	let chosen;
	addEventListener("beforeprint", () => {
		chosen = document.documentElement.dataset.theme;
		document.documentElement.dataset.theme = "light";
	});
	addEventListener("afterprint", () => {
		if (chosen)
			document.documentElement.dataset.theme = chosen;
		else
			delete document.documentElement.dataset.theme;
	});
}
