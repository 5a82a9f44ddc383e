"""The manifests below deploy/kubernetes without a server or a network: fields, types and required fields by schemas.json
(made by schemas.mjs), and what no schema knows: that names which refer to something do so, and that the exporter has the
options it is given, and that a history has room on a volume that is bounded. The chart is checked by manifests.sh, which needs
helm and gives what it renders to this as well; without helm its templates are read.

Usage: test_manifests.py            the tests; with --only FILE... says what is wrong in these
"""
import json
import pathlib
import re
import sys
import unittest

import jsonschema
import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
MANIFESTS = SOURCE / "deploy/kubernetes"
SCHEMAS = json.loads((HERE / "schemas.json").read_text())
CHART = SOURCE / "deploy/helm/rightsize-exporter"
TABLE = (SOURCE / "exporter/options/options.h").read_text()
COLLECTORS = set(re.findall(r"struct collector collector_(\w+) = {", "".join(
    file.read_text() for file in (SOURCE / "collectors").rglob("*.c"))))
OPTIONS = set(re.findall(r'"([a-z][a-z.-]+)"', TABLE)) | {f"collector.{name}" for name in COLLECTORS}
HISTORY_DEFAULT = re.search(r'history_max_size, "history.max-size", "(\w+)"', TABLE)[1]
HISTORY_FOLDER = "/var/lib/rightsize-exporter"
# Share of a volume: --history.max-size limits only the content of the file. Beside the file are the -wal, which grows
# during a long read, and a damaged history that was set aside, which is as large. Kubernetes evicts a pod with its job
# when the pod exceeds a sizeLimit.
HISTORY_SHARE = 0.4
UNITS = {"": 1, "m": 1e-3, "k": 1e3, **{f"{unit}{i}": (1024 if i else 1000) ** power
                                        for power, unit in enumerate("KMGTPE", 1) for i in ("", "i") if unit + i != "K"}}


class StrictLoader(yaml.SafeLoader):
    """A repeated key is a mistake. Kubernetes uses the last one."""

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


def kinds_of(folder):
    """Returns the kinds of all objects of a kustomization."""
    kinds = set()
    for name in yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]:
        if (folder / name).is_dir():
            kinds |= kinds_of(folder / name)
        else:
            kinds |= {it["kind"] for it in yaml.safe_load_all((folder / name).read_text())}
    return kinds


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


def in_bytes(text, units):
    number, unit = re.fullmatch(r"([0-9.e+]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * units[unit]


def bound_of(volume, claims):
    """Returns the bytes that fit, or None if there is no limit."""
    size = volume.get("emptyDir", {}).get("sizeLimit")
    size = size or claims.get(volume.get("persistentVolumeClaim", {}).get("claimName"))
    return size and in_bytes(size, UNITS)


def history_faults(container, volumes, claims):
    """A history must be well below what its volume may hold."""
    if not container["image"].startswith("rightsize-exporter"):
        return
    for mount in container.get("volumeMounts", []):
        room = bound_of(volumes[mount["name"]], claims) if mount["mountPath"] == HISTORY_FOLDER else None
        # If an option is repeated, the last one counts.
        size = re.findall(r"^--history\.max-size=(.*)", "\n".join(container.get("args", [])), re.MULTILINE)
        size = (size or [HISTORY_DEFAULT])[-1]
        if room and in_bytes(size, UNITS) > room * HISTORY_SHARE:
            yield f"{container['name']}: a history of {size} is too large for the volume {mount['name']} of {room:.0f} bytes"


def by_reference(it, claims):
    template = it.get("spec", {}).get("template")
    if not template:
        return
    wanted = it["spec"].get("selector", {}).get("matchLabels", {})
    if not wanted.items() <= template["metadata"].get("labels", {}).items():
        yield f"selector: {wanted} is not among the labels of its own pods"
    spec = template["spec"]
    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
    for container in spec.get("initContainers", []) + spec["containers"]:
        wrong = list(container_faults(container, volumes))
        yield from wrong or history_faults(container, volumes, claims)


def faults(text, folder=MANIFESTS):
    """Returns the faults of the objects in the text of a file. An object of the wrong form is not checked further."""
    try:
        objects = [it for it in yaml.load_all(text, StrictLoader) if it]
    except yaml.YAMLError as error:
        return [str(error)]
    found = [] if objects else ["there is no object"]
    claims = {it["metadata"]["name"]: it["spec"]["resources"]["requests"]["storage"] for it in objects
              if it.get("kind") == "PersistentVolumeClaim" and not by_schema(it)}
    for it in objects:
        if it.get("kind") == "Kustomization":
            wrong = list(kustomization(folder, it))
        else:
            wrong = by_schema(it) or list(by_reference(it, claims))
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
        """Formats for Kubernetes call the container main."""
        for file in sorted((MANIFESTS / "sidecar").glob("*.yaml")):
            for it in yaml.safe_load_all(file.read_text()):
                if it.get("kind") == "Job":
                    images = {c["name"]: c["image"] for c in it["spec"]["template"]["spec"]["containers"]}
                    self.assertNotIn("rightsize", images["main"], file.name)

    def test_what_is_applied_by_default_needs_no_operator_and_locks_nobody_out(self):
        """The overlay of a cluster uses only kinds that every Kubernetes has, and a Prometheus without a label reaches
        it."""
        self.assertEqual(kinds_of(MANIFESTS / "overlays/cluster") & {"ServiceMonitor", "PodMonitor", "NetworkPolicy"}, set())
        self.assertLess({"Deployment", "DaemonSet", "Service"}, kinds_of(MANIFESTS / "overlays/cluster"))
        self.assertLess({"ServiceMonitor", "PodMonitor", "DaemonSet"}, kinds_of(MANIFESTS / "overlays/operator"))
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        self.assertFalse(values["networkPolicy"]["enabled"] or values["monitoring"]["enabled"] or values["monitoring"]["rules"])

    def test_exporters_of_nodes_may_read_what_they_ask_for_and_nothing_else(self):
        """By the table of owners in the source: in the overlay, the chart and the manual alike. Without the overlay there is no token."""
        asked = set(re.findall(r'\{"([a-z.0-9]*)",\s*"\w+",\s*POD_\w+,\s*\w+,\s*"v\w+",\s*"([a-z]+)",',
                               (SOURCE / "exporter/kubernetes/owner_chain.c").read_text()))
        self.assertIn(("batch", "jobs"), asked)
        overlay = MANIFESTS / "overlays/owners"
        role, _ = yaml.safe_load_all((overlay / "rbac.yaml").read_text())
        chart = re.findall(r"^ {2}- (\{apiGroups: .*\})$", (CHART / "templates/node.yaml").read_text(), re.MULTILINE)
        for rules in (role["rules"], [yaml.safe_load(rule) for rule in chart]):
            self.assertEqual({tuple(rule["verbs"]) for rule in rules}, {("get",)})
            self.assertEqual({(group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]},
                             asked)
        [rights] = re.findall(r"^- \*\*Rights\*\*: `get` for (.*?)\sNothing is listed",
                              (SOURCE / "deploy/manual/kubernetes.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertEqual({(group, resource) for resource, _, group in (name.partition(".") for name in re.findall("`(.*?)`", rights))},
                         asked)
        account, daemons = yaml.safe_load_all((MANIFESTS / "daemonset/daemonset.yaml").read_text())
        [patch] = yaml.safe_load((overlay / "kustomization.yaml").read_text())["patches"]
        [change] = yaml.safe_load(patch["patch"])
        self.assertEqual(change, {"op": "replace", "path": "/spec/template/spec/automountServiceAccountToken", "value": True})
        self.assertIs(daemons["spec"]["template"]["spec"]["automountServiceAccountToken"], False)
        self.assertIs(account["automountServiceAccountToken"], False)
        self.assertIs(yaml.safe_load((CHART / "values.yaml").read_text())["node"]["podOwners"], False)

    def test_only_who_shows_a_token_writes(self):
        for file in sorted(MANIFESTS.rglob("*.yaml")):
            self.assertNotIn("allow-changes", file.read_text(), file.name)
        self.assertIn("--web.changes-token-file=", (MANIFESTS / "central/central.yaml").read_text())
        for file in ("daemonset/daemonset.yaml", "sidecar/native.yaml", "sidecar/classic.yaml"):
            self.assertIn("--forward.token-file=", (MANIFESTS / file).read_text(), file)
        self.assertIs(yaml.safe_load((CHART / "values.yaml").read_text())["central"]["allowChangesWithoutToken"], False)

    def test_monitors_keep_the_namespace_of_a_job(self):
        """Prometheus renames a label of the exporter if the target has one of the same name. The operator gives every target
        the label namespace."""
        dropped = [{"sourceLabels": ["namespace"], "targetLabel": "exporter_namespace"}, {"action": "labeldrop", "regex": "namespace"}]
        monitors = [it for file in sorted((MANIFESTS / "monitoring").glob("*monitor.yaml")) for it in yaml.safe_load_all(file.read_text())]
        self.assertEqual(len(monitors), 3)
        for it in monitors:
            for endpoint in it["spec"].get("endpoints") or it["spec"]["podMetricsEndpoints"]:
                self.assertEqual(endpoint["relabelings"], dropped, it["metadata"]["name"])
        text = (CHART / "templates/monitoring.yaml").read_text()
        rules = re.findall(r"^ {2}- (\{.*\})$", text.partition("{{- end }}\n{{- if .Values")[0], re.MULTILINE)
        self.assertEqual([yaml.safe_load(rule) for rule in rules], dropped)
        self.assertEqual(text.count('include "rightsize.endpoint"'), len(monitors))

    def test_sidecars_say_in_which_namespace_their_job_is(self):
        for file in sorted((MANIFESTS / "sidecar").glob("*.yaml")):
            self.assertRegex(file.read_text(), r"name: POD_NAMESPACE\n\s+valueFrom: \{fieldRef: \{fieldPath: metadata\.namespace\}\}", file.name)

    def test_sidecars_expose_the_job_alone_and_end_with_it(self):
        self.assertLess({"jobs", "gpu", "cpu"}, COLLECTORS)
        for file in sorted((MANIFESTS / "sidecar").glob("*.yaml")):
            text = file.read_text()
            self.assertEqual(set(re.findall(r"--no-collector\.(\w+)", text)), COLLECTORS - {"jobs", "gpu"}, file.name)
            self.assertNotIn("linger", text, file.name)

    def test_history_of_the_chart_is_bounded_by_its_volume(self):
        """Reads the templates as text: wherever the chart requests a volume of a size, the history gets its share of
        the same value."""
        share = re.search(r'define "rightsize.historySize".*?mulf .* ([0-9.]+)\)', (CHART / "templates/_helpers.tpl").read_text(), re.DOTALL)
        self.assertLessEqual(float(share[1]), HISTORY_SHARE)
        sizes = []
        for file in sorted((CHART / "templates").glob("*.yaml")):
            text = file.read_text()
            asked = re.findall(r"(?:storage|sizeLimit): *\{\{ *(\.Values\.\S+?) *\}\}", text)
            self.assertEqual(len(asked), len(re.findall(r"\b(?:storage|sizeLimit):", text)), f"{file.name}: a size that is no value")
            for value in asked:
                condition = value.rpartition(".")[0] + ".enabled"
                self.assertIn(f"{{{{- if {condition} }}}}\n            - --history.max-size={{{{ include \"rightsize.historySize\" {value} }}}}"
                              "\n            {{- end }}\n", text, file.name)
            sizes += asked
        self.assertEqual(sizes, [".Values.central.persistence.size"])

    def test_what_is_broken_is_found(self):
        for file, good, broken, said in (
            ("central/central.yaml", "replicas: 1", "replicaz: 1", "'replicaz' was unexpected"),
            ("central/central.yaml", "replicas: 1", 'replicas: "one"', "spec.replicas: 'one' is not of type"),
            ("central/central.yaml", "storage: 2Gi", "storage: 2 Gigs", "'2 Gigs' does not match"),
            ("central/central.yaml", "kind: Deployment", "kind: Deploy", "no schema for apps/v1 Deploy"),
            ("central/kustomization.yaml", "- central.yaml", "- centre.yaml", "there is no centre.yaml"),
            ("networkpolicy/kustomization.yaml", "  - node.yaml\n", "", "node.yaml is not among them"),
            ("sidecar/native.yaml", "restartPolicy: Always", "restartPolicies: Always", "'restartPolicies' was unexpected"),
            ("sidecar/native.yaml", "--jobs.pod", "--jobs.pods", "no option --jobs.pods"),
            ("sidecar/native.yaml", "port: rightsize}", "port: web}", "no port is called web"),
            ("sidecar/native.yaml", "- {name: rightsize, mountPath", "- {name: state, mountPath", "no volume is called state"),
            ("sidecar/native.yaml", "backoffLimit: 2", "backoffLimit: 2\n  backoffLimit: 3", "twice in one object: backoffLimit"),
            ("sidecar/native.yaml", "            - --history.max-size=128Mi\n", "", "a history of 1Gi is too large for the volume rightsize"),
            ("sidecar/native.yaml", "sizeLimit: 320Mi", "sizeLimit: 320M", "a history of 128Mi is too large"),
            ("sidecar/classic.yaml", "--history.max-size=128Mi", "--history.max-size=256Mi", "a history of 256Mi is too large"),
            ("central/central.yaml", "storage: 2Gi", "storage: 1Gi", "a history of 800Mi is too large for the volume state"),
            ("sidecar/classic.yaml", "image: busybox:1.36", "image: [busybox]", "is not of type 'string'"),
        ):
            with self.subTest(f"{file}: {broken}"):
                text = (MANIFESTS / file).read_text()
                self.assertIn(good, text)
                found = faults(text.replace(good, broken), (MANIFESTS / file).parent)
                self.assertTrue(any(said in fault for fault in found), found)


def main():
    if sys.argv[1:2] != ["--only"]:
        unittest.main()
    found = [f"{name}: {fault}" for name in sys.argv[2:] for fault in faults(pathlib.Path(name).read_text())]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
