"""Bad input to public functions of ``catbox_train`` is refused with a message that names it, and writes nothing."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import make_game
from catbox_train import (
    PPO,
    Learner,
    PPOConfig,
    Rollout,
    best_response,
    load_config,
    make_network,
    make_rollout,
    resume,
    train,
)
from tests.core.bad_values import INTEGERS, NONE, TEXTS, check_refusals

GAME = make_game("petrify_v0")


@cache
def config() -> PPOConfig:
    return PPOConfig(game="petrify_v0", hidden=(8,), workers=1).resolved(GAME)


def rollout(kind: Callable[..., Any], **wrong: Any) -> Any:
    return kind(**{"config": config(), "game": GAME, "inputs": NetworkInputs(GAME), **wrong})


def learner(**wrong: Any) -> Learner:
    return Learner(**{"config": config(), "network": make_network(config(), GAME), **wrong})


FUNCTIONS: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
    ("load_config file", lambda v: load_config(file=v), NONE + TEXTS),
    ("load_config overrides", lambda v: load_config(overrides=v), [None, {}]),
    ("train config", lambda v: train(v, "nowhere"), []),
    ("train output", lambda v: train(config(), v), TEXTS),
    ("resume output", resume, TEXTS),
    ("best_response target", lambda v: best_response(v, config(), "nowhere"), TEXTS),
    ("best_response config", lambda v: best_response("random", v, "nowhere"), []),
    ("best_response output", lambda v: best_response("random", config(), v), TEXTS),
    ("best_response seeds", lambda v: best_response("random", config(), "nowhere", seeds=v), []),
    ("make_network config", lambda v: make_network(v, GAME), []),
    ("make_network game", lambda v: make_network(config(), v), []),
    ("make_network num_values", lambda v: make_network(config(), GAME, v), INTEGERS),
    ("make_rollout config", lambda v: rollout(make_rollout, config=v), []),
    ("make_rollout group", lambda v: rollout(make_rollout, group=v), []),
    ("Rollout config", lambda v: rollout(Rollout, config=v), []),
    ("Rollout game", lambda v: rollout(Rollout, game=v), []),
    ("Rollout inputs", lambda v: rollout(Rollout, inputs=v), []),
    ("Rollout group", lambda v: rollout(Rollout, group=v), []),
    ("Learner config", lambda v: learner(config=v), []),
    ("Learner network", lambda v: learner(network=v), []),
    ("Learner group", lambda v: learner(group=v), []),
    ("PPO config", lambda v: PPO(v, GAME), []),
    ("PPO game", lambda v: PPO(config(), v), []),
    ("PPO group", lambda v: PPO(config(), GAME, v), []),
]


@pytest.mark.parametrize(("name", "function", "taken"), FUNCTIONS, ids=[name for name, *_ in FUNCTIONS])
def test_bad_input_is_refused_by_name_and_nothing_is_written(
    name: str,
    function: Callable[[Any], Any],
    taken: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refusals(name, function, taken, lambda: b"")
    assert not list(tmp_path.iterdir())


def test_a_rollout_is_made_for_settings_that_are_resolved() -> None:
    with pytest.raises(ValueError, match=r"games_per_update = 'auto'; use config.resolved"):
        rollout(Rollout, config=PPOConfig(game="petrify_v0"))
