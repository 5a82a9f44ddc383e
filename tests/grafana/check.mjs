// Checks dashboards against the types that @grafana/schema publishes: unknown or misspelt keys, wrong values, options
// of each kind of panel. Also checks rules that types cannot express: repeated ids, and panels that overlap.
// Usage: node check.mjs DASHBOARD.json...        in a folder with node_modules
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';

const TYPES = '@grafana/schema/dist/types/raw/composable';
const KINDS = { timeseries: 'TimeSeries', stat: 'Stat', table: 'Table', bargauge: 'BarGauge' };
const WITH_FIELDS = new Set(['timeseries', 'table']);
const PRELUDE = `import type { AnnotationQuery, Dashboard, DataSourceRef, Panel, RowPanel, VariableModel } from '@grafana/schema';
// Enumerations are written as their values in JSON; everything may be left out, since Grafana has defaults.
type Json<T> = T extends string ? \`\${T}\` : T extends (infer U)[] ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
type Part<T> = T extends (infer U)[] ? U[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;
// The members that the Prometheus data source adds to queries, marks and choices.
type Target = { refId: string; datasource: DataSourceRef; expr: string; legendFormat: string; instant?: boolean; range?: boolean; format?: 'table' };
type Mark = Json<AnnotationQuery> & { expr?: string; titleFormat?: string; textFormat?: string; useValueForTime?: boolean };
type Choice = Json<VariableModel> & { definition?: string };
type Rest = Json<Omit<Dashboard, 'panels' | 'templating' | 'annotations'>>;
`;

// All panels, including those of collapsed rows.
const allOf = panels => panels.flatMap(panel => [panel, ...panel.panels ?? []]);

function typescriptOf(dashboard) {
	const { panels, templating, annotations, ...rest } = dashboard;
	const lines = [PRELUDE];
	const say = (name, type, value) => lines.push(`export const ${name}: ${type} = ${JSON.stringify(value)};`);

	for (const [kind, name] of Object.entries(KINDS))
		lines.push(`import type * as ${kind} from './node_modules/${TYPES}/${kind}/panelcfg/x/${name}PanelCfg_types.gen';`);
	say('rest', 'Rest', rest);
	say('marks', 'Mark[]', annotations.list);
	say('choices', 'Choice[]', templating.list);
	for (const panel of allOf(panels)) {
		const { targets, options, ...frame } = panel;
		if (panel.type === 'row') {
			say(`row${panel.id}`, "Json<Omit<RowPanel, 'panels'>> & { panels: [] }", { ...panel, panels: [] });
			continue;
		}
		say(`panel${panel.id}`, 'Json<Panel>', frame);
		say(`targets${panel.id}`, 'Target[]', targets);
		say(`options${panel.id}`, `Json<Part<${panel.type}.Options>>`, options);
		if (WITH_FIELDS.has(panel.type))
			say(`custom${panel.id}`, `Json<Part<${panel.type}.FieldConfig>>`, panel.fieldConfig.defaults.custom ?? {});
	}
	return lines.join('\n');
}

function typeErrors(file, dashboard) {
	const source = typescriptOf(dashboard), lines = source.split('\n'), name = '.check.ts';
	fs.writeFileSync(name, source);
	try {
		execFileSync('node_modules/.bin/tsc', ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext',
			'--moduleResolution', 'bundler', '--target', 'es2022', name]);
		return [];
	} catch (error) {
		return String(error.stdout).trim().split('\n').map(text => {
			const line = /^\.check\.ts\((\d+),/.exec(text);
			return `${file}: ${text}${line ? ` in: ${lines[line[1] - 1].slice(0, 90)}` : ''}`;
		});
	} finally {
		fs.unlinkSync(name);
	}
}

function layoutErrors(file, { panels }) {
	const errors = [];
	panels.forEach((a, i) => {
		const p = a.gridPos;
		if (p.x + p.w > 24) errors.push(`${file}: ${a.title} is wider than the screen`);
		for (const { title, gridPos: q } of panels.slice(i + 1))
			if (p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h)
				errors.push(`${file}: ${a.title} and ${title} overlap`);
		if (a.type !== 'row' && !KINDS[a.type]) errors.push(`${file}: ${a.title} is of a kind not known here: ${a.type}`);
		if (a.type === 'row' && a.collapsed !== a.panels.length > 0)
			errors.push(`${file}: only a collapsed row has panels of its own: ${a.title}`);
		errors.push(...layoutErrors(file, { panels: a.panels ?? [] }));
	});
	return errors;
}

function numberErrors(file, { panels }) {
	const ids = allOf(panels).map(panel => panel.id);
	return ids.filter((id, i) => ids.indexOf(id) !== i).map(id => `${file}: id ${id} twice`);
}

const errors = [], uids = new Set();
for (const file of process.argv.slice(2)) {
	const dashboard = JSON.parse(fs.readFileSync(file, 'utf8'));
	errors.push(...typeErrors(file, dashboard), ...layoutErrors(file, dashboard), ...numberErrors(file, dashboard));
	if (uids.has(dashboard.uid)) errors.push(`${file}: uid ${dashboard.uid} twice`);
	uids.add(dashboard.uid);
	console.log(`${file}: ${allOf(dashboard.panels).length} panels, ${dashboard.templating.list.length} choices, ` +
		`${dashboard.annotations.list.length} marks`);
}
errors.forEach(e => console.error(e));
process.exit(errors.length ? 1 : 0);
