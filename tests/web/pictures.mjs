// Takes pictures of the page of a job and of a terminal, light and dark. Reads from stdin where everything is (pictures.py).
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.env.WEB_MODULES + "/");
const { chromium } = require("playwright-core");
const told = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"] });

const terminal = dark => `<!doctype html><meta charset=utf-8><style>
	body { margin: 0; background: ${dark ? "#161b22" : "#f6f8fa"} }
	pre { margin: 0; padding: 14px 18px; width: max-content; color: ${dark ? "#d7dde4" : "#1f2328"}; font: 15px/1.32 "DejaVu Sans Mono", monospace }
	b { font-weight: normal } .s1 { font-weight: bold } .s2 { opacity: .72 }
	.s31 { color: ${dark ? "#ff8f84" : "#b3261e"} } .s32 { color: ${dark ? "#63d489" : "#146c2e"} }
	.s33 { color: ${dark ? "#e6b450" : "#805600"} } .s34 { color: ${dark ? "#82b1ff" : "#0b57d0"} }
	</style><pre>${told.terminal.trimEnd()}</pre>`;

for (const theme of ["light", "dark"]) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: theme });
	const page = await context.newPage();
	await page.goto(`${told.url}#/job/${encodeURIComponent(told.job)}`);
	await page.waitForSelector("main h1");
	await page.waitForFunction(() => document.querySelectorAll(".plot canvas").length > 0);
	await page.waitForLoadState("networkidle");
	await page.screenshot({ path: `${told.folder}/job-${theme}.png`, clip: { x: 0, y: 0, width: 1280, height: 760 } });
	await page.goto("about:blank"); // the page allows no style of others
	await page.setContent(terminal(theme === "dark"));
	await (await page.$("pre")).screenshot({ path: `${told.folder}/terminal-${theme}.png` });
	await context.close();
}
await browser.close();
