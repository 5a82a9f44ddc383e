// Reads {"kind": ..., "document": ..., "advice": [KEY...]} with the OpenAPI schemas that the projects publish for their
// resources: models.mjs <TEXT. Prints the reader. The schemas allow unknown keys. To see that each key of the advice
// is known, a wrong value is put there, which the schema must refuse.
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const KINDS = {
	VerticalPodAutoscaler: ["@kubernetes-models/autoscaler", "autoscaling.k8s.io/v1"],
	WorkflowTemplate: ["@kubernetes-models/argo-workflows", "argoproj.io/v1alpha1"],
	Pod: ["kubernetes-models", "v1"],
};

const at = (tree, path) => path.reduce((value, key) => value[key], tree);

function* leaves(tree, path) {
	if (tree === null || typeof tree !== "object")
		yield path;
	else
		for (const key of Object.keys(tree))
			yield* leaves(tree[key], [...path, key]);
}

const {kind, document, advice} = JSON.parse(readFileSync(0, "utf8"));
const [name, group] = KINDS[kind];
const Model = (await import(`${name}/${group}/${kind}`))[kind];
const {version} = createRequire(import.meta.url)(`${name}/package.json`);

new Model(document).validate();
for (const path of leaves(at(document, advice), advice)) {
	const wrong = structuredClone(document);

	at(wrong, path.slice(0, -1))[path.at(-1)] = {};
	let refused = false;
	try {
		new Model(wrong).validate();
	} catch {
		refused = true;
	}
	if (!refused)
		throw new Error(`${kind} has no ${path.join(".")}`);
}
console.log(`${name} ${version}, ${kind} ${group}`);
