"""Agents on the same deals: who plays better, and how sure is that.

Every deal is played once for each seat, the line-up moved on by one seat each time, so that every agent has held
every hand from every place. What an agent gains over the others is first averaged over the games of one deal;
these averages are independent of one another, and the interval comes from them (a paired design: the luck of the
deal cancels instead of widening it).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.agent import Agent, AgentSpec, agent_of, choose, needs_history
from catbox_env.core.batch import Vec
from catbox_env.core.game import Game
from catbox_env.core.rng import seed_sequence

#: Games played side by side. Larger batches cost memory and save little.
CHUNK = 2048

#: Fewest deals that are told apart from luck; the quantile of the interval is exact to 0.001 from here on.
MIN_DEALS = 10


@dataclass(frozen=True)
class Standing:
    """How one agent did. Every mean is over games and over the seats it held (a game of several rounds counts once
    in ``score`` and ``margin``, with the total)."""

    name: str
    seats: int  #: how many seats of a game it held
    score: float  #: mean score of a game
    margin: float  #: mean own score minus mean score of the other agents' seats in the same game
    margin_ci95: float  #: half the width of the 95 % interval of the margin
    win_share: float  #: share of a win, mean over its seats: 1 / number of players is even
    figures: dict[str, float]  #: mean of the other figures of the game's ``statistics``, per round


@dataclass(frozen=True)
class Result:
    """A comparison: one `Standing` for each agent, in the order given."""

    game: str
    options: dict[str, Any]
    deals: int
    games: int
    seed: int
    standings: list[Standing] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)

    def rows(self) -> list[dict[str, Any]]:
        """One flat dict for each agent, for CSV and tables."""
        rows = []
        for standing in self.standings:
            row = asdict(standing)
            row.update(row.pop("figures"))
            rows.append(row)
        return rows

    def __getitem__(self, name: str) -> Standing:
        for standing in self.standings:
            if standing.name == name:
                return standing
        raise KeyError(f"no agent {name!r} in this result, only {[s.name for s in self.standings]}")


def evaluate(
    game: Game,
    agents: Sequence[AgentSpec],
    num_deals: int,
    seed: int = 0,
    names: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Play ``num_deals`` deals, each with every rotation of the seats, and compare the agents.

    ``agents``: specs (see :func:`catbox_agents.make`) or agents; the last one fills the seats that are left, so
    ``[net, "heuristic"]`` is one net among heuristics. ``progress`` is called with (games played, games in all).
    The same arguments give the same result. Raises ValueError for fewer than two agents, more agents than
    seats, fewer than ten deals (their interval would say nothing), an unknown agent, a seed that is no integer
    of 0 or more, or an agent that does not play by the rules.
    """
    labels = _labels(agents, names)
    _check(game, labels, num_deals)
    played = catbox_env.make_game(game.id, **{**game.options, "reward": "score"})
    seeds = seed_sequence(seed).spawn(2)
    players = [
        agent_of(agent, label, game, child)
        for agent, label, child in zip(agents, labels, seeds[0].spawn(len(agents)), strict=True)
    ]
    seats = game.num_players
    line_up = np.minimum(np.arange(seats), len(players) - 1)  # agent of each seat, before rotation
    sizes = [min(CHUNK, num_deals - start) for start in range(0, num_deals, CHUNK)]
    totals = _Totals(len(players), line_up)
    done = 0
    for size, deals in zip(sizes, seeds[1].spawn(len(sizes)), strict=True):
        outcomes = []
        for turn in range(seats):
            outcomes.append(_play(played, players, labels, np.roll(line_up, turn), size, deals))
            done += size
            if progress is not None:
                progress(done, num_deals * seats)
        totals.add(outcomes)
    return Result(game.id, dict(game.options), num_deals, num_deals * seats, seed, totals.standings(labels))


@dataclass
class _Outcome:
    """What a batch of games came to, by seat."""

    line_up: NDArray[np.int64]  # (P,) agent of each seat
    score: NDArray[np.float64]  # (N, P)
    win_share: NDArray[np.float64]  # (N, P)
    rounds: int = 0
    figures: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # (P,) sums over rounds


def _play(
    game: Game,
    agents: Sequence[Agent],
    labels: Sequence[str],
    line_up: NDArray[np.int64],
    num_games: int,
    deals: np.random.SeedSequence,
) -> _Outcome:
    """One game of each deal, all at once."""
    history = any(needs_history(agent) for agent in agents)
    vec = Vec(game, num_games, seed=deals, history=history, auto_deal=False)
    shape = (num_games, game.num_players)
    outcome = _Outcome(line_up, np.zeros(shape), np.zeros(shape))
    while (running := np.flatnonzero(vec.current_player >= 0)).size:
        actions = np.zeros(num_games, np.int64)
        to_move = line_up[vec.current_player]
        for i, agent in enumerate(agents):
            rows = running[to_move[running] == i]
            if len(rows):
                actions[rows] = choose(agent, labels[i], vec, rows)
        vec.step(actions[running], running)
        outcome.score += vec.rewards
        ended = np.flatnonzero(vec.round_ended)
        if len(ended):
            figures = game.statistics({name: values[ended] for name, values in vec.info.items()})
            for name, values in figures.items():
                if name == "score":  # the total of the game is told apart
                    continue
                outcome.figures[name] = outcome.figures.get(name, np.zeros(game.num_players)) + values.sum(
                    axis=0
                )
            outcome.rounds += len(ended)
    outcome.win_share += vec.win_shares
    return outcome


class _Totals:
    """Sums over the chunks of deals, by agent."""

    def __init__(self, num_agents: int, line_up: NDArray[np.int64]) -> None:
        self.seats = np.bincount(line_up, minlength=num_agents)
        self.margins: list[NDArray[np.float64]] = []  # (deals, agents), means over the rotations
        self.scores: list[NDArray[np.float64]] = []
        self.win_shares: list[NDArray[np.float64]] = []
        self.rounds = 0
        self.figures: dict[str, NDArray[np.float64]] = {}

    def add(self, outcomes: Sequence[_Outcome]) -> None:
        """The games of some deals: one outcome for each rotation of the line-up."""
        num_agents = len(self.seats)
        score = np.zeros((len(outcomes[0].score), num_agents))
        margin, win_share = np.zeros_like(score), np.zeros_like(score)
        for outcome in outcomes:
            for i in range(num_agents):
                own = outcome.line_up == i
                own_score = outcome.score[:, own].mean(axis=1)
                score[:, i] += own_score
                margin[:, i] += own_score - outcome.score[:, ~own].mean(axis=1)
                win_share[:, i] += outcome.win_share[:, own].mean(axis=1)
                for name, values in outcome.figures.items():
                    self.figures.setdefault(name, np.zeros(num_agents))[i] += values[own].sum()
            self.rounds += outcome.rounds
        self.scores.append(score / len(outcomes))
        self.margins.append(margin / len(outcomes))
        self.win_shares.append(win_share / len(outcomes))

    def standings(self, labels: Sequence[str]) -> list[Standing]:
        margins = np.concatenate(self.margins)
        half_widths = t_quantile(len(margins) - 1) * margins.std(axis=0, ddof=1) / np.sqrt(len(margins))
        scores, win_shares = np.concatenate(self.scores), np.concatenate(self.win_shares)
        return [
            Standing(
                name=label,
                seats=int(self.seats[i]),
                score=float(scores[:, i].mean()),
                margin=float(margins[:, i].mean()),
                margin_ci95=float(half_widths[i]),
                win_share=float(win_shares[:, i].mean()),
                figures={
                    name: float(sums[i] / (self.rounds * self.seats[i]))
                    for name, sums in self.figures.items()
                },
            )
            for i, label in enumerate(labels)
        ]


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t with ``freedom`` degrees of freedom, to 0.001 from 9 on.

    The expansion in 1 / freedom (Abramowitz and Stegun 26.7.5), which needs no scipy.
    """
    z = 1.959963984540054
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def _labels(agents: Sequence[AgentSpec], names: Sequence[str] | None) -> list[str]:
    """A name of its own for each agent: the given ones, else the spec or the class, numbered where they repeat."""
    if isinstance(agents, str):
        raise ValueError(f"agents={agents!r}: expected a list of agents, such as [{agents!r}, 'random']")
    if names is not None:
        if len(names) != len(agents) or len(set(names)) != len(names):
            raise ValueError(
                f"names={list(names)!r}: expected {len(agents)} different names, one for each agent"
            )
        return list(names)
    labels: list[str] = []
    for agent in agents:
        base = os.fspath(agent) if isinstance(agent, str | os.PathLike) else type(agent).__name__
        copies = sum(other == base or other.startswith(f"{base} #") for other in labels)
        labels.append(f"{base} #{copies + 1}" if copies else base)
    return labels


def _check(game: Game, labels: Sequence[str], num_deals: int) -> None:
    if len(labels) < 2:
        raise ValueError(
            f"a comparison needs at least 2 agents, not {len(labels)} ({', '.join(labels) or 'none'})"
        )
    if len(labels) > game.num_players:
        raise ValueError(
            f"{len(labels)} agents ({', '.join(labels)}) for {game.num_players} seats: "
            f"name at most {game.num_players} agents, or play with more players"
        )
    if num_deals < MIN_DEALS:
        raise ValueError(
            f"num_deals={num_deals}: expected at least {MIN_DEALS}; fewer give no interval worth the name"
        )
