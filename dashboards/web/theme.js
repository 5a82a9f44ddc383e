/* Dark and light: as the system has it, until a person says otherwise. */

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
	/* Paper is white. */
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
