// Checks Kubernetes objects without a server. Unknown fields are found by the types of the API's own OpenAPI
// description (kubernetes-types, by TypeScript's check of literals). Values, patterns and quantities are checked by
// schemas made from that description and from the Prometheus operator's CRDs (kubernetes-models).
//
// Usage: node check.mjs MODULES FILE.yaml...    MODULES: folder with node_modules; - reads standard input
//
// Prints the faults, one line per object. Exit code 1: there are faults.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(modules) + "/");
const yaml = require("js-yaml");
const wrong = [];
const objects = files.flatMap((file) =>
  yaml
    .loadAll(fs.readFileSync(file === "-" ? 0 : file, "utf8"))
    .filter(Boolean)
    .map((object) => ({ object, name: `${path.basename(file)}: ${object.kind} ${object.metadata?.name}` })));

// Returns the class of a kind, or undefined.
function modelOf({ apiVersion, kind }) {
  for (const library of ["kubernetes-models", "@kubernetes-models/prometheus-operator"])
    try {
      return require(`${library}/${apiVersion}/${kind}`)[kind];
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND" && error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
    }
}

function checkValues({ object, name }) {
  const Model = modelOf(object);
  if (!Model) return wrong.push(`${name}: no schema for ${object.apiVersion} ${object.kind}`);
  try {
    new Model(object).validate();
  } catch (error) {
    wrong.push(`${name}: ${error.message}`);
  }
}

// The types cover the kinds of Kubernetes itself.
function checkFields(all) {
  const lines = all.map(({ object }, i) => {
    const [group, version] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["core", object.apiVersion];
    const types = `kubernetes-types/${group.split(".")[0]}/${version}`;
    if (!fs.existsSync(path.join(modules, "node_modules", `${types}.d.ts`))) return "";
    return `export const o${i}: import("${types}").${object.kind} = ${JSON.stringify(object)};`;
  });
  const source = path.join(modules, `objects-${process.pid}.ts`);
  fs.writeFileSync(source, lines.join("\n"));
  try {
    execFileSync(path.join(modules, "node_modules/.bin/tsc"), ["--noEmit", "--strict", "--skipLibCheck", "--moduleResolution",
      "bundler", "--module", "esnext", "--target", "es2022", source], { stdio: ["ignore", "pipe", "inherit"] });
  } catch (error) {
    for (const [, line, text] of String(error.stdout).matchAll(/\((\d+),\d+\): error \w+: (.*)/g))
      wrong.push(`${all[line - 1].name}: ${text.slice(0, 300)}`);
    if (!wrong.length) throw error;
  } finally {
    fs.rmSync(source);
  }
}

if (!objects.length) wrong.push("there is no object to check");
objects.forEach(checkValues);
checkFields(objects);
console.log(wrong.length ? wrong.join("\n") : `${objects.length} objects are valid`);
process.exit(wrong.length ? 1 : 0);
