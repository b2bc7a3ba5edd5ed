"""A study can be stopped at any moment; what it records is the same as if it had not been."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray

from catbox_agents import Agent
from catbox_train import memory
from catbox_train.runs.metrics import read_metrics
from experiments.study import read_study, runs_of
from tests.experiments.small_studies import BASE, Workplace, measured


class Stopping(Agent):
    """Plays the first legal action; the first one, while it is ``armed``, sends Ctrl-C."""

    armed = False

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: object = None
    ) -> NDArray[np.int64]:
        if Stopping.armed:
            Stopping.armed = False
            os.kill(os.getpid(), signal.SIGINT)
        return action_masks.argmax(1)


def test_a_study_that_was_stopped_goes_on_to_the_same_results(
    workplace: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the evaluation after update 4 of the first run."""
    base = {**BASE, "eval_opponents": ["random", "tests.experiments.test_runs:Stopping"]}
    workplace.write(base=base)
    unstopped = Workplace(tmp_path / "unstopped", base=base)
    assert unstopped.run() == 0

    monkeypatch.setattr(Stopping, "armed", True)
    assert workplace.run() == 130
    assert "The same command resumes from here." in capsys.readouterr().err
    assert not workplace.file.exists()

    assert workplace.run() == 0
    assert list(map(measured, workplace.lines())) == list(map(measured, unstopped.lines()))
    assert [result.variant for result in workplace.lines()] == ["low", "high"] * 2
    updates = read_metrics(workplace.runs / "small" / "3 players" / "low" / "seed 1")
    assert [row["update"] for row in updates] == list(range(1, len(updates) + 1)), "none was made twice"


def test_a_result_holds_the_settings_the_curve_and_the_matches(workplace: Workplace) -> None:
    workplace.write(base={**BASE, "eval_opponents": ["random", "heuristic"]})
    assert workplace.run() == 0
    low, high, *_ = workplace.lines()
    assert (low.config["ent_coef"], high.config["ent_coef"]) == (0.01, 0.12)
    assert low.config["game_options.num_players"] == 3
    assert low.decisions >= 8 * 512
    assert low.seconds > 0
    evaluated = [decisions for decisions, _, _ in low.curves["heuristic"]]
    assert evaluated == sorted(evaluated)
    assert evaluated[-1] == low.decisions
    agents = [match.agents for match in low.matches]
    assert agents == [("policy", "random"), ("policy", "heuristic"), ("heuristic", "policy")]
    assert all(match.deals == 10 and match.margin_ci95 > 0 for match in low.matches)
    assert "torch" in low.machine


@pytest.mark.slow
def test_a_finished_run_is_not_repeated(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    assert workplace.run() == 0
    assert "0 of 4 runs have results already." in capsys.readouterr().out
    before = workplace.file.read_bytes()
    shutil.rmtree(workplace.runs)
    assert workplace.run() == 0
    assert "4 of 4 runs have results already." in capsys.readouterr().out
    assert workplace.file.read_bytes() == before
    assert not workplace.runs.exists()
    workplace.write(seeds=[1, 2, 3])
    assert workplace.run() == 0
    assert [(result.seed, result.variant) for result in workplace.lines()] == [
        (seed, variant) for seed in (1, 2, 3) for variant in ("low", "high")
    ]


def test_several_processes_share_the_runs(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    """What another process is at is left to it, and what it has made since is not made again."""
    first, second, *_ = runs_of("small", read_study("small", workplace.folders.studies))
    folder = first.folder(workplace.folders.runs)
    folder.parent.mkdir(parents=True)
    with FileLock(f"{folder}.lock"):
        assert workplace.run() == 0
    assert f"Another process trains {first}." in capsys.readouterr().out
    assert workplace.lines()[0].key == second.key
    assert len(workplace.lines()) == 3
    assert workplace.run() == 0
    assert sorted(result.seed for result in workplace.lines()) == [1, 1, 2, 2]


def test_a_run_that_diverges_is_recorded_and_the_study_goes_on(workplace: Workplace) -> None:
    wild = {"learning_rate": 1e9, "learning_rate_end": 1e9}
    workplace.write(variants={"wild": wild, "low": {"ent_coef": 0.01}})
    assert workplace.run() == 0
    first, second, *_ = workplace.lines()
    assert first.diverged.startswith("training diverged in update 1: ")
    assert str(workplace.runs) not in first.diverged
    assert (first.matches, first.decisions) == ([], 0)
    assert second.diverged is None
    assert len(second.matches) == 1


def test_results_and_half_finished_runs_of_other_settings_are_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workplace.run() == 0
    workplace.write(base={**BASE, "clip_coef": 0.2})
    assert workplace.run() == 1
    changed = "was made with other settings than the file has now (clip_coef: 0.15 -> 0.2)"
    assert f"study 'small', 3 players, variant 'low', seed 1 {changed}" in capsys.readouterr().err
    workplace.file.unlink()
    assert workplace.run() == 1
    assert f"{workplace.runs}/small/3 players/low/seed 1 {changed}" in capsys.readouterr().err
    assert not workplace.file.exists()


def test_a_run_that_does_not_fit_into_memory_is_refused_before_any_is_trained(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "memory_left", lambda: 5_000_000)
    workplace.write(variants={"low": {"ent_coef": 0.01}, "wide": {"hidden": [800, 800]}})
    assert workplace.run() == 1
    assert "variant 'wide', seed 1: not enough memory for hidden" in capsys.readouterr().err
    assert not workplace.runs.exists()
