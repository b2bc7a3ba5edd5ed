"""What a run of training keeps and trusts, and how it is stopped: the best policy, opponents of a stranger, signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from catbox_agents.networks.checkpoint import latest_checkpoint, load_checkpoint
from catbox_env import Game
from catbox_train.algorithm import Algorithm, WorkersLost
from catbox_train.config import TrainConfig
from catbox_train.registry import algorithm_class, load_config
from catbox_train.runs import loop, progress, report
from catbox_train.runs.folder import start_run
from catbox_train.runs.loop import Loop, resume, train
from catbox_train.runs.progress import (
    StopRequest,
    TrainingInterrupted,
)
from tests.train.ppo_runs import (
    BRIEF,
    SMALL,
    UPDATE,
    assert_same_end,
    command,
    final_arrays,
    in_update,
    quiet,
    small,
    stop,
)

# The best policy.


def scripted(monkeypatch: pytest.MonkeyPatch, margins: dict[int, tuple[float, float]]) -> None:
    """Evaluations that find the given margins against two opponents, by the number of decisions in batches."""

    def evaluate(*given: Any) -> dict[str, float]:
        names, both = ("random", "heuristic"), margins[given[3] // UPDATE]
        found = {f"evaluation/{name}/margin": margin for name, margin in zip(names, both, strict=True)}
        return found | {f"evaluation/{name}/margin_ci95": 0.1 for name in names}

    monkeypatch.setattr(loop, "evaluate_policy", evaluate)


TWO_OPPONENTS = {
    **BRIEF,
    "evaluate_every": 1,
    "checkpoint_every": 1,
    "eval_opponents": ["random", "heuristic"],
}


def test_the_best_policy_of_the_evaluations_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the mean of the margins; of equal ones the first. A run that is resumed compares with the best so far."""
    run = tmp_path / "run"
    scripted(monkeypatch, {1: (1, 1), 2: (9, -2), 3: (0, 0)})
    stop(small(**TWO_OPPONENTS), run, 3)
    same = load_checkpoint(run / "checkpoints" / "00000002").network.arrays()
    shutil.rmtree(run / "checkpoints" / "00000003")
    scripted(monkeypatch, {3: (9, -9), 4: (3, 4), 5: (2, 2)})
    resume(run, quiet())
    best = load_checkpoint(run / "checkpoints" / "best")
    assert best.training == {"algorithm": "ppo", "update": 2, "decisions": 2 * UPDATE, "margin": 3.5}
    np.testing.assert_equal(dict(best.network.arrays()), dict(same))
    assert [path.name for path in (run / "checkpoints" / "best").iterdir()] == ["policy.safetensors"]
    assert latest_checkpoint(run).name == "00000005"


# Opponents of a stranger.


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module in the working directory that leaves a mark when it is imported; the folder it is in."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "stranger_module.py").write_text(
        "from pathlib import Path\nfrom catbox_agents.agent import RandomAgent as Agent\n"
        "Path(__file__).with_name('imported').touch()\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    import sys

    sys.modules.pop("stranger_module", None)


def lost_at_first(elsewhere: Callable[[], object]) -> Callable[[TrainConfig, Game], Algorithm]:
    """Makes an algorithm, but for the first time: then ``elsewhere`` happens, and workers are lost."""
    losses = [WorkersLost("a machine")]

    def make(config: TrainConfig, game: Game) -> Algorithm:
        if losses:
            elsewhere()
            raise losses.pop()
        return algorithm_class(config.algorithm)(config, game)

    return make


def test_a_run_that_began_elsewhere_while_workers_were_lost_is_not_resumed(
    brief_run: Path, tmp_path: Path
) -> None:
    """The folder is looked at before the algorithm is made, and what appears in it is another's."""
    run, config = tmp_path / "run", small(**BRIEF)
    make = lost_at_first(lambda: shutil.copytree(brief_run, run))
    with pytest.raises(FileExistsError, match="holds a training run already"):
        train(config, run, quiet(), make_algorithm=make)
    assert_same_end(brief_run, run)
    with pytest.raises(FileExistsError, match="holds a training run already"):
        train(config, run, quiet(), make_algorithm=lost_at_first(lambda: pytest.fail("nothing is made")))


def test_a_run_whose_workers_are_lost_before_it_begins_begins_again(brief_run: Path, tmp_path: Path) -> None:
    train(small(**BRIEF), tmp_path / "run", quiet(), make_algorithm=lost_at_first(lambda: None))
    assert_same_end(brief_run, tmp_path / "run")


def test_a_run_of_a_stranger_imports_nothing_unless_trusted(stranger: Path) -> None:
    config = small(
        **{**BRIEF, "total_decisions": UPDATE, "eval_opponents": ["random", "stranger_module:Agent"]}
    )
    start_run(stranger / "run", config)
    code, said = command("train", "--resume", "--output", "run")
    assert code == 2
    assert "stranger_module:Agent" in said
    assert "--trust" in said
    assert "config.yaml" in said
    assert not (stranger / "imported").exists()
    code, said = command("train", "--resume", "--output", "run", "--trust")
    assert code == 0, said
    assert (stranger / "imported").exists()


OWN = "stranger_module:Agent"
#: Each setting that may name classes, with a value that names none.
HARMLESS = {
    "algorithm": "exit",
    "eval_opponents": "random",
    "opponents": {"heuristic": 0.1},
}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("algorithm", OWN),
        ("eval_opponents", [OWN]),
        ("opponents", {OWN: 0.1}),
    ],
)
def test_a_class_that_a_file_names_takes_trust_unless_that_setting_is_typed(
    stranger: Path, setting: str, value: Any
) -> None:
    Path("own.yaml").write_text(json.dumps({"algorithm": "exit", setting: value}))
    others = {name: typed for name, typed in HARMLESS.items() if name != setting}
    with pytest.raises(
        ValueError, match=rf"^own.yaml names code that would run.*{setting}: {OWN}\..*--trust"
    ):
        load_config(file="own.yaml", overrides=others)
    assert not (stranger / "imported").exists()
    assert load_config(file="own.yaml", overrides=HARMLESS).algorithm == "exit"
    if setting != "algorithm":
        assert OWN in sum(load_config(file="own.yaml", overrides=others, trust=True).agents().values(), ())


# Signals and terminals.


def test_ctrl_c_in_the_matches_of_the_end_says_that_all_is_saved_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, run, file = report._match, tmp_path / "run", tmp_path / "settings.yaml"
    file.write_text(json.dumps({**SMALL, **BRIEF, "final_deals": 20}))

    def interrupted(config: object, game: object, line_up: object, num_deals: int, seed: int) -> object:
        if num_deals == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return match(config, game, line_up, num_deals, seed)

    monkeypatch.setattr(report, "_match", interrupted)
    code, said = command("train", "--config", str(file), "--output", str(run))
    assert code == 130
    assert said.startswith("Stopped after 1,920 decisions; everything is saved. Resume with: ")
    assert said.endswith(f"--resume --output {run}\n")
    assert not (run / "results.json").exists()
    code, said = command("train", "--resume", "--output", str(run), "--device", "cpu")
    assert code == 130
    assert said.endswith(f"--resume --output {run} --device cpu\n")
    monkeypatch.setattr(report, "_match", match)
    resume(run, quiet())
    assert json.loads((run / "results.json").read_text())["matches"][0]["deals"] == 20


@pytest.mark.parametrize(
    ("update", "said"), [(2, "there is no checkpoint yet"), (4, "the work since the last checkpoint, ")]
)
def test_a_second_ctrl_c_stops_at_once_and_says_what_counts(
    brief_run: Path, tmp_path: Path, update: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while a checkpoint is written."""
    run, file = tmp_path / "run", tmp_path / "settings.yaml"
    file.write_text(json.dumps({**SMALL, **BRIEF}))

    def twice() -> None:
        monkeypatch.setattr(loop, "save_training", lambda *_: os.kill(os.getpid(), signal.SIGINT))
        os.kill(os.getpid(), signal.SIGINT)

    with in_update(small(), update, twice):
        code, error = command("train", "--config", str(file), "--output", str(run))
    assert code == 130
    assert error.startswith(f"Stopped at once; {said}")
    assert error.count("\n") == 1
    assert f"--resume --output {run}" in error
    monkeypatch.undo()
    resume(run, quiet())
    assert_same_end(brief_run, run)


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_the_first_signal_is_answered_at_once_and_tells_in_the_exit_code_which_it_was(
    tmp_path: Path, number: str, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    run, file = tmp_path / "run", tmp_path / "settings.yaml"
    file.write_text(json.dumps({**SMALL, **BRIEF}))
    with in_update(small(), 3, lambda: os.kill(os.getpid(), getattr(signal, number))):
        ended, said = command("train", "--config", str(file), "--output", str(run))
    assert ended == code
    assert said.startswith("Stopped after ")
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.requested == signal.SIGINT
        assert "Ctrl-C again stops at once" in capfd.readouterr().err


def test_ctrl_c_while_a_run_is_loaded_loses_nothing(
    brief_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with (
        in_update(small(**BRIEF), 3, lambda: os.kill(os.getpid(), signal.SIGINT)),
        pytest.raises(TrainingInterrupted),
    ):
        train(small(**BRIEF), run, quiet())
    kept = latest_checkpoint(run)
    load_latest = Loop.load_latest

    def interrupted(loop: Loop) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        load_latest(loop)

    monkeypatch.setattr(Loop, "load_latest", interrupted)
    with pytest.raises(TrainingInterrupted, match="everything is saved"):
        resume(run, quiet())
    assert latest_checkpoint(run) == kept
    monkeypatch.setattr(Loop, "load_latest", load_latest)
    resume(run, quiet())
    assert_same_end(brief_run, run)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this platform has no SIGHUP")
def test_a_closed_terminal_saves_and_stops(tmp_path: Path) -> None:
    """SIGHUP comes in update 3; from then on nothing can be printed any more."""
    run, config, gone = tmp_path / "run", small(**{**BRIEF, "evaluate_every": 3}), []

    class Terminal(StringIO):
        def write(self, text: str) -> int:
            if gone:
                raise OSError(5, "Input/output error")
            return super().write(text)

    def hang_up() -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        gone.append(True)

    with in_update(config, 3, hang_up), pytest.raises((TrainingInterrupted, OSError)):
        train(config, run, Console(file=Terminal()))
    assert latest_checkpoint(run).name == "00000002"
    assert not (run / "results.json").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this platform has no SIGHUP")
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """A run under nohup goes on when its terminal is closed."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopRequest() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert stop.requested is None
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_without_a_terminal_there_is_no_bar_but_a_line_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is printed are whole lines, also when the run is stopped in the middle."""
    output, config = StringIO(), small(**{**BRIEF, "evaluate_every": 2})
    with (
        in_update(config, 3, lambda: os.kill(os.getpid(), signal.SIGTERM)),
        pytest.raises(TrainingInterrupted),
    ):
        train(config, tmp_path / "run", Console(file=output, width=200))
    first, second, rest = output.getvalue().split("\n")
    assert first.startswith("384 decisions: margin ")
    assert second.startswith("768 decisions: margin ")
    assert rest == ""
    assert output.getvalue().endswith(" among random\n")
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    resume(tmp_path / "run", Console(file=output, width=200))
    assert "\nResuming at 768 of 1,920 decisions\n1,152 of 1,920 decisions, " in output.getvalue()
    assert "━" not in output.getvalue()
    assert "\r" not in output.getvalue()
    assert "\x1b" not in output.getvalue()


def test_a_terminal_that_lacks_a_character_does_not_end_a_run(brief_run: Path, tmp_path: Path) -> None:
    """An evaluation and the table at the end say ±."""
    run, file = tmp_path / "run", open(tmp_path / "said", "w", encoding="ascii")  # noqa: SIM115
    with file:
        train(small(**{**BRIEF, "evaluate_every": 2}), run, Console(file=file))
    assert json.loads((run / "results.json").read_text())["training"]["decisions"] == 5 * UPDATE
    np.testing.assert_equal(final_arrays(run), final_arrays(brief_run))
