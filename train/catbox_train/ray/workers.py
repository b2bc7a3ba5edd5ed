"""The workers of a run on a Ray cluster, as the run sees them."""

from __future__ import annotations

import pickle
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import catbox_env
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_agents.ray_cluster import connected
from catbox_env import Game
from catbox_env.core.checks import check_integer
from catbox_train.algorithm import Algorithm, TrainingState, WorkersLost, algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.ray.channel import Channel
from catbox_train.self_play.algorithm import SelfPlay

#: Most workers of a run.
MAX_WORKERS = 4096
#: How long the run waits for its workers to start, in seconds: for free cores, and new machines.
TIME_TO_BEGIN = 300.0
#: How long the workers may take to end, in seconds.
_TIME_TO_END = 20.0
#: The run ends when workers are lost this many times without an update in between.
MAX_LOSSES = 3
#: How often to check that Ray Train is still running, in seconds.
_INTERVAL = 1.0


class RayWorkers:
    """A context manager: ``count`` processes of Ray Train, in which the workers of a run play and learn, one run at a
    time.

    If a process or a machine is lost, Ray Train restarts all of them, and the run resumes from its last checkpoint.

    Args:
        address: of the cluster; see `catbox_agents.ray_cluster.connected`.
        say: called with a line of text for each event of the workers.

    On entering the context, raises ``ValueError`` if Ray is not installed, ``ConnectionError`` if no cluster answers.
    """

    def __init__(
        self, count: int, address: str | None = None, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self.count = check_integer("workers on Ray", count, 1, MAX_WORKERS)
        self._address, self._say = address, say
        self._generation = self._lost_generation = self._losses = 0
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._gpu = False

    def __enter__(self) -> RayWorkers:
        self._stack = ExitStack()
        with ExitStack() as stack:
            stack.enter_context(connected(self._address, self.count))
            import ray

            here = ray.get_runtime_context().get_node_id()
            kind = ray.remote(Channel).options(num_cpus=0, label_selector={"ray.io/node-id": here})
            self.channel = kind.remote()
            self._folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="catbox-ray-"))
            stack.callback(self._end)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _end(self) -> None:
        import ray

        self.channel.stop.remote()
        if self._thread is not None and self._generation > self._lost_generation:  # else none is listening
            self._thread.join(_TIME_TO_END)
        ray.kill(self.channel)

    def algorithm(self, config: TrainConfig, game: Game) -> OnRay:
        """The algorithm of a run with ``config``, which must have as many workers, once all of them have started.

        Raises ``ValueError`` for another number or device, and for an algorithm that does not learn in several
        processes; ``ChildProcessError`` if they do not start in time or were lost too often.
        """
        if not issubclass(algorithm_class(config.algorithm), SelfPlay):
            raise ValueError(
                f"algorithm = {config.algorithm!r} does not learn in several processes: expected ppo, dmc, exit, or a "
                "subclass of catbox_train.self_play.algorithm.SelfPlay"
            )
        if config.device not in ("cpu", "cuda") or config.num_workers != self.count:
            raise ValueError(
                f"device = {config.device!r}, workers = {config.num_workers}: expected cpu or cuda, and {self.count}, "
                "the number of workers on Ray"
            )
        gpu = config.device == "cuda"
        if self._thread is not None and gpu != self._gpu:
            raise ValueError(
                f"device = {config.device!r}: the workers on Ray were started {'without' if gpu else 'with'} GPUs"
            )
        if self._thread is None:
            self._gpu = gpu
            self._thread = threading.Thread(target=self._train, daemon=True)
            self._thread.start()
        self.facts = self._begun()
        return OnRay(self, config, game)

    def _train(self) -> None:
        """Have Ray Train run the workers until they are told to end."""
        from catbox_train.ray.trainer import fit

        try:
            fit(self.count, self._gpu, self.channel, self._folder)
        except BaseException as error:  # noqa: BLE001  (in another thread; raised when the workers are asked)
            self._error = error

    def _begun(self) -> list[dict[str, Any]]:
        """The facts of the workers' processes, once all have started."""
        import ray

        until, told = time.monotonic() + TIME_TO_BEGIN, time.monotonic() + 60.0
        while True:
            found = ray.get(self.channel.begun.remote(self._lost_generation, _INTERVAL))
            if found is not None:
                self._generation, facts = found
                break
            self.check()
            if time.monotonic() > until:
                raise ChildProcessError(
                    f"the {self.count} workers on Ray did not start within {TIME_TO_BEGIN:g} s: {self._cores()}"
                )
            if time.monotonic() > told:
                self._say(f"Waiting for {self.count} workers on Ray: {self._cores()}")
                told = until
        wrong = {
            fact["machine"]: fact["catbox"] for fact in facts if fact["catbox"] != catbox_env.__version__
        }
        if wrong:
            found = ", ".join(f"{version} on {machine}" for machine, version in wrong.items())
            raise ValueError(
                f"catbox is {catbox_env.__version__} here and {found}: install the same release on all machines"
            )
        return facts

    def _cores(self) -> str:
        """The number of cores, or GPUs, in words."""
        import ray

        key, name = ("GPU", "GPUs") if self._gpu else ("CPU", "cores")
        total, free = ray.cluster_resources().get(key, 0), ray.available_resources().get(key, 0)
        return f"the cluster has {total:g} {name}, of which {free:g} are free"

    def check(self) -> None:
        """Raise ``ChildProcessError`` if Ray Train has ended."""
        if self._thread is not None and not self._thread.is_alive():
            raise ChildProcessError(
                f"the workers on Ray have ended: {self._error or 'Ray Train has stopped'}"
            )

    def ask(self, message: Any) -> Any:
        """The workers' answer to ``message``. Raises ``WorkersLost`` if one of them was lost."""
        import ray

        asked = self.channel.ask.remote(self._generation, pickle.dumps(message))
        while not ray.wait([asked], timeout=_INTERVAL)[0]:
            self.check()
        answer = ray.get(asked)
        if answer is None:
            self._lost_generation = self._generation
            self._losses += 1
            why = ray.get(self.channel.why.remote())
            if self._losses >= MAX_LOSSES:
                raise ChildProcessError(
                    f"workers on Ray were lost {self._losses} times without an update in between: {why}"
                )
            raise WorkersLost(why)
        return pickle.loads(answer)

    def made_progress(self) -> None:
        """An update was made: earlier losses no longer count."""
        self._losses = 0


class OnRay(Algorithm):
    """The algorithm of a run whose ranks are the processes of ``cluster``: it passes on the run's requests."""

    def __init__(self, cluster: RayWorkers, config: TrainConfig, game: Game) -> None:
        super().__init__(config, game)
        self._cluster = cluster
        self._ask("begin", config)

    def _ask(self, name: str, *args: Any) -> list[Any]:
        """The result of a method of every `Host`; raises what it raises."""
        answers = self._cluster.ask((name, args))
        for error, _ in answers:
            if error is not None:
                raise error
        return [result for _, result in answers]

    def update(self, progress: float) -> dict[str, float]:
        metrics: dict[str, float] = self._ask("update", progress)[0]
        self._cluster.made_progress()
        return metrics

    def policy(self) -> PolicyNetwork:
        network: PolicyNetwork = self._ask("policy")[0]
        return network

    def state(self) -> TrainingState:
        first, *others = self._ask("state")
        return TrainingState(
            first.arrays | {k: v for other in others for k, v in other.arrays.items()}, first.values
        )

    def restore(self, state: TrainingState, update: int) -> None:
        self._ask("restore", state, update)
