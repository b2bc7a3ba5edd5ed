"""Expert iteration: which decisions are searched, what their actions earn, the loss, where it starts."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_train.exit import ExpertIteration, Positions
from catbox_train.rollout import Decisions
from tests.train import ppo_runs
from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_reference import masked_log_probabilities
from tests.train.ppo_runs import GAME

SETTINGS: dict[str, Any] = {
    "algorithm": "exit",
    "games_per_update": 11,
    "minibatch_size": 16,
    "search_share": 0.25,
}


def made(**settings: Any) -> ExpertIteration:
    found: ExpertIteration = ppo_runs.made(**{**SETTINGS, **settings})
    return found


def played(
    trainer: ExpertIteration, monkeypatch: pytest.MonkeyPatch
) -> tuple[Decisions, list[Positions], Any]:
    """The decisions of an update, the positions that it searches, and what it learns from."""
    found: list[Any] = []
    search = trainer.search

    def record(decisions: Decisions, chosen: list[Positions], random: Any) -> Any:
        found.extend((decisions, chosen, search(decisions, chosen, random)))
        return found[2]

    monkeypatch.setattr(trainer, "search", record)
    trainer.update(0, 0.0)
    return found[0], found[1], found[2]


# What is searched.


def test_a_share_of_the_decisions_of_the_learner_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = made(games_per_update=200, opponents={HIGHEST: 0.7})
    decisions, chosen, columns = played(trainer, monkeypatch)
    rows = np.concatenate([part.rows for part in chosen])
    assert 0.2 * len(decisions) < len(rows) < 0.3 * len(decisions)
    assert len(set(rows.tolist())) == len(rows) == len(columns["gains"])
    seen = np.concatenate([part.games.observation for part in chosen])
    assert np.array_equal(columns["inputs"].numpy()[:, : seen.shape[1]], seen)
    every = made(search_share=1.0, opponents={HIGHEST: 0.7})
    decisions, chosen, _ = played(every, monkeypatch)
    assert np.concatenate([part.rows for part in chosen]).tolist() == list(range(len(decisions)))


@pytest.mark.parametrize("reward", ["margin", "win"])
@pytest.mark.parametrize("opponents", [{}, {HIGHEST: 0.8, "heuristic": 0.2}])
def test_every_action_is_tried_and_the_agents_at_the_table_play_on(
    opponents: dict[str, float], reward: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside `play_out` of each action, game by game, by the policy before the update."""
    trainer = made(
        opponents=opponents, search_share=0.5, game_options={**GAME, "rounds": 2, "reward": reward}
    )
    game, policy = trainer.game, trainer.policy()
    agents = [policy, *(catbox_agents.make(spec, game) for spec in opponents)]
    decisions, chosen, columns = played(trainer, monkeypatch)
    more = columns["gains"]
    until = "end_of_game" if reward == "win" else "end_of_round"
    row = 0
    for part in chosen:
        for i in range(len(part.rows)):
            seat, earned = int(part.games.current_player[i]), {}
            for action in np.flatnonzero(part.games.action_mask[i]).tolist():
                one = part.games.take(np.array([i]))
                one.step(np.array([action]))
                earned[action] = one.rewards[0, seat]
                if not (one.terminated[0] or (one.round_ended[0] and until == "end_of_round")):
                    seated = [agents[k] for k in part.line_up[i]]
                    earned[action] += catbox_agents.play_out(one, seated, until=until)[0, seat]
            taken = earned[int(decisions.columns["actions"][part.rows[i]])]
            expected = np.zeros(game.num_actions)
            expected[list(earned)] = np.array(list(earned.values())) - taken
            assert np.allclose(more[row], expected, atol=1e-5)
            row += 1
    assert row == len(more) > 10
    assert (more != 0).any()
    assert (np.concatenate([part.line_up for part in chosen]) > 0).any() == bool(opponents)


# The loss.


@pytest.mark.parametrize("action_features", [False, True])
def test_a_step_raises_the_expected_value_and_the_entropy(
    device: str, action_features: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adam's first moment after a step from nothing is a tenth of the gradient."""
    settings = {"update_epochs": 1, "minibatch_size": 4096, "ent_coef": 0.3, "max_grad_norm": 1e9}
    trainer = made(action_features=action_features, device=device, **settings)
    network = copy.deepcopy(trainer.network).cpu()
    recorded: list[Any] = []
    update = trainer.update
    monkeypatch.setattr(trainer, "update", lambda *given: recorded.append(update(*given)))
    _, _, columns = played(trainer, monkeypatch)
    (_, metrics), *_ = recorded
    inputs, features, masks, more = (column.cpu() for column in columns.values())
    for parameter in network.parameters():
        parameter.grad = None
    outputs, num_actions = network.outputs(inputs), masks.shape[1]
    logits = outputs[:, :num_actions]
    if action_features:
        logits = logits + (features * network.action_scale * outputs[:, None, num_actions:]).sum(2)
    log_probabilities = masked_log_probabilities(logits, masks)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
    gain = (log_probabilities.exp() * more).sum(1).mean()
    (-gain - 0.3 * entropy).backward()
    gradient = torch.cat([p.grad.reshape(-1) for p in network.parameters() if p.grad is not None])
    assert torch.allclose(trainer.learner.moments["exp_avg"].cpu() * 10, gradient, atol=1e-5)
    assert gradient.abs().max() > 1e-3
    assert metrics["learning/entropy"] == pytest.approx(entropy.item(), rel=1e-4)
    assert metrics["learning/gain"] == pytest.approx(gain.item(), abs=1e-5)
    assert metrics["learning/searched"] == len(inputs)


# Where it starts, and what is refused.


def test_it_starts_from_a_policy_and_goes_on_from_its_own(tmp_path: Path) -> None:
    other = made(seed=5)
    other.policy().save(tmp_path)
    trainer = made(start_from=str(tmp_path))
    assert torch.equal(trainer.learner.weights, other.learner.weights)
    trainer.update(0, 0.0)
    assert not torch.equal(trainer.learner.weights, other.learner.weights)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"hidden": [8]},
            r"holds the network .*'hidden': \[8\].*require .*'hidden': \[16\].*set network, hidden",
        ),
        ({"action_features": False}, "holds the network .*action_features.*set network, hidden"),
        ({"game_options": {**GAME, "num_ranks": 4}}, "start_from: .*was trained for"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    made(**settings).policy().save(tmp_path)
    with pytest.raises(ValueError, match=message):
        made(start_from=str(tmp_path))
