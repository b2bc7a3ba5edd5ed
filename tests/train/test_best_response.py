"""Learners among frozen copies of an agent: what they gain, from where they begin, how they go on, and bad input."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import DEAL_SETS
from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_train import best_responses
from catbox_train.best_responses import FINE_TUNING, RESULT_FILE, Gain, best_response
from catbox_train.config import TrainConfig
from catbox_train.registry import load_config
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import train
from tests.agents.arena_agents import Raising, spec
from tests.train.ppo_runs import BRIEF, SMALL, command, quiet, small

DEALS = 20
#: The weights stay as they are.
NO_STEPS = {"learning_rate": 1e-12, "learning_rate_end": 0}
#: A brief run, as it is typed.
TYPED = [
    f"--set={name}={value}"
    for name, value in {**SMALL, **BRIEF}.items()
    if not isinstance(value, dict | list)
]


def find(
    output: Path, target: str = "random", seeds: tuple[int, ...] = (1,), **settings: Any
) -> dict[str, Any]:
    config = small(**{**BRIEF, **settings})
    return best_response(target, config, output, seeds=seeds, deals=DEALS, console=quiet())


def test_the_gain_is_that_of_the_learner_over_the_target_in_the_same_seats(tmp_path: Path) -> None:
    result = find(tmp_path, seeds=(1, 2))
    assert json.loads((tmp_path / RESULT_FILE).read_text()) == result
    assert [run["seed"] for run in result["runs"]] == [1, 2]
    gain = result["gain"]
    assert gain in result["runs"]
    game = small().make_game()
    own, learner = (
        catbox_agents.evaluate(game, [agent, "random"], DEALS, seed=DEAL_SETS["report"], names=["a", "b"])
        for agent in ("random", gain["checkpoint"])
    )
    differences = learner.deal_scores[:, 0].astype(float) - own.deal_scores[:, 0]
    assert gain["score"] == pytest.approx(differences.mean())
    assert gain["score_ci95"] == pytest.approx(2.093 * differences.std(ddof=1) / np.sqrt(DEALS), rel=1e-3)
    assert gain["margin"] == pytest.approx(learner["a"].margin - own["a"].margin, abs=1e-5)
    assert result["target_score"] == pytest.approx(own["a"].score)
    assert result["catbox"] == catbox_env.__version__
    assert datetime.fromisoformat(result["date"]).tzinfo is not None
    config: Any = open_run(tmp_path / "seed-2")
    assert (config.seed, config.eval_opponents) == (2, ("random",))
    assert (config.opponents, config.learner_seats) == ({"random": 1.0}, 1)
    trained = load_checkpoint(gain["checkpoint"]).training["decisions"]
    assert gain["decisions"] == trained > 0


@pytest.mark.parametrize(
    ("reward", "judged_by"), [("score", "score"), ("margin", "margin"), ("win", "margin")]
)
def test_learners_are_judged_by_what_they_are_trained_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reward: str, judged_by: str
) -> None:
    """With made-up gains: the first learner scores more, the second has the larger margin."""

    def gain(game: Any, policy: Path, target: str, deals: int, seed: int, deal_set: str, own: Any) -> Gain:
        return Gain(
            seed, str(policy), 1, deals, *((0.2, 0.1, -0.3, 0.1) if seed == 1 else (-0.2, 0.1, 0.3, 0.1))
        )

    monkeypatch.setattr(best_responses, "_gain", gain)
    game_options = {**SMALL["game_options"], "reward": reward}
    result = find(tmp_path, seeds=(1, 2), game_options=game_options)
    assert (result["judged_by"], result["gain"]["seed"]) == (judged_by, 1 if judged_by == "score" else 2)


def test_an_error_of_the_target_is_under_its_name(tmp_path: Path) -> None:
    with pytest.raises(catbox_agents.AgentError, match=r"agent 'tests\.agents\.arena_agents:Raising' raised"):
        find(tmp_path, spec(Raising))


def test_a_learner_begins_as_the_policy_that_it_plays_against(tmp_path: Path) -> None:
    target = tmp_path / "target"
    train(small(**{**BRIEF, "hidden": [24], "features": False, "activation": "tanh"}), target, quiet())
    result = find(tmp_path / "out", str(target), **NO_STEPS)
    assert result["gain"]["score"] == 0, "it has not learned anything yet"
    options: Any = open_run(tmp_path / "out" / "seed-1")
    assert (options.hidden, options.features, options.activation) == ((24,), False, "tanh")

    best_response(
        *(str(target), small(**BRIEF), tmp_path / "new"), seeds=(1,), deals=DEALS, from_scratch=True, console=quiet()
    )  # fmt: skip
    options = open_run(tmp_path / "new" / "seed-1")
    assert (options.start_from, options.hidden) == ("", (16,))


def test_a_learner_begins_as_the_agent_of_the_zoo(tmp_path: Path) -> None:
    zoo = "zoo:cat_in_the_box-3p"
    result = find(tmp_path, zoo, game_options={"num_players": 3}, **NO_STEPS)
    assert result["gain"]["score"] == 0, "it has not learned anything yet"
    options: Any = open_run(tmp_path / "seed-1")
    assert (options.start_from, options.hidden, options.features) == (zoo, (256, 256), True)


def test_a_learner_among_agents_for_more_bids_starts_from_scratch(tmp_path: Path) -> None:
    """Their network is adapted to these rules; the learner's is made for them."""
    zoo, rules = "zoo:cat_in_the_box-3p", {"num_players": 3, "bids": [1, 3]}
    find(tmp_path, zoo, game_options=rules, **NO_STEPS)
    options: Any = open_run(tmp_path / "seed-1")
    assert options.start_from == ""


@pytest.mark.parametrize("setting", ["seed=4", "learner_seats=2", "opponents={random: 1.0}"])
def test_settings_that_are_not_the_users_are_refused(setting: str, tmp_path: Path) -> None:
    code, errors = command(
        "best-response", "--target", "random", f"--set={setting}", "--output", str(tmp_path / "out")
    )
    assert code == 2
    assert f"--set {setting.partition('=')[0]}: best-response sets this itself" in errors
    assert not (tmp_path / "out").exists()


def test_the_command_learns_with_small_steps_where_it_begins_with_trained_weights(tmp_path: Path) -> None:
    def settings_of(name: str, *more: str) -> tuple[float, float, float]:
        target = ("--target", "zoo:cat_in_the_box-3p", "--players=3", "--seeds=1", "--deals=10")
        code, errors = command("best-response", *target, *TYPED, *more, "--output", str(tmp_path / name))
        assert (code, errors) == (0, "")
        options: Any = open_run(tmp_path / name / "seed-1")
        return options.learning_rate, options.learning_rate_end, options.ent_coef

    small_steps = tuple(FINE_TUNING.values())
    assert settings_of("small") == small_steps
    assert settings_of("given", "--set=learning_rate=0.0003") == (0.0003, *small_steps[1:])
    preset: Any = load_config("quick")
    assert settings_of("scratch", "--from-scratch")[0] == preset.learning_rate


def test_finished_runs_are_not_made_again_and_other_settings_refused(tmp_path: Path) -> None:
    first = {**find(tmp_path), "date": None}
    metrics = (tmp_path / "seed-1" / "metrics.jsonl").read_bytes()
    assert {**find(tmp_path), "date": None} == first
    assert (tmp_path / "seed-1" / "metrics.jsonl").read_bytes() == metrics
    with pytest.raises(
        ValueError, match=r"seed-1 holds a run with other settings \(eval_opponents, opponents\)"
    ):
        find(tmp_path, "heuristic")


def test_a_result_of_another_target_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / RESULT_FILE).write_text('{"target": "heuristic", "game": "petrify_v0", "options": {}}')
    with pytest.raises(ValueError, match=r"is about heuristic in petrify_v0 with \{\}: name another folder"):
        find(tmp_path)
    (tmp_path / RESULT_FILE).write_text('{"target": ')
    with pytest.raises(ValueError, match=r"is damaged .*: move it away"):
        find(tmp_path)
    assert not (tmp_path / "seed-1").exists()


def test_an_algorithm_without_opponents_is_refused(tmp_path: Path) -> None:
    config = TrainConfig(algorithm="catbox_train.algorithm:Algorithm", game_options=SMALL["game_options"])
    with pytest.raises(ValueError, match="has no opponents in training"):
        best_response("random", config, tmp_path / "out", console=quiet())


def test_the_command(tmp_path: Path) -> None:
    rules = ["--players=3", "--rule=num_ranks=3", "--rule=copies=4", "--set=hidden=16"]
    output = ["--output", str(tmp_path)]
    code, errors = command(
        "best-response", "--target", "random", "--seeds=1", "--deals=10", *TYPED, *rules, *output
    )
    assert (code, errors) == (0, "")
    assert json.loads((tmp_path / RESULT_FILE).read_text())["gain"]["deals"] == 10
    code, errors = command("best-response", "--target", "nobody", *rules, *output)
    assert code == 2
    assert "unknown agent 'nobody'" in errors
    code, errors = command("best-response", "--target", "random", "--seeds=1;2", *rules, *output)
    assert code == 2
    assert "--seeds '1;2': expected integers separated by commas" in errors
