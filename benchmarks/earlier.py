"""Self-play training of 5 players on two cores: as an earlier commit did it, and now, without features and with them.

The code of the earlier commit is taken out of git into a folder that is removed afterwards. Every side has a process
of its own, and they take turns.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.report import Metric, alternate, metric_of, ratio_of
from benchmarks.training import training_run
from catbox_train.config import TrainConfig
from catbox_train.memory import keep_freed_memory

ROOT = Path(__file__).resolve().parent.parent
#: The last commit before training had features, an action head and processes: what later speed is compared with.
COMMIT = "016e7fa"
#: Ratio to it that should be reached.
TARGET = 1.5
#: Speed with features and action head, of that without them, that should be reached.
FEATURES_TARGET = 0.75

GAME, NUM_PLAYERS, CORES = "cat_in_the_box_v0", 5, 2
#: For the processes: updates of a run, decisions of a batch.
SIZES, QUICK = ("6", "32768"), ("1", "8192")

#: What the process of the earlier commit runs. It plays 512 games side by side, as now.
EARLIER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch
from benchmarks.ppo import catbox_run, settings

updates, batch_size = map(int, sys.argv[1:])
with ThreadPoolExecutor(2, initializer=partial(torch.set_num_threads, 1)) as pool:
    run = catbox_run(settings("auto", 1024, batch_size), updates, pool)
    for _ in sys.stdin:
        print(run(), flush=True)
"""
#: What the process of the code of now runs.
NOW = "import benchmarks.earlier; benchmarks.earlier.answer()"


def measure(quick: bool) -> list[Metric]:
    """Two hidden layers of 256, two epochs, the default minibatches; without the earlier commit where it is not."""
    size = QUICK if quick else SIZES
    with ExitStack() as closing:
        runs = {}
        folder = closing.enter_context(checked_out(COMMIT))
        if folder:
            runs["earlier"] = closing.enter_context(run_in_process(folder, EARLIER, *size))
        for name in ("alone", "features"):
            runs[name] = closing.enter_context(run_in_process(ROOT, NOW, *size, name))
        alternate(runs, repeats=1)  # compiles, and plays past the first games, which all began together
        results = alternate(runs, repeats=1 if quick else 7)
    setting = "self-play PPO, 5 players, 2 cores"
    names = {
        "earlier": f"{setting}, commit {COMMIT}",
        "alone": f"{setting}, now, the same networks",
        "features": f"{setting}, now, the defaults (features and action head)",
    }
    metrics = [metric_of(names[key], values, "/s") for key, values in results.items()]
    alone, features = results["alone"], results["features"]
    if earlier := results.get("earlier"):
        metrics.append(ratio_of(f"now, the same networks / commit {COMMIT}", alone, earlier, TARGET))
        metrics.append(ratio_of(f"now, the defaults / commit {COMMIT}", features, earlier, TARGET))
    return [*metrics, ratio_of("now, the defaults / the same networks", features, alone, FEATURES_TARGET)]


@contextmanager
def checked_out(commit: str) -> Iterator[Path | None]:
    """A folder with the files of ``commit``, removed at the end; None where git does not give them, which is said."""
    with tempfile.TemporaryDirectory(prefix="catbox-") as folder:
        files = Path(folder) / "files.zip"
        command = ["git", "-C", str(ROOT), "archive", "--format=zip", f"--output={files}", commit]
        try:
            subprocess.run(command, capture_output=True, check=True, text=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            reason = str(getattr(error, "stderr", error)).strip()
            print(
                f"earlier: commit {commit} is not measured: {reason} (it takes git and a full clone)",
                file=sys.stderr,
            )
            yield None
        else:
            shutil.unpack_archive(files, folder)
            yield Path(folder)


@contextmanager
def run_in_process(root: Path, program: str, *arguments: str) -> Iterator[Callable[[], float]]:
    """Runs of ``program``, in a process with the packages in ``root``, which ends with the context.

    The program gives a line with a number, decisions a second, for each line that it reads.
    """
    packages = os.pathsep.join(str(root / folder) for folder in (".", "agents", "train"))
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": packages},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # Ctrl-C is for this process, which ends that one
    ) as process:
        assert process.stdin
        assert process.stdout
        questions, answers = process.stdin, process.stdout

        def run() -> float:
            try:
                questions.write(b"\n")
                return float(answers.readline())
            except (BrokenPipeError, ValueError):
                raise RuntimeError(
                    f"a process with the code in {root} ended early: its error is above"
                ) from None

        try:
            yield run
        finally:
            process.kill()


def answer() -> None:
    """Measure a run for each line of standard input; see ``run_in_process``."""
    keep_freed_memory()  # as `catbox train` does
    updates, batch_size, inputs = sys.argv[1:]
    config = TrainConfig(
        game=GAME,
        game_options={"num_players": NUM_PLAYERS},
        device="cpu",
        workers=CORES,
        batch_size=int(batch_size),
        hidden=(256, 256),
        epochs=2,
        minibatch_size=1024,
        features=inputs == "features",
        action_features=inputs == "features",
    )
    with ExitStack() as closing:
        run = training_run(config.settled(), int(updates), closing)
        for _ in sys.stdin:
            print(run(), flush=True)
