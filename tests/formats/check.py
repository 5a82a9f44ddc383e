"""Reads the files of write_formats with the system for which they are made: check.py FORMAT FOLDER. Prints the reader.
Exit code 77: the system is not installed.

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
import types

MIB = 1 << 20
GPU = {"cores": 2.25, "cpus": 3, "memory": 3584 * MIB, "gpus": 1, "disk": 20480 * MIB}
CPU = {"cores": 0.5, "cpus": 1, "memory": 512 * MIB, "gpus": 0, "disk": 0, "memory_limit": 704 * MIB,
       "attempts": [mib * MIB for mib in (512, 900, 1600, 2800)]}
GPU["attempts"] = [GPU["memory"] << i for i in range(4)]
# The caller requests a CPU limit, a container called my-app, a Nextflow process and disk on the node.
ASKED = {**CPU, "cores_limit": 4}


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


def text_of(kind):
    """Returns the text that write_formats wrote in a format: gpu, cpu, asked, share or grid."""
    return pathlib.Path(sys.argv[2], "texts", f"{sys.argv[1]}.{kind}").read_text()


def imported(source):
    """Returns a module made from a text. Libraries read the sources of their decorators from its file."""
    place = pathlib.Path(tempfile.mkdtemp(), "pasted.py")
    place.write_text(source)
    spec = importlib.util.spec_from_file_location(f"pasted_{place.parent.name}", place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# ---- Metaflow ----

def flow(text):
    """A flow whose first step has this text above it."""
    above = "".join(f"    {line}\n" for line in text.splitlines())
    return ("from metaflow import FlowSpec, step, resources, kubernetes, batch\n"
            "class SomeFlow(FlowSpec):\n"
            f"{above}"
            "    @step\n"
            "    def start(self):\n        self.next(self.end)\n"
            "    @step\n"
            "    def end(self):\n        pass\n")


def effective(text, compute):
    """Returns the attributes that Metaflow's compute decorator gives a step with this text, when the flow runs --with
    it."""
    from metaflow.plugins.aws.batch.batch_decorator import BatchDecorator
    from metaflow.plugins.kubernetes.kubernetes_decorator import KubernetesDecorator
    decorators = list(imported(flow(text)).SomeFlow.start.decorators)
    own = next((d for d in decorators if d.name == compute), None)
    if not own:
        own = {"kubernetes": KubernetesDecorator, "batch": BatchDecorator}[compute]()
        decorators.append(own)
    own.init()
    own.step_init(None, None, "start", decorators, None, types.SimpleNamespace(TYPE="s3"), None)
    return {key: float(own.attributes.get(key) or 0) for key in ("cpu", "memory", "disk", "gpu")}


def metaflow(gpu, cpu):
    """The line has an effect where it is pasted, and the comment names the line for AWS Batch."""
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        megabytes = -(-wanted["memory"] // 10**6)
        found = effective(text, "kubernetes")
        equal((found["cpu"], found["memory"], found["gpu"]), (wanted["cores"], megabytes, wanted["gpus"]), "@kubernetes")
        batch = effective(re.search(r"use (@batch\(.*\))\.", text)[1], "batch")
        equal((batch["cpu"], batch["memory"], batch["gpu"]), (wanted["cpus"], wanted["memory"] // MIB, wanted["gpus"]), "@batch")
        equal(effective(f"@resources(memory={megabytes})", "kubernetes")["memory"], 4096, "@resources, below the default")
    equal(effective("@resources(memory=5000)", "kubernetes")["memory"], 5000, "@resources, above the default")
    return version_of("metaflow") + ", step_init"


def metaflow_kubernetes(gpu, cpu):
    equal(effective(gpu, "kubernetes"), {"cpu": 2.25, "memory": 3759, "disk": 21475, "gpu": 1}, "gpu")
    equal(effective(cpu, "kubernetes")["cpu"], 0.5, "cpu")
    return version_of("metaflow") + ", step_init"


def metaflow_batch(gpu, cpu):
    equal(effective(gpu, "batch"), {"cpu": 3, "memory": 3584, "disk": 0, "gpu": 1}, "gpu")
    equal(effective(cpu, "batch")["memory"], 512, "memory")
    return version_of("metaflow") + ", step_init"


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
    found = limits.get("cpu")
    equal(found and float(quantity(found)), wanted.get("cores_limit"), "cpu limit")


def with_asked(gpu, cpu):
    return (gpu, GPU), (cpu, CPU), (text_of("asked"), ASKED)


def container_of(wanted, default="main"):
    return "my-app" if wanted is ASKED else default


def kubernetes(gpu, cpu):
    import yaml
    from kubernetes import client
    from kubernetes.utils import parse_quantity
    for text, wanted in with_asked(gpu, cpu):
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
    for text, wanted in with_asked(gpu, cpu):
        patch = json.loads(text)
        main["name"] = container_of(wanted)
        for specification in (patched(job, patch)["spec"], patched(deployment, patch)["spec"],
                              patched(cron, {"spec": {"jobTemplate": patch}})["spec"]["jobTemplate"]["spec"]):
            first, second = specification["template"]["spec"]["containers"]
            equal((first["name"], first["resources"]), ("rightsize", exporter["resources"]), "the exporter's")
            equal((second["name"], second["image"]), (main["name"], main["image"]), "the container")
            check_resources(second["resources"], wanted, parse_quantity)
            limits = second["resources"]["limits"]
            equal("cpu" in limits, "cores_limit" in wanted, "a limit of CPUs")
            equal("ephemeral-storage" in limits, not wanted["disk"], "a limit of disk")
            equal(limits["example.com/other"], "1", "what is of others")
    return "kubectl patch of a Job, a Deployment and a CronJob"


def read_by_schema(kind, document, *advice):
    """Returns the reader. advice: the path of the advice in the document; every key of the advice must be known."""
    program("node")
    folder = pathlib.Path(sys.argv[2], "node")
    shutil.copy(pathlib.Path(__file__).parent / "models.mjs", folder)
    read = run("node", folder / "models.mjs", input=json.dumps({"kind": kind, "document": document, "advice": advice}))
    equal(read.returncode, 0, read.stderr)
    return read.stdout.strip()


def vpa(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in with_asked(gpu, cpu):
        document = {"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": {"name": "fit"},
                    "spec": {"targetRef": {"apiVersion": "batch/v1", "kind": "Job", "name": "fit"}}, **yaml.safe_load(text)}
        by = read_by_schema("VerticalPodAutoscaler", document, "status")
        container = document["status"]["recommendation"]["containerRecommendations"][0]
        equal(container["containerName"], container_of(wanted), "container")
        equal(float(parse_quantity(container["target"]["cpu"])), wanted["cores"], "cpu")
        equal(int(parse_quantity(container["target"]["memory"])), wanted["memory"], "memory")
        equal(int(parse_quantity(container["upperBound"]["memory"])), wanted.get("memory_limit", wanted["memory"]), "upper bound")
    return by


def template_of(body):
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "metadata": {"name": "fit"},
            "spec": {"templates": [{"name": "fit", **body}]}}


# Keys of a container that the schema requires in addition.
FRAME = {"name": "main", "image": "image"}


def argo(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in with_asked(gpu, cpu):
        body = yaml.safe_load(text)
        body["container"].update(FRAME)
        by = read_by_schema("WorkflowTemplate", template_of(body), "spec", "templates", 0, "container", "resources")
        check_resources(body["container"]["resources"], wanted, parse_quantity)
    return by


def argo_patch(gpu, cpu):
    import yaml
    from kubernetes.utils import parse_quantity
    for text, wanted in with_asked(gpu, cpu):
        body = yaml.safe_load(text)
        by = read_by_schema("WorkflowTemplate", template_of({**body, "container": FRAME}),
                            "spec", "templates", 0, "podSpecPatch")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fit"}, "spec": json.loads(body["podSpecPatch"])}
        container = pod["spec"]["containers"][0]
        equal(container["name"], container_of(wanted), "container")
        resources = container["resources"]
        # null removes a limit. A pod has no null.
        resources["limits"] = {key: value for key, value in resources["limits"].items() if value is not None}
        by += "; " + read_by_schema("Pod", pod, "spec")
        check_resources(resources, wanted, parse_quantity)
    return by


def airflow(gpu, cpu):
    os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp())
    from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator
    from kubernetes import client as k8s
    from kubernetes.utils import parse_quantity
    for text, wanted in with_asked(gpu, cpu):
        config = eval(f"dict({text.strip()})", {"k8s": k8s})["executor_config"]
        pod = PodGenerator.from_obj(config)
        equal(pod.spec.containers[0].name, container_of(wanted, "base"), "container")
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
    for text, wanted in with_asked(gpu, cpu):
        module = imported("from kfp import dsl\n@dsl.component\ndef fit():\n    pass\n"
                          f"@dsl.pipeline\ndef some_pipeline():\n    task = fit()\n    {text}")
        out = tempfile.mkdtemp() + "/out.yaml"
        compiler.Compiler().compile(module.some_pipeline, out)
        spec = list(yaml.safe_load_all(pathlib.Path(out).read_text()))[0]
        resources = spec["deploymentSpec"]["executors"]["exec-fit"]["container"]["resources"]
        equal(float(resources["cpuRequest"]), wanted["cores"], "cpu request")
        equal(abs(float(resources["memoryRequest"]) * 10**9 - wanted["memory"]) < 1e6, True, "memory request")
        equal(resources.get("cpuLimit"), wanted.get("cores_limit"), "cpu limit")
    return version_of("kfp") + ", compiled"


# ---- schedulers and runtimes ----

# Writes its parameters to a file, and fails until the fourth attempt.
RULE = """rule fit:
    output: 'done'
{advice}    shell: 'echo {{threads}} {{resources.mem_mb}} >> given; [ $(wc -l < given) = 4 ] && touch {{output}}'
"""


def snakemake(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        with tempfile.TemporaryDirectory() as place:
            advice = "".join(f"    {line}\n" for line in text.splitlines())
            pathlib.Path(place, "Snakefile").write_text(RULE.format(advice=advice))
            read = run(sys.executable, "-m", "snakemake", "--cores", "8", cwd=place)
            equal(read.returncode, 0, read.stdout + read.stderr)
            given = pathlib.Path(place, "given").read_text().splitlines()
            equal(given, [f"{wanted['cpus']} {-(-memory // 10**6)}" for memory in wanted["attempts"]], "attempts")
    return version_of("snakemake") + ", a rule that fails three times"


def ray(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        options = imported(f"import ray\n{text}def fit():\n    pass\n").fit._default_options
        equal((options["num_cpus"], options["memory"]), (wanted["cores"], wanted["memory"]), "options")
        equal(options.get("num_gpus") or 0, wanted["gpus"], "GPUs")
    options = imported(f"import ray\n{text_of('share')}def fit():\n    pass\n").fit._default_options
    equal(options["num_gpus"], 0.3, "a share of a GPU")
    return version_of("ray")


# Prints the parameters of the driver and of one executor.
SPARK_JOB = """
from pyspark import SparkContext
sc = SparkContext()
executor = sc.parallelize([0], 1).map(lambda x: x).count()
print("heap", sc._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20)
conf = sc._jsc.sc().conf()
for of in ("driver", "executor"):
    print(of, conf.getSizeAsMb(f"spark.{of}.memory", "0"), conf.getSizeAsMb(f"spark.{of}.memoryOverhead", "0"))
"""


def spark_of(text, of, wanted):
    """Spark starts with these settings, and reads heap and overhead as intended."""
    with tempfile.TemporaryDirectory() as place:
        settings, job = pathlib.Path(place, "spark.conf"), pathlib.Path(place, "job.py")
        # A GPU needs a script of the cluster that finds GPUs.
        settings.write_text("".join(line for line in text.splitlines(True) if "gpu" not in line) + "spark.ui.enabled false\n")
        job.write_text(SPARK_JOB)
        submit = pathlib.Path(importlib.util.find_spec("pyspark").origin).parent / "bin" / "spark-submit"
        read = run(submit, "--master", "local[1]", "--properties-file", settings, job)
        equal(read.returncode, 0, read.stderr)
        _, heap, overhead = re.search(rf"^({of}) (\d+) (\d+)$", read.stdout, re.M).groups()
        equal(int(heap) + int(overhead), max(wanted["memory"] // MIB, 896), "heap and overhead")
        if of == "driver":
            equal(int(re.search(r"^heap (\d+)$", read.stdout, re.M)[1]) >= 450, True, "the heap that Spark has")


def spark(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        spark_of(text, "executor", wanted)
    return version_of("pyspark") + ", spark-submit"


def spark_driver(gpu, cpu):
    for text, wanted in ((gpu, GPU), (cpu, CPU)):
        spark_of(text, "driver", wanted)
    return version_of("pyspark") + ", spark-submit"


# ---- clouds ----

def valid_call(service, operation, parameters):
    """The parameters are valid for a call of the AWS API."""
    import botocore.session
    from botocore.validate import ParamValidator
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    report = ParamValidator().validate(parameters, model.input_shape)
    equal(report.has_errors(), False, report.generate_report())


def fargate_complaints(sizes):
    """Returns the findings of cfn-lint about tasks of these sizes (CPU units, MiB)."""
    tasks = {f"T{i}": {"Type": "AWS::ECS::TaskDefinition", "Properties": {
        "RequiresCompatibilities": ["FARGATE"], "NetworkMode": "awsvpc", "Cpu": cpu, "Memory": memory,
        "ContainerDefinitions": [{"Name": "main", "Image": "image"}]}} for i, (cpu, memory) in enumerate(sizes)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as template:
        json.dump({"Resources": tasks}, template)
        template.flush()
        read = run(pathlib.Path(sys.executable).parent / "cfn-lint", template.name)
        return read.stdout + read.stderr if read.returncode else ""


def fargate(gpu, cpu):
    equal(gpu, "", "a task with a GPU")
    tasks = [json.loads(line) for line in [cpu, *text_of("grid").splitlines()]]
    equal(len(tasks) > 100, True, "tasks")
    for task in tasks:
        valid_call("ecs", "RegisterTaskDefinition", {"family": "fit", "containerDefinitions": [], **task})
    equal(fargate_complaints({(task["cpu"], task["memory"]) for task in tasks}), "", "complaints")
    equal("E3047" in fargate_complaints([("256", "4096")]), True, "complaints about a wrong pair")
    return f"{version_of('botocore')} and {version_of('cfn-lint')}, {len(tasks)} tasks"


def job_definition(text):
    found = json.loads(text)
    valid_call("batch", "RegisterJobDefinition", {"jobDefinitionName": "fit", **found})
    return {entry["type"]: entry["value"] for entry in found["containerProperties"]["resourceRequirements"]}


def aws_batch(gpu, cpu):
    equal(job_definition(gpu), {"VCPU": "3", "MEMORY": "3584", "GPU": "1"}, "gpu")
    equal(job_definition(cpu), {"VCPU": "1", "MEMORY": "512"}, "cpu")
    return version_of("botocore")


def aws_batch_fargate(gpu, cpu):
    equal(gpu, "", "a job with a GPU")
    jobs = [job_definition(line) for line in [cpu, *text_of("grid").splitlines()]]
    pairs = {(str(int(float(job["VCPU"]) * 1024)), job["MEMORY"]) for job in jobs}
    equal(fargate_complaints(pairs), "", "complaints")
    return f"{version_of('botocore')} and {version_of('cfn-lint')}, {len(jobs)} jobs"


def gcp_batch(gpu, cpu):
    from google.cloud import batch_v1
    equal(gpu, "", "a job with a GPU")
    jobs = [batch_v1.Job.from_json(line) for line in [cpu, *text_of("grid").splitlines()]]
    for job in jobs:
        need = job.task_groups[0].task_spec.compute_resource
        series, cpus, mib = re.fullmatch(r"(e2|n2)-custom-(\d+)-(\d+)",
                                         job.allocation_policy.instances[0].policy.machine_type).groups()
        equal(int(cpus) * 1000 >= need.cpu_milli and int(mib) >= need.memory_mib, True, f"{series} holds the task")
    return f"{version_of('google-cloud-batch')}, {len(jobs)} jobs"


# ---- schedulers and runtimes ----


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
    """Docker reads its flags before it looks for a daemon or an image."""
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
        equal("--tmp" in gpu, False, "disk that nobody asked for")
        wrong, said = complains(text_of("tmp"))
        equal((wrong, "--tmp=20480M" in text_of("tmp")), (False, True), said)
        equal(complains(cpu.replace("--mem=512M", "--mem=512Q"))[0], True, "complaints about a wrong size")
        equal(complains(cpu.replace("--time=", "--time=x"))[0], True, "complaints about a wrong time")
        return run(name, "--version", env=environment).stdout.strip() + ", sbatch --test-only"


# Two processes write their parameters to files. `fit` exits with the code of its attempt.
PIPELINE = """
process fit {
    script:
    "echo fit ${task.attempt} ${task.cpus} ${task.memory.toBytes()} ${task.time.toMinutes()} " +
    "${task.disk ? task.disk.toBytes() : 0} ${task.accelerator ? task.accelerator.request : 0} " +
    ">>${workflow.launchDir}/given; exit `sed -n ${task.attempt}p ${workflow.launchDir}/codes`"
}
process other {
    script:
    "echo other ${task.cpus} ${task.memory} ${task.time} >>${workflow.launchDir}/given"
}
workflow MAIN { fit(); other() }
workflow { MAIN() }
"""

# A Slurm whose first job of `fit` starts and is lost. It leaves no exit status, as a killed pod does.
SBATCH = """#!/bin/sh
for script; do :; done
echo "Submitted batch job 1"
if [ ! -e "$0.lost" ] && grep -q "name: .*fit" "$script"; then
    : >"$0.lost"
    : >"$(dirname "$script")/.command.begin"
else
    bash "$script" >/dev/null 2>&1 &
fi
"""
LARGE = "executor { cpus = 64; memory = 1.TB }\n"
SLURM = "process.executor = 'slurm'\nexecutor { exitReadTimeout = '2 s'; queueStatInterval = '1 s'; pollInterval = '500 ms' }\n"


def run_pipeline(command, text, codes, executor):
    """Returns the output, and the resources of the processes."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        environment = {**os.environ, "NXF_HOME": folder, "NXF_OFFLINE": "true", "NXF_ANSI_LOG": "false",
                       "PATH": f"{folder}:{os.environ['PATH']}"}
        for name, script in (("sbatch", SBATCH), ("squeue", "#!/bin/sh\n")):
            (place / name).write_text(script)
            (place / name).chmod(0o755)
        (place / "main.nf").write_text(PIPELINE)
        (place / "codes").write_text("".join(f"{code}\n" for code in codes))
        (place / "nextflow.config").write_text(text)
        (place / "large.config").write_text(executor)
        read = run(*command, "run", "main.nf", "-c", "large.config", cwd=place, env=environment)
        return read.returncode, read.stdout + read.stderr, sorted((place / "given").read_text().splitlines())


def nextflow(gpu, cpu):
    """A pipeline runs with it. The machine is declared to be as large as necessary."""
    classes = pathlib.Path(sys.argv[2], "nextflow", "lib").resolve()
    command = ["nextflow"]
    if not shutil.which("nextflow"):
        if not any(classes.glob("nextflow-*.jar")):
            raise NotThere("nextflow")
        command = [program("java"), "-cp", f"{classes}/*", "nextflow.cli.Launcher"]
    for text, wanted, minutes in ((gpu, GPU, 90), (cpu, CPU, 10), (text_of("asked"), ASKED, 10)):
        given = [f"fit {i} {wanted['cpus']} {memory} {i * minutes} {wanted['disk']} {wanted['gpus']}"
                 for i, memory in enumerate(wanted["attempts"], 1)] + ["other 1 null null"]
        equal(run_pipeline(command, text, (104, 137, 175, 0), LARGE)[::2], (0, given), "retries")
        code, said, found = run_pipeline(command, text, (1,), LARGE)
        equal((code, [line for line in found if "fit" in line]), (1, given[:1]), "no retry of an ordinary failure")
    code, said, found = run_pipeline(command, cpu, (1, 0), SLURM)
    equal((code, "for an unknown reason" in said), (0, True), said)
    equal([line for line in found if "fit" in line], [f"fit 2 1 {CPU['attempts'][1]} 20 0 0"], "a task without a status")
    version = run(*command, "-v", env={**os.environ, "NXF_OFFLINE": "true"}).stdout.strip()
    return f"{version}, pipelines whose tasks fail, are killed, and leave no exit status"


CHECKS = {
    "metaflow": metaflow, "metaflow-kubernetes": metaflow_kubernetes, "metaflow-batch": metaflow_batch,
    "kubernetes": kubernetes, "kubernetes-patch": kubernetes_patch, "airflow": airflow, "flyte": flyte,
    "kubeflow": kubeflow, "snakemake": snakemake, "ray": ray, "dask": dask, "docker": docker, "systemd": systemd,
    "spark": spark, "spark-driver": spark_driver, "fargate": fargate, "aws-batch": aws_batch,
    "aws-batch-fargate": aws_batch_fargate, "gcp-batch": gcp_batch, "slurm": slurm, "nextflow": nextflow,
    "vpa": vpa, "argo": argo, "argo-patch": argo_patch,
}


def main():
    name = sys.argv[1]
    try:
        by = CHECKS[name](text_of("gpu"), text_of("cpu"))
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
