// Draws dashboards into pictures, in Chromium. An error in the browser's console, or a panel without data where all have
// some, makes the exit status 1.
// Usage: node draw.mjs FOLDER PROMETHEUS LIVE BACKFILLED END DASHBOARD.json...     LIVE, BACKFILLED: JSON, a value for each choice
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [folder, prometheus, liveText, backfilledText, end, ...files] = process.argv.slice(2);
const live = JSON.parse(liveText), backfilled = JSON.parse(backfilledText);
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json', '.css': 'text/css', '.svg': 'image/svg+xml' };
// For a picture of the real job alone (tests/web/pictures.py): THEME=light|dark, HEIGHT of the picture in pixels.
const THEME = process.env.THEME ?? 'dark', HEIGHT = Number(process.env.HEIGHT ?? 0);
const PAGE = '<!doctype html><meta charset=utf-8><link rel=icon href=data:,><link rel=stylesheet href=page.css>' +
	`<style>body{background:${THEME === 'dark' ? '#111217' : '#f4f5f5'};margin:8px;overflow:auto}</style><div id=root></div><script type=module src=page.js></script>`;
// A minute of real data. A longer time would only show the same job.
const LIVE_SECONDS = Number(process.env.LIVE_SECONDS ?? 60);

// Icons are Grafana's. Fonts are left out, because the fonts of the browser are enough.
const ICONS = 'public/build/img/';
function contentOf(name) {
	if (name === '') return PAGE;
	if (name.endsWith('.woff2')) return '';
	const file = name.startsWith(ICONS) ? path.join('node_modules/@grafana/ui/dist/public/img', path.normalize(`/${name.slice(ICONS.length)}`))
		: ['page.js', 'page.css'].includes(name) ? name : files.find(f => path.basename(f) === name);
	return file && fs.existsSync(file) ? fs.readFileSync(file) : null;
}
const server = http.createServer((request, response) => {
	const name = new URL(request.url, 'http://x').pathname.slice(1), content = contentOf(name);
	response.writeHead(content === null ? 404 : 200, { 'Content-Type': TYPES[path.extname(name || 'x.html')] ?? 'text/plain' });
	response.end(content ?? '');
});
await new Promise(done => server.listen(0, '127.0.0.1', done));

async function ask(query) {
	const answer = await (await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`)).json();
	return Number(answer.data.result[0]?.value[1] ?? 0);
}
while (await ask(`count_over_time(up{instance="${live.instance}"}[10m])`) < LIVE_SECONDS)
	await new Promise(done => setTimeout(done, 500));

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
let failed = false;
async function draw(file, kind, values) {
	const page = await browser.newPage({ viewport: { width: 1430, height: 900 } });
	const errors = [];
	page.on('console', m => m.type() === 'error' && errors.push(m.text()));
	page.on('response', r => r.status() >= 400 && errors.push(`${r.status()} ${r.url()}`));
	page.on('pageerror', e => errors.push(String(e)));
	const query = new URLSearchParams({ dashboard: path.basename(file), prometheus, theme: THEME, ...values });
	await page.goto(`http://127.0.0.1:${server.address().port}/?${query}`);
	await page.waitForFunction(() => window.drawn, null, { timeout: 60000 });
	const { problems, empty } = await page.evaluate(() => window.drawn);
	const picture = path.join(folder, `${path.basename(file, '.json')}-${kind}.png`);
	await page.screenshot(HEIGHT ? { path: picture, clip: { x: 0, y: 0, width: 1430, height: HEIGHT } } : { path: picture, fullPage: true });
	await page.close();
	const wrong = [...errors, ...problems, ...(kind === 'live' ? [] : empty.map(e => `no data: ${e}`))];
	console.log(`${picture}: ${wrong.length ? `WRONG\n  ${wrong.join('\n  ')}` : 'drawn'}${kind === 'live' && empty.length ? `; without data: ${empty.join(', ')}` : ''}`);
	failed ||= wrong.length > 0;
}
for (const file of files) {
	await draw(file, 'live', { ...live, end: Math.floor(Date.now() / 1000), range: LIVE_SECONDS + 10 });
	if (!HEIGHT)
		await draw(file, 'backfilled', { ...backfilled, end, range: 600, open: 1 });
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
