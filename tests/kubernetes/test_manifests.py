"""The manifests below deploy/kubernetes without a server or a network: fields, types and required fields by schemas.json
(made by schemas.mjs), and what no schema knows: that names which refer to something do so, and that the exporter has the
options it is given. The chart is checked by manifests.sh, which needs helm.
"""
import json
import pathlib
import re
import unittest

import jsonschema
import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
MANIFESTS = SOURCE / "deploy/kubernetes"
SCHEMAS = json.loads((HERE / "schemas.json").read_text())
OPTIONS = set(re.findall(r'"([a-z][a-z.-]+)"', (SOURCE / "exporter/options.h").read_text()))


class StrictLoader(yaml.SafeLoader):
    """A key that is there twice is a mistake, of which Kubernetes takes the last."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.YAMLError(f"line {node.start_mark.line + 1}: twice in one object: {', '.join(sorted(twice))}")
        return super().construct_mapping(node, deep)


def kustomization(folder, it):
    files = {f.name for f in folder.glob("*.yaml")} - {"kustomization.yaml"}
    yield from (f"resources: there is no {name}" for name in it["resources"] if not (folder / name).exists())
    yield from (f"resources: {name} is not among them" for name in sorted(files - set(it["resources"])))


def by_schema(it):
    kind = f"{it.get('apiVersion')} {it.get('kind')}"
    if kind not in SCHEMAS["kinds"]:
        return [f"no schema for {kind}"]
    schema = {**SCHEMAS["kinds"][kind], "$defs": SCHEMAS["$defs"]}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(it)
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors]


def container_faults(container, volumes):
    ports = {port.get("name") for port in container.get("ports", [])}
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            yield f"{container['name']}: no volume is called {mount['name']}"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        port = container.get(probe, {}).get("httpGet", {}).get("port", 0)
        if isinstance(port, str) and port not in ports:
            yield f"{container['name']}: {probe}: no port is called {port}"
    if container["image"].startswith("rightsize-exporter"):
        for option in re.findall(r"^--(?:no-)?([a-z.-]+)", "\n".join(container.get("args", [])), re.MULTILINE):
            if option not in OPTIONS:
                yield f"{container['name']}: the exporter has no option --{option}"


def by_reference(it):
    template = it.get("spec", {}).get("template")
    if not template:
        return
    wanted = it["spec"].get("selector", {}).get("matchLabels", {})
    if not wanted.items() <= template["metadata"].get("labels", {}).items():
        yield f"selector: {wanted} is not among the labels of its own pods"
    spec = template["spec"]
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in spec.get("initContainers", []) + spec["containers"]:
        yield from container_faults(container, volumes)


def faults(text, folder=MANIFESTS):
    """What is wrong with the objects in the text of a file; what has the wrong form is not followed further."""
    try:
        objects = [it for it in yaml.load_all(text, StrictLoader) if it]
    except yaml.YAMLError as error:
        return [str(error)]
    found = [] if objects else ["there is no object"]
    for it in objects:
        if it.get("kind") == "Kustomization":
            wrong = list(kustomization(folder, it))
        else:
            wrong = by_schema(it) or list(by_reference(it))
        found += [f"{it.get('kind')} {it.get('metadata', {}).get('name', '')}: {fault}" for fault in wrong]
    return found


class Manifests(unittest.TestCase):
    def test_all_are_valid(self):
        files = sorted(MANIFESTS.rglob("*.yaml"))
        self.assertGreater(len(files), 10)
        for file in files:
            with self.subTest(file.relative_to(SOURCE)):
                self.assertEqual(faults(file.read_text(), file.parent), [])

    def test_advice_finds_the_job_beside_the_exporter(self):
        """Formats for Kubernetes name the container main."""
        for file in sorted((MANIFESTS / "sidecar").glob("*.yaml")):
            for it in yaml.safe_load_all(file.read_text()):
                if it.get("kind") == "Job":
                    images = {c["name"]: c["image"] for c in it["spec"]["template"]["spec"]["containers"]}
                    self.assertNotIn("rightsize", images["main"], file.name)

    def test_what_is_broken_is_found(self):
        for file, good, broken, said in (
            ("central/central.yaml", "replicas: 1", "replicaz: 1", "'replicaz' was unexpected"),
            ("central/central.yaml", "replicas: 1", 'replicas: "one"', "spec.replicas: 'one' is not of type"),
            ("central/central.yaml", "storage: 2Gi", "storage: 2 Gigs", "'2 Gigs' does not match"),
            ("central/central.yaml", "kind: Deployment", "kind: Deploy", "no schema for apps/v1 Deploy"),
            ("central/kustomization.yaml", "- central.yaml", "- centre.yaml", "there is no centre.yaml"),
            ("central/kustomization.yaml", "  - networkpolicy.yaml\n", "", "networkpolicy.yaml is not among them"),
            ("sidecar/native.yaml", "restartPolicy: Always", "restartPolicies: Always", "'restartPolicies' was unexpected"),
            ("sidecar/native.yaml", "--jobs.pod", "--jobs.pods", "no option --jobs.pods"),
            ("sidecar/native.yaml", "port: rightsize}", "port: web}", "no port is called web"),
            ("sidecar/native.yaml", "- {name: rightsize, mountPath", "- {name: state, mountPath", "no volume is called state"),
            ("sidecar/native.yaml", "backoffLimit: 2", "backoffLimit: 2\n  backoffLimit: 3", "twice in one object: backoffLimit"),
            ("sidecar/classic.yaml", "image: busybox:1.36", "image: [busybox]", "is not of type 'string'"),
        ):
            with self.subTest(f"{file}: {broken}"):
                text = (MANIFESTS / file).read_text()
                self.assertIn(good, text)
                found = faults(text.replace(good, broken), (MANIFESTS / file).parent)
                self.assertTrue(any(said in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
