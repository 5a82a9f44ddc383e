// Makes tests/kubernetes/schemas.json, with which test_manifests.py checks manifests without a network: JSON schemas of
// the kinds named below, from the types that manifests.sh fetches (kubernetes-types, Prometheus operator's of
// kubernetes-models). Only names and types of fields are taken, no descriptions.
//
// Usage: node schemas.mjs MODULES >schemas.json        MODULES: folder with node_modules
import { createRequire } from "node:module";
import path from "node:path";

const modules = path.resolve(process.argv[2], "node_modules");
const ts = createRequire(path.join(modules, "x"))("typescript");
const kinds = {
  "core/v1": ["ConfigMap", "Namespace", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount"],
  "apps/v1": ["DaemonSet", "Deployment"],
  "batch/v1": ["Job"],
  "networking/v1": ["NetworkPolicy"],
  "rbac/v1": ["ClusterRole", "ClusterRoleBinding"],
  "monitoring.coreos.com/v1": ["PodMonitor", "PrometheusRule", "ServiceMonitor"],
};
// Rules that types cannot express.
const exact = {
  Quantity: { type: ["string", "number"], pattern: "^[+-]?([0-9]+|[0-9]+[.][0-9]*|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$" },
  IntOrString: { type: ["string", "integer"] },
};

const fileOf = (api, kind) => (api.startsWith("monitoring") ?
  path.join(modules, "@kubernetes-models/prometheus-operator", api, `${kind}.d.ts`) :
  path.join(modules, "kubernetes-types", `${api}.d.ts`));
const files = Object.entries(kinds).flatMap(([api, names]) => names.map((kind) => fileOf(api, kind)));
const program = ts.createProgram(files, { moduleResolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ESNext });
const checker = program.getTypeChecker();
const schemas = {};

function fields(node) {
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const required = [];
  for (const member of node.members) {
    if (ts.isIndexSignatureDeclaration(member)) schema.additionalProperties = schemaOf(member.type);
    if (!ts.isPropertySignature(member)) continue;
    schema.properties[member.name.text] = schemaOf(member.type);
    if (!member.questionToken) required.push(member.name.text);
  }
  if (!Object.keys(schema.properties).length) delete schema.properties;
  return required.length ? { ...schema, required } : schema;
}

// A named type is written once. Its name has the path of its file, because two files may have types of one name.
function reference(node) {
  const name = node.typeName.getText();
  if (exact[name]) return exact[name];
  if (name === "Array") return { type: "array", items: schemaOf(node.typeArguments[0]) };
  let symbol = checker.getSymbolAtLocation(node.typeName);
  if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declared = symbol.declarations.find((d) => ts.isInterfaceDeclaration(d) || ts.isTypeAliasDeclaration(d));
  if (ts.isTypeAliasDeclaration(declared)) return schemaOf(declared.type);
  return define(declared);
}

function define(declared) {
  const file = path.relative(modules, declared.getSourceFile().fileName).replace(/\.d\.ts$/, "");
  const key = `${file.split("/").slice(1).filter((part) => part !== "apis").join(".")}.${declared.name.text}`;
  if (!schemas[key]) {
    schemas[key] = {};
    schemas[key] = fields(declared);
  }
  return { $ref: `#/$defs/${key}` };
}

function union(types) {
  if (types.every((t) => ts.isLiteralTypeNode(t))) return { enum: types.map((t) => t.literal.text) };
  const all = types.map(schemaOf);
  return all.every((s) => typeof s.type === "string" && Object.keys(s).length === 1) ?
    { type: all.map((s) => s.type) } : { anyOf: all };
}

function schemaOf(node) {
  switch (node.kind) {
    case ts.SyntaxKind.StringKeyword: return { type: "string" };
    case ts.SyntaxKind.NumberKeyword: return { type: "number" };
    case ts.SyntaxKind.BooleanKeyword: return { type: "boolean" };
    case ts.SyntaxKind.ArrayType: return { type: "array", items: schemaOf(node.elementType) };
    case ts.SyntaxKind.ParenthesizedType: return schemaOf(node.type);
    case ts.SyntaxKind.TypeLiteral: return fields(node);
    case ts.SyntaxKind.LiteralType: return { enum: [node.literal.text] };
    case ts.SyntaxKind.UnionType: return union(node.types);
    case ts.SyntaxKind.TypeReference: return reference(node);
    default: return {};
  }
}

const roots = {};
for (const [api, names] of Object.entries(kinds))
  for (const kind of names) {
    const source = program.getSourceFile(fileOf(api, kind));
    const declared = source.statements.find((s) => ts.isInterfaceDeclaration(s) && [kind, `I${kind}`].includes(s.name.text));
    const root = define(declared);
    const schema = schemas[root.$ref.slice("#/$defs/".length)];
    schema.required = [...new Set(["apiVersion", "kind", "metadata", ...(schema.required ?? [])])];
    roots[`${schema.properties.apiVersion.enum[0]} ${kind}`] = root;
  }

const lines = (object) => Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(",\n");
console.log(`{
  "$comment": "Made by schemas.mjs from types of the Kubernetes API (Apache-2.0) and of the Prometheus operator's resources (Apache-2.0 and MIT): see NOTICE",
  "kinds": {\n${lines(roots)}\n  },
  "$defs": {\n${lines(schemas)}\n  }\n}`);
