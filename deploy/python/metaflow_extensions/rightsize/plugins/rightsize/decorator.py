"""@rightsize: watches the tasks of a step, gives each a card and an artifact, and sizes the step if wanted."""
import functools
import json
import os
import sys
import time
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

from metaflow import flowspec
from metaflow.decorators import StepDecorator
from metaflow.metadata_provider import MetaDatum
from metaflow.mflog import RUNTIME_LOG_SOURCE
from metaflow.plugins.environment_decorator import EnvironmentDecorator
from metaflow.unbounded_foreach import UBF_CONTROL
from rightsize_exporter import Watch, _program
from rightsize_exporter.advice import is_out_of_memory

from . import argo, artifact, plan, pods, runs, sizes
from .card import Card, LiveCard, card_uuid, plain_page, with_lines

DATA = "resource_tracker_data"
SETTLE_SECONDS = 2.0
# A server that finds the steps of flows by itself begins no second run of such a task. Processes below the task count.
CLAIM = {"RIGHTSIZE_HELPER": "1"}
# Words in the error of an attempt that was killed in a pod or a job of AWS Batch. With local metadata, Metaflow cannot read those of
# a killed pod. It then reports this as the error, and only the exit code is left of the kill.
KILLED = (b"OOMKilled", b"OutOfMemory", b"out of memory", b"exit code 137")


def harmless(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook whose errors are told and change nothing: a step never fails since it is watched."""
    @functools.wraps(hook)
    def called(self: "RightsizeDecorator", *args: Any, **kwargs: Any) -> Any:
        try:
            return hook(self, *args, **kwargs)
        except Exception as error:  # pylint: disable=broad-except
            self.say(f"{hook.__name__}: {type(error).__name__}: {error}")
            return None
    return called


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes")


class RightsizeDecorator(StepDecorator):
    """
    Watches the tasks of this step: a card, an artifact, and requests that tune themselves.

    Parameters
    ----------
    tune : bool, default False
        Sets cpu and memory of @resources, @kubernetes and @batch to what earlier runs needed, where this is safe.
        Decided once, when the run or the deployment is made. After a kill for memory, the next attempt gets more.
    min_memory, max_memory : int, optional
        Bounds of the memory that tune sets, in MB.
    min_cpu, max_cpu : float, optional
        Bounds of the CPUs that tune sets.
    live : float, default 5
        Seconds between two updates of the card while the task runs; 0 makes the card at the end only.
    runs : int, default 5
        How many of the last runs are read from the metadata, besides the history of this machine.
    artifact : str, default "rightsize"
        Name of the artifact; "" keeps none.
    resource_tracker_data : bool, default False
        Keeps the artifact of resource-tracker as well.
    """

    name = "rightsize"
    is_rightsize = True
    defaults = {"tune": False, "min_memory": None, "max_memory": None, "min_cpu": None, "max_cpu": None, "live": 5,
                "runs": 5, "artifact": "rightsize", DATA: False}

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._logger: Any = None
        self._flow: Any = None
        self._flow_datastore: Any = None
        self._step = self._run_id = ""
        self._launched: Dict[Tuple[str, int], Dict[str, Any]] = {}  # the request of a task's attempt
        self._kills: Dict[Tuple[str, int], bool] = {}  # if memory ended an attempt of which no exporter knows
        self._watch: Optional[Watch] = None
        self._card: Optional[Card] = None
        self._live: Optional[LiveCard] = None
        self._part: Dict[str, Any] = {}
        self._trouble: Optional[str] = None
        self._outcome, self._began = "failed", time.time()
        self._is_remote = False
        self._attempt = 1
        self._metadata: Any = None

    # ---- the arguments; --with gives them as text ----

    @property
    def tune(self) -> bool:
        """True if requests are set."""
        return _is_true(self.attributes["tune"])

    @property
    def runs(self) -> int:
        """How many of the last runs are read."""
        return int(self.attributes["runs"])

    @property
    def bounds(self) -> sizes.Bounds:
        """The bounds of a request."""
        given = [self.attributes[name] for name in sizes.Bounds._fields]
        return sizes.Bounds(*(None if value is None else float(value) for value in given))

    def say(self, text: str) -> None:
        """Tells people something."""
        if self._logger:
            self._logger(f"[@{self.name}] {text}", timestamp=False, bad=True)

    # ---- where the flow is started ----

    def step_init(self, flow: Any, graph: Any, step_name: str, decorators: Any, environment: Any, flow_datastore: Any,
                  logger: Any) -> None:
        """Keeps what later hooks need."""
        self._flow, self._step, self._flow_datastore, self._logger = flow, step_name, flow_datastore, logger
        # With local metadata, @kubernetes and @batch send them from the pod at the end of the task. Metadata that are registered
        # later are lost, so the hooks of this decorator come first.
        decorators.remove(self)
        decorators.insert(0, self)
        # Tasks of a foreach have different ones, which merge_artifacts would refuse.
        internal = getattr(flowspec, "INTERNAL_ARTIFACTS_SET", None)
        if internal is not None:
            internal.update({self.attributes["artifact"] or DATA, DATA})
        _claim_remote_tasks(decorators, plan.job_name(flow.name, step_name))

    def package_init(self, flow: Any, step_name: str, environment: Any) -> None:
        """Does what needs @kubernetes, which a deployment may have added after step_init."""
        self._size(flow)
        self._grow()
        _claim_remote_tasks(getattr(flow, step_name).decorators, plan.job_name(flow.name, step_name))

    def runtime_init(self, flow: Any, graph: Any, package: Any, run_id: str) -> None:
        """Sets the request."""
        self._run_id = run_id
        self._size(flow)

    @harmless
    def _grow(self) -> None:
        if self.tune and "metaflow.plugins.argo.argo_workflows" in sys.modules:  # this process makes a deployment
            argo.grow()

    @harmless
    def _size(self, flow: Any) -> None:
        self._part = plan.of_flow(flow)["steps"].get(self._step, {})
        size = plan.size_of_attempt(self._part, 0)
        if size is not None:
            sizes.apply(getattr(flow, self._step).decorators, size)

    def add_to_package(self) -> Generator[Tuple[str, str], None, None]:
        """The program and the plan go with the code to other machines. The module goes by itself."""
        try:
            yield _program.path(), "rightsize_exporter/bin/rightsize-exporter"
            yield _plan_file(self._flow), f"rightsize_exporter/{plan.FILE}"
        except Exception as error:  # pylint: disable=broad-except
            self.say(f"remote tasks are not watched: {error}")

    @harmless
    def runtime_step_cli(self, cli_args: Any, retry_count: int, max_user_code_retries: int, ubf_context: Any) -> None:
        """Gives the task its part of the plan, and more memory after each kill for memory."""
        task_id = str(cli_args.task.task_id)
        kills = sum(self._was_out_of_memory(task_id, attempt) for attempt in range(retry_count))
        self._finish_killed(retry_count, task_id)
        part = {**self._part, "job_name": plan.job_name(self._flow.name, self._step)}
        size = plan.size_of_attempt(part, kills)
        if size is not None:
            sizes.apply(getattr(self._flow, self._step).decorators, size)
            carrier = sizes.carrier(getattr(self._flow, self._step).decorators)
            for key in ("cpu", "memory"):
                if carrier is not None and key in cli_args.command_options:
                    cli_args.command_options[key] = carrier.attributes[key]
            part["applied"] = sizes.as_dict(size)
            if kills:
                part["why"] = f"{part['why']} Attempt {retry_count + 1}, after {kills} of them ran out of memory: {sizes.words(size)}."
        if retry_count <= max_user_code_retries:
            self._launched[task_id, retry_count] = part.get("applied") or part.get("requested") or {}
        cli_args.env.update(_environment(part))
        if ubf_context != UBF_CONTROL:
            cli_args.env.update(CLAIM)

    def _runs_of(self) -> List[Dict[str, Any]]:
        """The runs that any exporter knows: the central one has those of this machine a moment later, and those of pods alone."""
        found: Dict[str, Dict[str, Any]] = {}
        for source in sizes.exporters():
            answer = sizes.ask([source], "/runs", job_name=plan.job_name(self._flow.name, self._step), limit=1000)
            for run in json.loads(answer)["runs"] if answer else []:
                if found.get(run["run_id"], {"outcome": "running"})["outcome"] == "running":
                    found[run["run_id"]] = run
        return list(found.values())

    def _run_of(self, task_id: str, attempt: int) -> Optional[Dict[str, Any]]:
        """The run of an attempt, waiting a moment until it has ended: the exporter looks once in a second."""
        until = time.monotonic() + SETTLE_SECONDS
        while True:
            run = next((run for run in self._runs_of() if _is_of(run, self._run_id, task_id, attempt)), None)
            if run is None or run["outcome"] != "running" or time.monotonic() > until:
                return run
            time.sleep(0.1)

    def _was_out_of_memory(self, task_id: str, attempt: int) -> bool:
        run = self._run_of(task_id, attempt)
        if run is not None:
            return is_out_of_memory(run)
        try:
            store = self._flow_datastore.get_task_datastore(self._run_id, self._step, task_id, attempt=attempt,
                                                            mode="r", allow_not_done=True)
            # The task's own logs are not read: what it writes about memory may be that of a GPU.
            logs = b"".join(text for stream in ("stdout", "stderr")
                            for _, text in store.load_logs([RUNTIME_LOG_SOURCE], stream, attempt_override=attempt))
        except Exception:  # pylint: disable=broad-except
            return False
        if not any(word in logs for word in KILLED):
            return False
        if (task_id, attempt) not in self._kills:
            # Without an answer, the logs alone are known.
            self._kills[task_id, attempt] = self._tell_killed(task_id, attempt, logs) is not False
        return self._kills[task_id, attempt]

    @harmless
    def _tell_killed(self, task_id: str, attempt: int, logs: bytes) -> Optional[bool]:
        """Records the run of a pod that was killed for memory, and makes its last card.

        False: the pod was ended for another reason; None: nothing more is known of it.
        """
        carrier = sizes.carrier(getattr(self._flow, self._step).decorators)
        pod = pods.read(logs, carrier.attributes.get("namespace")) if carrier and carrier.name == "kubernetes" else None
        kill = pod and pods.kill_of(pod, self._step)
        if kill is None:
            return False if pod and pods.was_taken_away(pod) else None
        pathspec = f"{self._flow.name}/{self._run_id}/{self._step}/{task_id}"
        labels = {"flow": self._flow.name, "step": self._step, "run": self._run_id, "task": task_id}
        told = runs.killed(plan.job_name(self._flow.name, self._step), card_uuid(pathspec, attempt), attempt + 1, labels,
                           self._launched.get((task_id, attempt), {}), kill)
        for source in sizes.exporters():  # a central one may take no runs
            plan.tell(source, [told])
        limit = kill["memory_limit_bytes"]
        card = Card(self._flow_datastore, pathspec, attempt)
        line = "The pod was killed, as it ran out of memory" + (f" at its limit of {limit / sizes.MB:.0f} MB." if limit else ".")
        card.save(with_lines(card.stored() or plain_page("rightsize", []), "Metaflow", [line]), final=True)
        return True

    @harmless
    def _finish_killed(self, below: int, of_task: Optional[str] = None) -> None:
        """Makes the last card of attempts that were killed: they could not do it themselves."""
        over = [(task_id, attempt) for task_id, attempt in self._launched
                if of_task in (None, task_id) and attempt < below]
        try:
            self._save_last_cards(over, is_end=of_task is None)
        finally:
            for launched in over:  # which is tried once
                del self._launched[launched]

    def _save_last_cards(self, over: List[Tuple[str, int]], is_end: bool) -> None:
        if not over:
            return
        known = {(labels["task"], run["attempt"] - 1): run for run in self._runs_of()
                 for labels in [run.get("labels") or {}] if labels.get("run") == self._run_id and "task" in labels}
        until = time.monotonic() + runs.READ_SECONDS
        for task_id, attempt in reversed(over):
            run = known.get((task_id, attempt))
            if run is None and is_end and time.monotonic() < until:
                self._was_out_of_memory(task_id, attempt)  # which records it
            if run is not None and run["outcome"] == "running":
                run = self._run_of(task_id, attempt)
            if run is None or run["outcome"] == "running" or not run.get("exit_signal"):
                continue
            pathspec = f"{self._flow.name}/{self._run_id}/{self._step}/{task_id}"
            page = sizes.ask(reversed(sizes.exporters()), "/report", run=run["run_id"])
            if page is not None:
                Card(self._flow_datastore, pathspec, attempt).save(self._with_plan(page.decode()), final=True)

    @harmless
    def runtime_finished(self, exception: Any) -> None:
        """Makes the last cards of tasks that were killed."""
        if exception is not None:
            self._finish_killed(runs.ATTEMPTS)

    # ---- in the task ----

    def _with_plan(self, page: str) -> str:
        """The page with what was done to the request."""
        return with_lines(page, "Metaflow", [line for line in (self._part.get("why"),) if line])

    def _page(self) -> Optional[str]:
        return self._with_plan(self._watch.report_html()) if self._watch else None

    @harmless
    def task_pre_step(self, step_name: str, task_datastore: Any, metadata: Any, run_id: str, task_id: str, flow: Any,
                      graph: Any, retry_count: int, max_user_code_retries: int, ubf_context: Any, inputs: Any) -> None:
        """Begins the run and the card."""
        if retry_count > max_user_code_retries:
            return  # @catch goes on without the code of the step
        known = plan.of_task(flow.name, step_name)
        self._part, self._is_remote, self._metadata = known["step"], known["is_remote"], metadata
        self._attempt, self._began = retry_count + 1, time.time()
        if known.get("url"):
            os.environ.setdefault("RIGHTSIZE_URL", known["url"])
        if ubf_context == UBF_CONTROL and not self._is_remote:
            # The other nodes of @parallel are below this process here, and have runs of their own.
            os.environ.update(CLAIM)
        self._card = Card(self._flow_datastore, f"{flow.name}/{run_id}/{step_name}/{task_id}", retry_count)
        request = sizes.of_dict(self._part.get("applied")) or sizes.of_dict(self._part.get("requested")) or sizes.Size(None, None)
        watch = Watch(plan.job_name(flow.name, step_name), from_now=False, cpu=request.cpu,
                      memory=request.memory and int(request.memory), attempt=self._attempt, system="metaflow",
                      labels={"flow": flow.name, "step": step_name, "run": str(run_id), "task": str(task_id)})
        try:
            self._watch = watch.begin(strict=True)
        except Exception as error:  # pylint: disable=broad-except
            self._trouble = f"The step was not watched: {error}"
            self.say(self._trouble)
            return
        plan.tell(watch.exporter, known["messages"])
        self._register(run_id, task_id, self._card.uuid, "card-info", self._card.info())
        if float(self.attributes["live"]) > 0:
            self._live = LiveCard(self._card, self._page, float(self.attributes["live"]))
            self._live.start()

    def _register(self, run_id: str, task_id: str, field: str, kind: str, value: Any) -> None:
        self._metadata.register_metadata(run_id, self._step, task_id, [
            MetaDatum(field=field, value=json.dumps(value), type=kind, tags=[f"attempt_id:{self._attempt - 1}"])])

    @harmless
    def task_post_step(self, step_name: str, flow: Any, graph: Any, retry_count: int, max_user_code_retries: int) -> None:
        """Keeps the artifacts of a step that went well."""
        self._keep(flow, "succeeded")

    @harmless
    def task_exception(self, exception: BaseException, step_name: str, flow: Any, graph: Any, retry_count: int,
                       max_user_code_retries: int) -> None:
        """Keeps the artifacts of a step that failed."""
        is_memory = isinstance(exception, MemoryError)
        is_time = type(exception).__name__ == "TimeoutException"
        self._keep(flow, "oom_killed" if is_memory else "DeadlineExceeded" if is_time else "failed")

    def _keep(self, flow: Any, outcome: str) -> None:
        if self._watch is None:
            return
        self._outcome = outcome
        if self.attributes["artifact"]:
            setattr(flow, self.attributes["artifact"], artifact.small(self._watch, outcome, self._attempt, self._part))
        if _is_true(self.attributes[DATA]):
            setattr(flow, DATA, artifact.resource_tracker_data(self._watch, self._began, outcome != "succeeded", self.runs))

    @harmless
    def task_finished(self, step_name: str, flow: Any, graph: Any, is_task_ok: bool, retry_count: int,
                      max_user_code_retries: int) -> None:
        """Ends the run when the artifacts are stored, which takes memory as well; keeps the run and the last card."""
        if self._live is not None:
            self._live.end()
        if self._watch is None:
            if self._card is not None and self._trouble:
                self._card.save(plain_page("rightsize", [self._trouble]), final=True)
            return
        watch, self._watch = self._watch, None
        watch.end(self._outcome)
        record = watch.settle(SETTLE_SECONDS)
        if record is not None and record["outcome"] != "running":
            told = runs.message(watch.job_name, record, list(watch.samples()))
            from metaflow import current
            self._register(current.run_id, current.task_id, runs.FIELD, runs.FIELD, told)
        if self._card is not None:
            self._card.save(self._with_plan(watch.report_html()), final=True)
        if self._is_remote:
            watch.hand_over()


def _claim_remote_tasks(decorators: List[Any], job_name: str) -> None:
    """Puts CLAIM into the environment of pods: the exporter of a node would record their tasks once more."""
    carrier = sizes.carrier(decorators)
    if carrier is None or carrier.name not in sizes.COMPUTE:
        return
    if not any(deco.name == EnvironmentDecorator.name for deco in decorators):
        decorators.append(EnvironmentDecorator())
    # Metaflow sets this variable only for steps without @environment. The monitor of spot machines needs it.
    added = {**CLAIM, "METAFLOW_FLOW_FILENAME": os.path.basename(sys.argv[0])}
    part = plan.given(job_name)
    if part is not None:  # this process starts the pod of an attempt
        added[plan.VARIABLE] = part
    for deco in decorators:
        if deco.name == EnvironmentDecorator.name:
            deco.attributes["vars"] = {**added, **deco.attributes["vars"]}  # all steps share the default


def _environment(part: Dict[str, Any]) -> Dict[str, str]:
    """Variables for a local task: its part of the plan, and its request in the variables that all jobs have for it."""
    size = sizes.of_dict(part.get("applied") or part.get("requested")) or sizes.Size(None, None)
    known = {"RIGHTSIZE_REQUEST_CPU": size.cpu, "RIGHTSIZE_REQUEST_MEMORY": size.memory and int(size.memory)}
    return {plan.VARIABLE: json.dumps(part), **{name: f"{value}" for name, value in known.items() if value}}


def _is_of(run: Dict[str, Any], run_id: str, task_id: str, attempt: int) -> bool:
    labels = run.get("labels") or {}
    return bool(labels.get("run") == run_id and labels.get("task") == task_id and run.get("attempt") == attempt + 1)


@functools.lru_cache(maxsize=None)
def _plan_file(flow: Any) -> str:
    return plan.file_of(flow)


class TrackResourcesDecorator(RightsizeDecorator):
    """
    @rightsize under the name of resource-tracker, with its artifact resource_tracker_data.

    Parameters are those of @rightsize.
    """

    name = "track_resources"
    defaults = {**RightsizeDecorator.defaults, DATA: True}
