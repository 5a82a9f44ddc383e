// One dashboard, drawn with Grafana's own components on data of a real Prometheus. Left out are the server's parts: menus
// of choices (values come in the address), and the lines of marks (they are listed below).
// Address: ?dashboard=FILE&prometheus=URL&instance=...&job_name=...&namespace=...&cluster=...&end=SECONDS&range=SECONDS&open=1 (collapsed rows are opened)&theme=dark
import React from 'react';
import { createRoot } from 'react-dom/client';
import { firstValueFrom } from 'rxjs';
import { applyFieldOverrides, createTheme, dateTime, FieldConfigOptionsRegistry, FieldType, getFieldDisplayValues,
	standardTransformers, standardTransformersRegistry, ThemeContext, toDataFrame, transformDataFrame } from '@grafana/data';
import { BarGauge, BigValue, GlobalStyles, PanelChrome, Table, TimeSeries } from '@grafana/ui';

const WIDTH = 1400, ROW = 36, GAP = 8;
const address = new URLSearchParams(location.search);
const end = Number(address.get('end')), range = Number(address.get('range')), start = end - range;
const step = Math.max(1, Math.round(range / 120));
const theme = createTheme({ colors: { mode: address.get('theme') ?? 'dark' } }), ink = theme.colors.text.primary;
const problems = [], empty = [];
const same = text => text;

// Some stand in the list under two names.
const transformers = [...new Map(Object.values(standardTransformers).map(t => [t.id, t])).values()];
standardTransformersRegistry.setInit(() => transformers.map(t => ({ id: t.id, name: t.name, transformation: t })));

// What overrides may set; the server registers the same by its panels.
const plain = ['unit', 'min', 'max', 'decimals', 'displayName', 'color', 'thresholds', 'mappings', 'noValue', 'links'];
const custom = ['drawStyle', 'lineWidth', 'fillOpacity', 'showPoints', 'spanNulls', 'stacking', 'lineStyle', 'align', 'cellOptions', 'filterable', 'minWidth'];
const property = (id, isCustom) => ({ id: isCustom ? `custom.${id}` : id, path: id, name: id, isCustom, process: same, override: same,
	shouldApply: () => true, editor: () => null });
const registry = new FieldConfigOptionsRegistry(() => [...plain.map(p => property(p, false)), ...custom.map(p => property(p, true))]);

function filledIn(expression) {
	const values = { __rate_interval: '15s', __range: `${range}s`, __range_s: range,
		...Object.fromEntries(['instance', 'job_name', 'namespace', 'cluster'].map(name => [name, address.get(name)])) };
	return expression.replace(/\$\{?(\w+)\}?/g, (whole, name) => values[name] ?? whole);
}

async function ask(expression, instant) {
	const query = encodeURIComponent(filledIn(expression)), base = address.get('prometheus');
	const url = instant ? `${base}/api/v1/query?query=${query}&time=${end}`
		: `${base}/api/v1/query_range?query=${query}&start=${start}&end=${end}&step=${step}`;
	const answer = await (await fetch(url)).json();
	if (answer.status !== 'success') throw new Error(`${answer.error}: ${expression}`);
	return answer.data.result;
}

function legend(format, labels) {
	if (format !== '__auto') return format.replace(/\{\{(\w+)\}\}/g, (_, name) => labels[name] ?? '');
	const rest = Object.entries(labels).filter(([name]) => name !== '__name__').map(([name, value]) => `${name}="${value}"`);
	return `${labels.__name__ ?? ''}{${rest.join(', ')}}`;
}

function seriesFrame(target, { metric, values, value }) {
	const points = values ?? [value];
	return toDataFrame({ refId: target.refId, fields: [
		{ name: 'Time', type: FieldType.time, values: points.map(p => p[0] * 1000) },
		{ name: 'Value', type: FieldType.number, labels: metric, values: points.map(p => Number(p[1])),
			config: { displayNameFromDS: legend(target.legendFormat, metric) } }] });
}

function tableFrame(target, result) {
	const labels = [...new Set(result.flatMap(r => Object.keys(r.metric)))];
	return toDataFrame({ refId: target.refId, fields: [
		{ name: 'Time', type: FieldType.time, values: result.map(r => r.value[0] * 1000) },
		...labels.map(name => ({ name, type: FieldType.string, values: result.map(r => r.metric[name] ?? '') })),
		{ name: `Value #${target.refId}`, type: FieldType.number, values: result.map(r => Number(r.value[1])) }] });
}

async function framesOf(panel) {
	let frames = [];
	for (const target of panel.targets) {
		const result = await ask(target.expr, target.instant);
		if (!result.length) empty.push(`${panel.title} ${target.refId}`);
		else if (target.format === 'table') frames.push(tableFrame(target, result));
		else frames.push(...result.map(r => seriesFrame(target, r)));
	}
	if (panel.transformations) frames = await firstValueFrom(transformDataFrame(panel.transformations, frames));
	return applyFieldOverrides({ data: frames, fieldConfig: panel.fieldConfig, theme, replaceVariables: same, timeZone: 'utc',
		fieldConfigRegistry: registry });
}

function Values({ panel, frames, width, height }) {
	const shown = getFieldDisplayValues({ fieldConfig: panel.fieldConfig, reduceOptions: panel.options.reduceOptions, theme, data: frames,
		replaceVariables: same, sparkline: panel.options.graphMode === 'area', timeZone: 'utc' });
	return shown.map((one, i) => panel.type === 'stat'
		? <BigValue key={i} value={one.display} sparkline={one.sparkline} theme={theme} width={width / shown.length} height={height}
			colorMode={panel.options.colorMode} graphMode={panel.options.graphMode} justifyMode={panel.options.justifyMode}
			textMode={panel.options.textMode} />
		: <BarGauge key={i} value={one.display} field={one.field} display={one.view?.getFieldDisplayProcessor(one.colIndex)} theme={theme}
			width={width} height={Math.min(40, height / shown.length)} orientation={panel.options.orientation}
			displayMode={panel.options.displayMode} />);
}

function Body({ panel, frames, width, height }) {
	const from = dateTime(start * 1000), to = dateTime(end * 1000);
	if (!frames.length) return <div style={{ padding: 16, opacity: 0.6 }}>{panel.fieldConfig.defaults.noValue ?? 'No data'}</div>;
	if (panel.type === 'timeseries')
		return <TimeSeries frames={frames} structureRev={1} timeRange={{ from, to, raw: { from, to } }} timeZone="utc" width={width}
			height={height} legend={panel.options.legend} options={panel.options} replaceVariables={same} />;
	if (panel.type === 'table') return <Table data={frames[0]} width={width} height={height} />;
	return <Values {...{ panel, frames, width, height }} />;
}

class Guard extends React.Component {
	state = {};
	static getDerivedStateFromError(error) { return { error }; }
	componentDidCatch(error) { problems.push(String(error.stack).slice(0, 400)); }
	render() { return this.state.error ? <pre>{String(this.state.error)}</pre> : this.props.children; }
}

function Placed({ panel, frames }) {
	const { x, y, w, h } = panel.gridPos, unit = WIDTH / 24;
	const style = { position: 'absolute', left: x * unit, top: y * ROW, width: w * unit - GAP };
	if (panel.type === 'row') return <h4 style={{ ...style, color: ink, paddingTop: 8 }}>
		{panel.collapsed ? `\u25b8 ${panel.title} (${panel.panels.length} panels)` : panel.title}</h4>;
	return <div style={style}><PanelChrome title={panel.title} description={panel.description} width={w * unit - GAP} height={h * ROW - GAP}>
		{(width, height) => <Guard><Body {...{ panel, frames, width, height }} /></Guard>}</PanelChrome></div>;
}

async function marksOf(dashboard) {
	const lines = [];
	for (const mark of dashboard.annotations.list.filter(m => m.expr)) {
		const found = await ask(mark.expr, false);
		if (!found.length) empty.push(`mark ${mark.name}`);
		for (const one of found) {
			const times = mark.useValueForTime ? [...new Set(one.values.map(v => Number(v[1])))] : [one.values[0][0] * 1000];
			times.forEach(t => lines.push(`${new Date(t).toISOString()} ${mark.name}: ${legend(mark.titleFormat, one.metric)} ${legend(mark.textFormat, one.metric)}`));
		}
	}
	return lines;
}

// What Grafana does when a person opens a row: its panels take their places, and what is beneath moves down.
function opened(panels) {
	let down = 0;
	return panels.flatMap(panel => {
		const moved = p => ({ ...p, gridPos: { ...p.gridPos, y: p.gridPos.y + down } });
		const all = [{ ...moved(panel), collapsed: false }, ...(panel.panels ?? []).map(moved)];
		if (panel.panels?.length)
			down += Math.max(...panel.panels.map(p => p.gridPos.y + p.gridPos.h)) - panel.gridPos.y - 1;
		return all;
	});
}

const dashboard = await (await fetch(address.get('dashboard'))).json();
const frames = [];
if (address.get('open')) dashboard.panels = opened(dashboard.panels);
for (const panel of dashboard.panels)
	frames.push(panel.type === 'row' ? [] : await framesOf(panel).catch(e => { problems.push(`${panel.title}: ${e}`); return []; }));
const marks = await marksOf(dashboard);
const bottom = Math.max(...dashboard.panels.map(p => p.gridPos.y + p.gridPos.h)) * ROW;

createRoot(document.getElementById('root')).render(
	<ThemeContext.Provider value={theme}><GlobalStyles />
		<h3 style={{ color: ink }}>{dashboard.title} <small>{address.get('job_name')} on {address.get('instance')}</small></h3>
		<div style={{ position: 'relative', width: WIDTH, height: bottom }}>
			{dashboard.panels.map((panel, i) => <Placed key={panel.id} panel={panel} frames={frames[i]} />)}
		</div>
		<pre style={{ color: ink, width: WIDTH }}>{marks.join('\n')}</pre>
	</ThemeContext.Provider>);
// Drawn once the components had two frames to lay themselves out.
requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => {
	window.drawn = { problems, empty };
}), 1500));
