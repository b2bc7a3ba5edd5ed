"""The expected outcome of each legal action, from what one seat sees: for hints and the coach.

Worlds consistent with what the seat sees are sampled uniformly (`Game.sample_states`). Every legal action is tried in
each of them, and the hand-written agent plays on for all seats to the end of the round (`catbox_agents.play_out`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.features import facts
from catbox_agents.play import play_out
from catbox_agents.specs import hand_written_agent
from catbox_env import Game

#: Worlds in which every action is tried.
WORLDS = 400
#: Leads that differ by less are equal.
SAME = 0.005


@dataclass(frozen=True)
class ActionValue:
    """The outcome of an action for the seat that takes it, on average over the worlds.

    Attributes:
        action: its id.
        points: points in this round, whatever the reward.
        lead: points minus the mean of the other seats' points.
        interval: half the width of the 95 % confidence interval of ``lead``.
        behind: how much lower its lead is than that of the best action (`behind_the_best`); ``behind_interval``: half
            the width of the 95 % interval of that. The two are tried in the same worlds, so it is narrower than those
            of their leads.
        chances: how often each of the ``binary_statistics`` of the game (`catbox_agents.features.facts`) comes true for
            the seat, from 0 to 1.
    """

    action: int
    points: float
    lead: float
    interval: float
    behind: float
    behind_interval: float
    chances: dict[str, float]

    @property
    def is_alike(self) -> bool:
        """Whether it cannot be told from the best action."""
        return self.behind <= max(self.behind_interval, SAME)


def action_values(
    game: Game, observation: NDArray[np.int8], worlds: int = WORLDS, seed: int = 0
) -> list[ActionValue]:
    """The value of each legal action, those with the highest lead first.

    Args:
        observation: int8 (O,), of the seat to move.
        worlds: how many to sample, at least 4.
        seed: of the worlds. All actions are tried in the same ones, so that luck does not favour any.

    Raises ``ValueError`` for an observation that no seat to move can have.
    """
    points_game = catbox_env.make_game(game.id, **{**game.options, "reward": "score"})
    sampled = points_game.sample_states(observation, worlds, seed=seed)
    if not np.array_equal(sampled.observation[0], observation):
        raise ValueError("the observation is not of the seat to move; only that seat can be advised")
    actions = np.flatnonzero(sampled.action_mask[0])
    seats = np.tile(sampled.current_player, len(actions))
    tried = sampled.take(np.tile(np.arange(worlds), len(actions)))
    tried.step(np.repeat(actions, worlds))
    points = tried.rewards.astype(np.float64)
    info = {name: values.copy() for name, values in tried.info.items()}
    running = np.flatnonzero(~tried.round_ended)
    if len(running):
        rest = tried.take(running)
        points[running] += play_out(rest, hand_written_agent(game.id))
        for name, values in rest.info.items():
            info[name][running] = values
    statistics = facts(game).statistics(points_game, info)
    binary = [name for name in facts(game).binary_statistics if name in statistics]
    own = points[np.arange(len(points)), seats]
    others = (points.sum(axis=1) - own) / (game.num_players - 1)
    leads = (own - others).reshape(len(actions), worlds)
    behind = behind_the_best(leads)
    found = []
    for i, action in enumerate(actions.tolist()):
        rows = np.arange(i * worlds, (i + 1) * worlds)
        chances = {name: float(statistics[name][rows, seats[rows]].mean()) for name in binary}
        means = (float(own[rows].mean()), *_mean(leads[i]), *_mean(behind[i]))
        found.append(ActionValue(action, *means, chances))
    return sorted(found, key=lambda value: -value.lead)


def behind_the_best(leads: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much each of A actions earns less than the best one in each of W worlds: (A, W) from ``leads`` (A, W).

    In either half of the worlds, the best action is the one that earns most in the other half: an action that is best
    where it was chosen was partly lucky, and would make equal actions look worse than they are.
    """
    half = leads.shape[1] // 2
    best = leads[:, half:].mean(axis=1).argmax(), leads[:, :half].mean(axis=1).argmax()
    return np.concatenate([leads[best[0], :half], leads[best[1], half:]]) - leads


def _mean(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval."""
    return float(values.mean()), 1.96 * float(values.std(ddof=1) / np.sqrt(len(values)))
