"""Self-play training: what a run leaves behind, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.figure import Figure

import catbox_agents
from catbox_agents import Result
from catbox_env.core.game import Game
from catbox_train.config import MAX_SEED, TrainConfig
from catbox_train.registry import load_config
from catbox_train.runs import loop, report
from catbox_train.runs.curves import draw_learning_curves, final_finding, finding, panels_of
from catbox_train.runs.loop import resume, train
from catbox_train.runs.metrics import read_metrics
from tests.train.ppo_runs import BRIEF, SMALL, UPDATE, assert_same_end, quiet, small


@pytest.fixture(scope="session")
def finished(finished_run: Callable[[TrainConfig], Path]) -> Path:
    """A run that was never stopped."""
    return finished_run(small())


# What a run leaves behind.


def test_a_run_leaves_metrics_results_picture_and_an_agent(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and picture are written anew, and nothing else, where a finished run is resumed."""
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    (run / "results.json").unlink()
    monkeypatch.setattr(report, "draw_learning_curves", draw_learning_curves)
    resume(run, quiet())
    assert_same_end(finished, run)
    rows = read_metrics(run)
    assert [row["update"] for row in rows] == list(range(1, 9))
    assert rows[0]["learning/learning_rate"] == 1e-3
    assert rows[-1]["learning/learning_rate"] == pytest.approx(5e-5 + (1e-3 - 5e-5) / 8)
    assert rows[-1]["learning/ent_coef"] == pytest.approx(0.002 + (0.06 - 0.002) / 8)
    for name in ("game/score", "game/paradox", "game/bid_hit", "game/bonus", "learning/explained_variance"):
        assert all(name in row for row in rows)
    assert ["evaluation/heuristic/margin" in row for row in rows] == [
        update in (1, 4, 8) for update in range(1, 9)
    ]
    results = json.loads((run / "results.json").read_text())
    assert [[s["name"] for s in match["standings"]] for match in results["matches"]] == [
        ["policy", "random"],
        ["policy", "heuristic"],
        ["heuristic", "policy"],
    ]
    assert results["training"]["decisions"] == 8 * UPDATE
    assert (run / "learning.png").read_bytes().startswith(b"\x89PNG")
    assert list((run / "tensorboard").glob("events*"))
    checkpoints = sorted(path.name for path in (run / "checkpoints").iterdir())
    assert checkpoints == ["00000006", "00000008", "best"]
    game = small().make_game()
    state = game.new_initial_state(seed=1)
    agent = catbox_agents.make(str(run), game)
    assert agent.act(state.observation(0), state.action_mask()) in state.legal_actions()


# Stopping and going on.


def test_other_settings_on_resume_are_refused(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    file = run / "config.yaml"
    file.write_text(file.read_text().replace("clip_coef: 0.15", "clip_coef: 0.3"))
    with pytest.raises(ValueError, match=r"clip_coef: 0\.15 -> 0\.3.*restore them"):
        resume(run, quiet())


def test_the_end_is_saved_before_it_is_evaluated(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the last evaluation loses nothing that was learned."""
    run, evaluate = tmp_path / "run", loop.evaluate_policy

    def failing(*given: Any) -> dict[str, float]:
        if given[3] == 8 * UPDATE:
            raise OSError("evaluation failed")
        return evaluate(*given)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "evaluate_policy", failing)
        with pytest.raises(OSError, match="evaluation failed"):
            train(small(), run, quiet())
    resume(run, quiet())
    assert_same_end(finished, run)


# What is refused before anything is written.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "cat_in_the_bag_v0"}, "unknown game"),
        ({"game_options": {"players": 3}}, "unknown option 'players'"),
        ({"eval_opponents": ["grandmaster"]}, "unknown agent 'grandmaster'"),
        ({"hidden": [2_000_000, 2_000_000]}, "not enough memory for .*hidden = .*make one of them smaller"),
        ({"games_per_update": 2**50}, "not enough memory for .*games_per_update = 1125899906842624"),
        ({"games_per_update": 2**59}, "not enough memory"),
        (
            {"algorithm": "tests.train.agents_in_training:OneProcess", "workers": 2},
            "workers = 2: .*learns in one process",
        ),
    ],
)
def test_impossible_runs_are_refused_before_anything_is_written(
    tmp_path: Path, settings: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(load_config(overrides={**SMALL, **settings}), tmp_path / "run", quiet())
    assert list(tmp_path.iterdir()) == []


def test_the_picture_shows_strength_and_shares_and_leaves_out_what_never_changes() -> None:
    rows = [
        {"decisions": n, "game/place": n / 6, "game/tricks_won": n / 10, "game/win": 0.5, "learning/rate": n}
        for n in (1, 2, 3)
    ]
    rows[1] |= {"evaluation/random/margin": 1.0, "evaluation/random/margin_ci95": 0.1}
    assert panels_of(rows, ("place", "missing", "win")) == [
        ("Strength: margin of one policy", ("evaluation/random/margin",)),
        ("In self-play", ("game/place",)),
    ]
    assert panels_of([]) == []


def test_lines_have_their_names_at_their_ends_and_shares_are_percentages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure", lambda **settings: drawn.append(Figure(**settings)) or drawn[-1]
    )
    rows = [
        {"decisions": n * 10**6, "game/bid_hit": 0.1 * n, "game/paradox": 0.101 * n}
        | {"evaluation/random/margin": -n, "evaluation/random/margin_ci95": 0.1}
        | {"speed/decisions_per_second": 10**6 / n}
        for n in (1, 2, 3)
    ]
    draw_learning_curves(rows, tmp_path / "learning.png", "a run", ("bid_hit", "paradox"))
    strength, shares = drawn[0].axes
    assert [text.get_text() for text in strength.texts] == ["among random agents"]
    assert [text.get_text() for text in drawn[0].texts] == [
        "After 3 million decisions: \u22123.00\u00a0±\u00a00.10 points among random agents", "a run",
        "3 million decisions in 6 s (500,000 a second)",
    ]  # fmt: skip
    final = final_finding(1000, "heuristic", -1, 0.1)
    assert final == "On 1,000 deals at the end: \u22121.00\u00a0±\u00a00.10 points among heuristics"
    draw_learning_curves(rows, tmp_path / "learning.png", "a run", final=final)
    assert " ".join(text.get_text() for text in drawn[1].texts).startswith(final)
    sides = {text.get_text(): text.get_va() for text in shares.texts}
    assert sides == {"bid hit": "top", "paradox": "bottom"}, "below and above, so that both can be read"
    assert shares.yaxis.get_major_formatter()(0.2, 0) == "20 %"
    assert shares.get_xlim() == (0, 3)
    for axes, label in ((strength, "points per game, 95 % interval"), (shares, "share of rounds")):
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("decisions (millions)", label)


def test_without_evaluations_there_is_no_finding() -> None:
    assert finding([{"decisions": 10, "game/score": 1.0}]) == ""
    row = {"decisions": 512, "evaluation/easy/margin": 0.123, "evaluation/easy/margin_ci95": 0.1}
    assert finding([row]) == "After 512 decisions: +0.12\u00a0±\u00a00.10 points among easy"


def test_a_metric_may_have_any_name(tmp_path: Path) -> None:
    """Of a game or an agent of one's own: no name is read as a formula."""
    names = ("$x^$", "a_b", r"\frac{")
    rows = [{"decisions": n, **{f"game/{name}": n for name in names}} for n in (1, 2)]
    rows[1] |= {"evaluation/bots/$^$/margin": 1.0, "evaluation/bots/$^$/margin_ci95": 0.1}
    draw_learning_curves(rows, tmp_path / "learning.png", "a run of $1", names)
    assert (tmp_path / "learning.png").read_bytes().startswith(b"\x89PNG")


def test_no_deal_of_an_evaluation_is_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def evaluate(game: Game, agents: Any, num_deals: int, seed: int, names: Any) -> Result:
        seeds.append(seed)
        return catbox_agents.evaluate(game, agents, num_deals, seed, names)

    monkeypatch.setattr(report, "catbox_agents", SimpleNamespace(evaluate=evaluate))
    train(small(**{**BRIEF, "evaluate_every": 2}), tmp_path / "run", quiet())
    assert len(set(seeds)) == 2, "one for the evaluations on the way, one for the end"
    assert min(seeds) > MAX_SEED, "the seed of a run is no larger, and all that it plays follows from it"
