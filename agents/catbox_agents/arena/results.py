"""The result of a comparison of agents, and the sums from which it is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env import Vec

#: What is measured for every deal and in every seat.
MEASURES = ("score", "margin", "win_share")


@dataclass(frozen=True)
class Standing:
    """How one agent did. Every mean is over games and over the seats that the agent held. A game of several rounds
    counts once in ``score`` and ``margin``, with its total."""

    name: str
    #: How many seats of a game it held.
    seats: int
    #: Mean score of a game.
    score: float
    #: Mean own score minus mean score of the other agents' seats in the same game.
    margin: float
    #: Half the width of the 95 % interval of the margin.
    margin_ci95: float
    #: Share of a win, mean over its seats; 1 / number of players if all agents are equal.
    win_share: float
    #: Means per round of the game's ``statistics``, without the score.
    statistics: dict[str, float]
    #: "score", "margin", "win_share" -> the mean in each seat (P).
    by_seat: dict[str, list[float]]
    #: For example "bid" -> {value: share of the agent's rounds that had it}.
    distributions: dict[str, dict[int, float]]


@dataclass(frozen=True)
class Result:
    """A comparison: one `Standing` for each agent, in the order given.

    ``deal_scores``, ``deal_margins`` and ``deal_win_shares`` are float32 arrays (deals, agents): the means of each
    deal over its rotations and the agent's seats, for statistics of your own. `as_dict` leaves them out.
    """

    game: str
    options: dict[str, Any]
    deals: int  #: deals played
    deals_planned: int  #: deals asked for: more than ``deals`` if the comparison was interrupted
    games: int
    seed: int
    standings: list[Standing]
    deal_scores: NDArray[np.float32] = field(compare=False, repr=False)
    deal_margins: NDArray[np.float32] = field(compare=False, repr=False)
    deal_win_shares: NDArray[np.float32] = field(compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the arrays as plain values, for JSON."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if not f.name.startswith("deal_")}
        return {**plain, "standings": [asdict(standing) for standing in self.standings]}

    def rows(self) -> list[dict[str, Any]]:
        """One flat dict for each agent, for CSV and tables."""
        rows = []
        for standing in self.standings:
            row = asdict(standing)
            row.update(row.pop("statistics"))
            for name, means in row.pop("by_seat").items():
                row.update({f"{name}_seat_{seat}": mean for seat, mean in enumerate(means)})
            for name, shares in row.pop("distributions").items():
                row.update({f"{name}_{value}": share for value, share in shares.items()})
            rows.append(row)
        return rows

    def __getitem__(self, name: str) -> Standing:
        for standing in self.standings:
            if standing.name == name:
                return standing
        raise KeyError(f"no agent {name!r} in this result, only {[s.name for s in self.standings]}")


class RoundTotals:
    """Sums over the rounds of some games, by agent: the game's statistics, and how often single values occurred."""

    def __init__(self, num_agents: int) -> None:
        self.num_agents = num_agents
        self.rounds = 0
        self.statistics: dict[str, NDArray[np.float64]] = {}  # (agents,)
        self.counts: dict[str, dict[int, NDArray[np.float64]]] = {}  # value -> (agents,)

    def add_round(self, vec: Vec, players: NDArray[np.int64]) -> None:
        """Count the rounds that the last step of ``vec`` ended; ``players`` (N, P): the agent in each seat."""
        ended = np.flatnonzero(vec.round_ended)
        if len(ended) == 0:
            return
        self.rounds += len(ended)
        agents = players[ended].ravel().astype(np.intp)
        info = {name: values[ended] for name, values in vec.info.items()}
        for name, values in vec.game.statistics(info).items():
            if name != "score":  # `Standing.score` has the total of the game
                sums = self.statistics.setdefault(name, np.zeros(self.num_agents))
                sums += np.bincount(agents, values.ravel(), self.num_agents)
        for name, known in vec.game.info_values.items():
            for value in known:
                made = (info[name] == value).ravel()
                sums = self.counts.setdefault(name, {}).setdefault(value, np.zeros(self.num_agents))
                sums += np.bincount(agents[made], minlength=self.num_agents)

    def add(self, other: RoundTotals) -> None:
        """Add the rounds of ``other``."""
        self.rounds += other.rounds
        for name, sums in other.statistics.items():
            self.statistics[name] = self.statistics.get(name, 0.0) + sums
        for name, counts in other.counts.items():
            own = self.counts.setdefault(name, {})
            for value, number in counts.items():
                own[value] = own.get(value, 0.0) + number


@dataclass(frozen=True)
class Part:
    """The results of some deals."""

    deals: NDArray[np.float32]  # (measures, deals, agents)
    by_seat: NDArray[np.float64]  # (measures, agents, P): sums over the deals
    rounds: RoundTotals

    @classmethod
    def of(
        cls,
        scores: NDArray[np.float64],
        win_shares: NDArray[np.float64],
        rounds: RoundTotals,
        line_ups: NDArray[np.int64],
    ) -> Part:
        """The games of some deals: ``scores`` and ``win_shares`` (deals, rotations, P), ``line_ups`` (rotations, P)."""
        #: (agents, rotations, P): 1 where the agent sits.
        holds = (line_ups == np.arange(rounds.num_agents)[:, None, None]).astype(np.float64)
        seats = holds[:, 0].sum(1)
        own = np.einsum("drs,ars->dra", scores, holds) / seats
        # An agent in all seats has no others: its margin is 0.
        rest = np.maximum(scores.shape[2] - seats, 1)
        others = np.where(seats < scores.shape[2], (scores.sum(2)[..., None] - own * seats) / rest, own)
        wins = np.einsum("drs,ars->dra", win_shares, holds) / seats
        deals = np.stack([means.mean(1) for means in (own, own - others, wins)]).astype(np.float32)

        points, share = (np.einsum("drs,ars->as", values, holds) for values in (scores, win_shares))
        against = np.einsum("dra,ars->as", others, holds)
        # (agents, P): the number of rotations in which the agent holds the seat.
        rotations = holds.sum(1)
        return cls(deals, np.stack([points, points - against, share]) / rotations, rounds)


class Totals:
    """The results of the deals played so far, by agent. ``line_up`` (P,): the agent in each seat, for each rotation
    another way round."""

    def __init__(self, num_agents: int, line_up: Sequence[int], rotations: int | None = None) -> None:
        self.seats = np.bincount(line_up, minlength=num_agents)
        self.rotations = len(line_up) if rotations is None else rotations
        #: Each part is added in one operation, so that an interruption finds only whole parts.
        self.parts: list[Part] = []

    def add(self, part: Part) -> None:
        """Add some deals."""
        self.parts.append(part)

    @property
    def num_deals(self) -> int:
        return sum(part.deals.shape[1] for part in self.parts)

    def result(
        self, game: str, options: dict[str, Any], planned: int, seed: int, labels: Sequence[str]
    ) -> Result:
        """The result so far."""
        deals = np.concatenate([part.deals for part in self.parts], axis=1)
        num_deals = deals.shape[1]
        by_seat = sum(part.by_seat for part in self.parts) / num_deals
        rounds = RoundTotals(len(labels))
        for part in self.parts:
            rounds.add(part.rounds)
        scores, margins, win_shares = deals.mean(1, dtype=np.float64)
        spread = deals[1].std(0, ddof=1, dtype=np.float64)
        half_widths = t_quantile(num_deals - 1) * spread / np.sqrt(num_deals)

        def per_round(sums: NDArray[np.float64], agent: int) -> float:
            return float(sums[agent] / (rounds.rounds * self.seats[agent]))

        standings = [
            Standing(
                name=label,
                seats=int(self.seats[i]),
                score=float(scores[i]),
                margin=float(margins[i]),
                margin_ci95=float(half_widths[i]),
                win_share=float(win_shares[i]),
                statistics={name: per_round(sums, i) for name, sums in rounds.statistics.items()},
                by_seat={name: by_seat[k, i].tolist() for k, name in enumerate(MEASURES)},
                distributions={
                    name: {value: per_round(number, i) for value, number in counts.items()}
                    for name, counts in rounds.counts.items()
                },
            )
            for i, label in enumerate(labels)
        ]
        games = num_deals * self.rotations
        return Result(game, options, num_deals, planned, games, seed, standings, *deals)


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
