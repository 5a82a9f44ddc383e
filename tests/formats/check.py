"""Reads what write_formats wrote with the system that it is for: check.py FORMAT FOLDER.

Prints what read it. Exit code 77: that system is not there.
"""
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MIB = 1 << 20
GPU = {"cores": 2.25, "cpus": 3, "memory": 3584 * MIB, "gpus": 1, "disk": 20480 * MIB}
CPU = {"cores": 0.5, "cpus": 1, "memory": 512 * MIB, "gpus": 0, "disk": 0,
       "cores_limit": 4, "memory_limit": 704 * MIB}


class NotThere(Exception):
    pass


def equal(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def program(*names):
    for name in names:
        if shutil.which(name):
            return name
    raise NotThere(" or ".join(names))


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)


def version_of(package):
    return f"{package} {importlib.metadata.version(package)}"


def imported(source):
    """A module of that text; libraries look their decorators' sources up in its file."""
    place = pathlib.Path(tempfile.mkdtemp(), "pasted.py")
    place.write_text(source)
    spec = importlib.util.spec_from_file_location(f"pasted_{place.parent.name}", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# ---- Metaflow ----

def decorator(text, name):
    source = ("from metaflow import FlowSpec, step, resources, kubernetes, batch\n"
              "class SomeFlow(FlowSpec):\n"
              f"    {text}"
              "    @step\n"
              "    def start(self):\n        self.next(self.end)\n"
              "    @step\n"
              "    def end(self):\n        pass\n")
    found = [d for d in imported(source).SomeFlow.start.decorators if d.name == name]
    equal(len(found), 1, "decorators")
    return {key: value for key, value in found[0].attributes.items() if value is not None}


def metaflow(gpu, cpu):
    found = decorator(gpu, "resources")
    equal((int(found["cpu"]), int(found["memory"]) * 10**6 >= GPU["memory"], int(found["gpu"])), (3, True, 1), "gpu")
    equal(int(decorator(cpu, "resources")["memory"]), 537, "memory")
    return version_of("metaflow")


def metaflow_kubernetes(gpu, cpu):
    found = decorator(gpu, "kubernetes")
    equal((float(found["cpu"]), int(found["memory"]), int(found["disk"]), int(found["gpu"])), (2.25, 3759, 21475, 1), "gpu")
    equal(float(decorator(cpu, "kubernetes")["cpu"]), 0.5, "cpu")
    return version_of("metaflow")


def metaflow_batch(gpu, cpu):
    found = decorator(gpu, "batch")
    equal((int(found["cpu"]), int(found["memory"]), int(found["gpu"])), (3, 3584, 1), "gpu")
    equal(int(decorator(cpu, "batch")["memory"]), 512, "memory")
    return version_of("metaflow")


# ---- Kubernetes and what speaks its language ----

def check_resources(resources, wanted, quantity):
    """resources: {"requests": {...}, "limits": {...}} of texts."""
    requests, limits = resources["requests"], resources.get("limits") or {}
    equal(float(quantity(requests["cpu"])), wanted["cores"], "cpu")
    equal(int(quantity(requests["memory"])), wanted["memory"], "memory")
    if wanted["disk"]:
        equal(int(quantity(requests["ephemeral-storage"])), wanted["disk"], "disk")
    if wanted["gpus"]:
        equal(requests["nvidia.com/gpu"], limits["nvidia.com/gpu"], "GPUs asked for and allowed")
    equal(int(quantity(limits["memory"])), wanted.get("memory_limit", wanted["memory"]), "memory limit")
    if "cores_limit" in wanted:
        equal(float(quantity(limits["cpu"])), wanted["cores_limit"], "cpu limit")


def kubernetes(gpu, cpu):
    import yaml
    from kubernetes import client
    from kubernetes.utils import parse_quantity
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        body = yaml.safe_load(text)["resources"]
        check_resources(client.V1ResourceRequirements(**body).to_dict(), wanted, parse_quantity)
        if shutil.which("kubectl"):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"},
                   "spec": {"containers": [{"name": "main", "image": "image", "resources": body}]}}
            read = run("kubectl", "label", "--local", "-f", "-", "a=b", "-o", "json", input=json.dumps(pod))
            equal(read.returncode, 0, read.stderr)
            check_resources(json.loads(read.stdout)["spec"]["containers"][0]["resources"], wanted, parse_quantity)
    return version_of("kubernetes") + (", kubectl" if shutil.which("kubectl") else "")


def patched(document, patch):
    read = run(program("kubectl"), "patch", "--local", "-f", "-", "--type=strategic", "-p", json.dumps(patch), "-o", "json",
               input=json.dumps(document))
    equal(read.returncode, 0, read.stderr)
    return json.loads(read.stdout)


def kubernetes_patch(gpu, cpu):
    """In our own manifest the exporter is the first container; main has limits, of which one is below the new request."""
    import yaml
    from kubernetes.utils import parse_quantity
    job = yaml.safe_load(pathlib.Path("deploy/kubernetes/sidecar/classic.yaml").read_text())
    exporter, main = job["spec"]["template"]["spec"]["containers"]
    main["resources"]["limits"]["ephemeral-storage"] = main["resources"]["limits"]["example.com/other"] = "1"
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": job["metadata"],
            "spec": {"schedule": "@daily", "jobTemplate": {"spec": job["spec"]}}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": job["metadata"],
                  "spec": {"selector": {"matchLabels": {}}, "template": job["spec"]["template"]}}
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        patch = json.loads(text)
        for specification in (patched(job, patch)["spec"], patched(deployment, patch)["spec"],
                              patched(cron, {"spec": {"jobTemplate": patch}})["spec"]["jobTemplate"]["spec"]):
            first, second = specification["template"]["spec"]["containers"]
            equal((first["name"], first["resources"]), ("rightsize", exporter["resources"]), "the exporter's")
            equal((second["name"], second["image"]), ("main", main["image"]), "the container")
            check_resources(second["resources"], wanted, parse_quantity)
            limits = second["resources"]["limits"]
            equal("cpu" in limits, "cores_limit" in wanted, "a limit of CPUs")
            equal("ephemeral-storage" in limits, not wanted["disk"], "a limit of disk")
            equal(limits["example.com/other"], "1", "what is of others")
    return "kubectl patch of a Job, a Deployment and a CronJob"


def read_by_schema(kind, document, *advice):
    """What read it; advice: where in the document that is, of which each key must be known."""
    program("node")
    folder = pathlib.Path(sys.argv[2], "node")
    shutil.copy(pathlib.Path(__file__).parent / "models.mjs", folder)
    read = run("node", folder / "models.mjs", input=json.dumps({"kind": kind, "document": document, "advice": advice}))
    equal(read.returncode, 0, read.stderr)
    return read.stdout.strip()


def vpa(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        document = {"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": {"name": "fit"},
                    "spec": {"targetRef": {"apiVersion": "batch/v1", "kind": "Job", "name": "fit"}}, **yaml.safe_load(text)}
        by = read_by_schema("VerticalPodAutoscaler", document, "status")
        container = document["status"]["recommendation"]["containerRecommendations"][0]
        equal(float(parse_quantity(container["target"]["cpu"])), wanted["cores"], "cpu")
        equal(int(parse_quantity(container["target"]["memory"])), wanted["memory"], "memory")
        equal(int(parse_quantity(container["upperBound"]["memory"])), wanted.get("memory_limit", wanted["memory"]), "upper bound")
    return by


def template_of(body):
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "metadata": {"name": "fit"},
            "spec": {"templates": [{"name": "fit", **body}]}}


# What the schema wants of a container besides.
FRAME = {"name": "main", "image": "image"}


def argo(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        body = yaml.safe_load(text)
        body["container"].update(FRAME)
        by = read_by_schema("WorkflowTemplate", template_of(body), "spec", "templates", 0, "container", "resources")
        check_resources(body["container"]["resources"], wanted, parse_quantity)
    return by


def argo_patch(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        body = yaml.safe_load(text)
        by = read_by_schema("WorkflowTemplate", template_of({**body, "container": FRAME}),
                            "spec", "templates", 0, "podSpecPatch")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fit"}, "spec": json.loads(body["podSpecPatch"])}
        by += "; " + read_by_schema("Pod", pod, "spec")
        check_resources(pod["spec"]["containers"][0]["resources"], wanted, parse_quantity)
    return by


def airflow(gpu, cpu):
    os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp())
    from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator
    from kubernetes import client as k8s
    from kubernetes.utils import parse_quantity
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        config = eval(f"dict({text.strip()})", {"k8s": k8s})["executor_config"]
        pod = PodGenerator.from_obj(config)
        equal(pod.spec.containers[0].name, "base", "container")
        check_resources(pod.spec.containers[0].resources.to_dict(), wanted, parse_quantity)
    return version_of("apache-airflow") + ", PodGenerator.from_obj"


def flyte(gpu, cpu):
    from flytekit.core.resources import convert_resources_to_resource_model
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        module = imported(f"from flytekit import task, Resources\n{text}def fit(a: int) -> int:\n    return a\n")
        model = convert_resources_to_resource_model(module.fit.resources.requests, module.fit.resources.limits)
        requests = {entry.name: entry.value for entry in model.requests}
        kinds = model.ResourceName
        equal((requests[kinds.CPU], requests[kinds.MEMORY]),
              (f"{int(wanted['cores'] * 1000)}m", f"{wanted['memory'] // MIB}Mi"), "requests")
    return version_of("flytekit")


def kubeflow(gpu, cpu):
    import yaml
    from kfp import compiler
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        module = imported("from kfp import dsl\n@dsl.component\ndef fit():\n    pass\n"
                          f"@dsl.pipeline\ndef some_pipeline():\n    task = fit()\n    {text}")
        out = tempfile.mkdtemp() + "/out.yaml"
        compiler.Compiler().compile(module.some_pipeline, out)
        spec = list(yaml.safe_load_all(pathlib.Path(out).read_text()))[0]
        resources = spec["deploymentSpec"]["executors"]["exec-fit"]["container"]["resources"]
        equal(float(resources["cpuRequest"]), wanted["cores"], "cpu request")
        equal(abs(float(resources["memoryRequest"]) * 10**9 - wanted["memory"]) < 1e6, True, "memory request")
    return version_of("kfp") + ", compiled"


# ---- schedulers and runtimes ----

def snakemake(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        with tempfile.TemporaryDirectory() as place:
            rule = "".join(f"    {line}\n" for line in text.splitlines())
            pathlib.Path(place, "Snakefile").write_text(
                f"rule fit:\n    output: 'done'\n{rule}    shell: 'echo {{threads}} {{resources}} > {{output}}'\n")
            read = run(sys.executable, "-m", "snakemake", "-n", "-p", "--cores", "8", cwd=place)
            equal(read.returncode, 0, read.stdout + read.stderr)
            said = read.stdout + read.stderr
            decimal = -(-wanted["memory"] // 10**6)
            equal(f"mem_mb={decimal}" in said, True, f"mem_mb={decimal} in what it said")
            equal(wanted["cpus"] == 1 or f"threads: {wanted['cpus']}" in said, True, "threads")
    return version_of("snakemake") + ", dry run"


def ray(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        options = imported(f"import ray\n{text}def fit():\n    pass\n").fit._default_options
        equal((options["num_cpus"], options["memory"]), (wanted["cores"], wanted["memory"]), "options")
    return version_of("ray")


def dask(gpu, cpu):
    from dask.distributed import LocalCluster
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        call = text.strip()[:-1] + ", processes=False, dashboard_address=None)"
        with eval(call, {"LocalCluster": LocalCluster}) as cluster:
            worker = next(iter(cluster.workers.values()))
            equal(worker.state.nthreads, wanted["cpus"], "threads")
            limit = worker.memory_manager.memory_limit
            equal(limit is None or limit * 0.95 >= wanted["memory"] - MIB, True, "95 % of the limit")
    return version_of("distributed") + ", LocalCluster"


def docker(gpu, cpu):
    """Its flags are read before it looks for a daemon, or for the image."""
    name = program("docker", "podman")

    def refuses(text):
        read = run(name, "create", "--pull=never", *text.split(), "localhost/not-there:none")
        return bool(re.search(r"unknown flag|invalid|pars", read.stderr)), read.stderr

    for text in (gpu, cpu):
        wrong, said = refuses(text)
        equal(wrong, False, said)
    equal(refuses(cpu.replace("m ", "q "))[0], True, "a wrong size is refused")
    return run(name, "--version").stdout.strip()


def systemd(gpu, cpu):
    name = program("systemd-analyze")

    def verify(text):
        with tempfile.TemporaryDirectory() as place:
            unit = pathlib.Path(place, "job.service")
            unit.write_text(text + "ExecStart=/bin/true\n")
            read = run(name, "verify", str(unit))
            return [line for line in (read.stdout + read.stderr).splitlines() if "job.service" in line]

    for text in (gpu, cpu):
        equal(verify(text), [], "complaints")
    equal(bool(verify(cpu.replace("M\n", "Q\n"))), True, "complaints about a wrong size")
    return run(name, "--version").stdout.splitlines()[0]


def slurm(gpu, cpu):
    name = program("sbatch")
    with tempfile.TemporaryDirectory() as place:
        conf = pathlib.Path(place, "slurm.conf")
        conf.write_text("ClusterName=c\nSlurmctldHost=localhost\nSlurmctldPort=1\nMessageTimeout=2\n"
                        "GresTypes=gpu\nNodeName=n CPUs=64 RealMemory=100000 Gres=gpu:4\n"
                        "PartitionName=p Nodes=n Default=YES\n")
        environment = {**os.environ, "SLURM_CONF": str(conf)}

        def complains(text):
            script = pathlib.Path(place, "job.sh")
            script.write_text("#!/bin/sh\n" + text + "true\n")
            read = run(name, "--test-only", str(script), env=environment)
            return bool(re.search(r"[Ii]nvalid|unrecognized|unknown", read.stderr)), read.stderr

        for text in (gpu, cpu):
            wrong, said = complains(text)
            equal(wrong, False, said)
        equal(complains(cpu.replace("--mem=512M", "--mem=512Q"))[0], True, "complaints about a wrong size")
        equal(complains(cpu.replace("--time=", "--time=x"))[0], True, "complaints about a wrong time")
        return run(name, "--version", env=environment).stdout.strip() + ", sbatch --test-only"


# Says what it was given, and dies as a process does that the kernel kills for memory, until it has twice as much.
PIPELINE = """
process fit {
    debug true
    script:
    "echo given ${task.attempt} ${task.cpus} ${task.memory.toBytes()} ${task.disk ? task.disk.toBytes() : 0}" +
    " ${task.accelerator ? task.accelerator.request : 0}; [ ${task.attempt} = 2 ] || exit 137"
}
workflow { fit() }
"""


def nextflow(gpu, cpu):
    """A pipeline runs with it, on a machine that is said to be as large as need be."""
    classes = pathlib.Path(sys.argv[2], "nextflow", "lib").resolve()
    command = ["nextflow"]
    if not shutil.which("nextflow"):
        if not any(classes.glob("nextflow-*.jar")):
            raise NotThere("nextflow")
        command = [program("java"), "-cp", f"{classes}/*", "nextflow.cli.Launcher"]
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        with tempfile.TemporaryDirectory() as place:
            environment = {**os.environ, "NXF_HOME": place, "NXF_OFFLINE": "true", "NXF_ANSI_LOG": "false"}
            pathlib.Path(place, "main.nf").write_text(PIPELINE)
            pathlib.Path(place, "nextflow.config").write_text(text)
            pathlib.Path(place, "large.config").write_text("executor { cpus = 64; memory = 1.TB }\n")
            read = run(*command, "run", "main.nf", "-c", "large.config", cwd=place, env=environment)
            equal(read.returncode, 0, read.stdout + read.stderr)
            equal("Execution is retried (1)" in read.stdout, True, read.stdout)
            given = re.findall(r"^given (.*)$", read.stdout, re.M)
            equal(given, [f"2 {wanted['cpus']} {2 * wanted['memory']} {wanted['disk']} {wanted['gpus']}"], read.stdout)
    version = run(*command, "-v", env={**os.environ, "NXF_OFFLINE": "true"}).stdout.strip()
    return f"{version}, a pipeline whose first attempt is killed"


CHECKS = {
    "metaflow": metaflow, "metaflow-kubernetes": metaflow_kubernetes, "metaflow-batch": metaflow_batch,
    "kubernetes": kubernetes, "kubernetes-patch": kubernetes_patch, "airflow": airflow, "flyte": flyte,
    "kubeflow": kubeflow, "snakemake": snakemake, "ray": ray, "dask": dask, "docker": docker, "systemd": systemd,
    "slurm": slurm, "nextflow": nextflow, "vpa": vpa, "argo": argo, "argo-patch": argo_patch,
}


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    texts = {kind: (folder / "texts" / f"{name}.{kind}").read_text() for kind in ("gpu", "cpu")}
    try:
        by = CHECKS[name](texts["gpu"], texts["cpu"])
    except NotThere as why:
        print(f"{name:20} left out: no {why}")
        return 77
    except Exception as why:
        print(f"{name:20} FAILED: {type(why).__name__}: {why}")
        return 1
    print(f"{name:20} read by {by}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
