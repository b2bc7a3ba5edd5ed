"""The result of a table with its intervals, and the blocks of deals from which it is computed.

All intervals are 95 % intervals of means over independent deals, Student's. Differences of means on the same deals are
means of differences, so their intervals are paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.features import facts
from catbox_env import Vec

#: What is measured for every deal and in every seat.
MEASURES = ("score", "margin", "win_share")


@dataclass(frozen=True)
class Estimate:
    """A number, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return self.words(2)

    def words(self, decimals: int) -> str:
        """The number and half the width of its interval, with so many decimals."""
        return f"{self.mean:+.{decimals}f} ± {self.half_width:.{decimals}f}"


def mean_and_half_width(values: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of each column of ``values`` (deals, ...), at least two deals, and half the width of its interval."""
    num_deals = len(values)
    spread = values.std(0, ddof=1, dtype=np.float64)
    return values.mean(0, dtype=np.float64), t_quantile(num_deals - 1) * spread / sqrt(num_deals)


def mean_estimates(values: NDArray[np.floating]) -> list[Estimate]:
    """The mean of each column of ``values`` (deals, k)."""
    means, widths = mean_and_half_width(values)
    return [
        Estimate(float(mean), float(mean - width), float(mean + width))
        for mean, width in zip(means, widths, strict=True)
    ]


#: `t_quantile` of 1 to 8 degrees of freedom.
_FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060)


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t with ``freedom`` degrees of freedom, to 0.001.

    From 9 on, the expansion in 1 / freedom (Abramowitz and Stegun 26.7.5), to avoid scipy.
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z = 1.959963984540054
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


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
    deal over its rotations and the agent's seats, for your own statistics. `as_dict` leaves them out.
    """

    game: str
    options: dict[str, Any]
    deals: int  #: deals played
    deals_planned: int  #: deals requested: more than ``deals`` if the comparison was interrupted
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
        known = facts(vec.game)
        for name, values in known.statistics(vec.game, info).items():
            if name != "score":  # `Standing.score` has the game's total
                sums = self.statistics.setdefault(name, np.zeros(self.num_agents))
                sums += np.bincount(agents, values.ravel(), self.num_agents)
        for name, counted in known.counted_values(vec.game).items():
            for value in counted:
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
class Block:
    """The outcome of some deals at a table of m agents."""

    deals: NDArray[np.float32]  #: (measures, deals, m): means over the rotations and the agent's seats
    by_seat: NDArray[np.float64]  #: (measures, m, P): sums over the deals
    rounds: RoundTotals
    #: (deals, m, m): how often a seat of one agent beat one of another in the same game; a draw counts half.
    comparisons: NDArray[np.float64]
    seconds: NDArray[np.float64]  #: (m,): the time in the agents' code,
    decisions: NDArray[np.int64]  #: (m,): and how often they were asked
    games: list[dict[str, Any]] = field(
        default_factory=list
    )  #: as `catbox_agents.arena.records` describes them
    #: For each agent what it counted itself, such as the ``tally`` of `catbox_agents.text.llm_agent`; empty: nothing.
    tallies: list[dict[str, float]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        scores: NDArray[np.float64],
        win_shares: NDArray[np.float64],
        rounds: RoundTotals,
        line_ups: NDArray[np.int64],
        **more: Any,
    ) -> Block:
        """The games of some deals: ``scores`` and ``win_shares`` (deals, rotations, P), ``line_ups`` (rotations, P).

        ``more``: the other fields.
        """
        agents = np.arange(rounds.num_agents)
        #: (agents, rotations, P): 1 where the agent sits.
        holds = (line_ups == agents[:, None, None]).astype(np.float64)
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
        by_seat = np.stack([points, points - against, share]) / rotations

        mine, theirs = scores[..., :, None], scores[..., None, :]
        more_points = (mine > theirs) + 0.5 * (mine == theirs)
        comparisons = np.einsum("drst,ars,brt->dab", more_points, holds, holds)
        comparisons[:, agents, agents] = 0  # seats of the same agent
        return cls(deals, by_seat, rounds, comparisons, **more)

    @property
    def num_deals(self) -> int:
        return self.deals.shape[1]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, from which `from_dict` makes an equal block."""
        rounds = self.rounds
        return {
            # The shortest texts that round-trip as float32.
            "deals": [[[float(str(x)) for x in row] for row in measure] for measure in self.deals],
            "by_seat": self.by_seat.tolist(),
            "rounds": rounds.rounds,
            "statistics": {name: sums.tolist() for name, sums in rounds.statistics.items()},
            "counts": {
                name: [[value, sums.tolist()] for value, sums in counts.items()]
                for name, counts in rounds.counts.items()
            },
            "comparisons": self.comparisons.tolist(),
            "seconds": self.seconds.tolist(),
            "decisions": self.decisions.tolist(),
            "tallies": self.tallies,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Block:
        """The block of `as_dict`, without its games."""
        deals = np.array(plain["deals"], np.float32)
        rounds = RoundTotals(deals.shape[2])
        rounds.rounds = plain["rounds"]
        rounds.statistics = {name: np.array(sums) for name, sums in plain["statistics"].items()}
        rounds.counts = {
            name: {value: np.array(sums) for value, sums in counts}
            for name, counts in plain["counts"].items()
        }
        return cls(
            deals,
            np.array(plain["by_seat"]),
            rounds,
            np.array(plain["comparisons"]),
            np.array(plain["seconds"]),
            np.array(plain["decisions"], np.int64),
            tallies=plain["tallies"],
        )


def table_result(
    blocks: Sequence[Block], line_up: Sequence[int], rotations: int, names: Sequence[str], **about: Any
) -> Result:
    """The result of ``blocks``, all of one table. ``line_up`` (P,): the agent in each seat, an index in ``names``; it
    moves on by a seat in each of the ``rotations``. ``about``: fields of `Result` that say what was played."""
    deals = np.concatenate([block.deals for block in blocks], axis=1)
    num_deals = deals.shape[1]
    by_seat = sum(block.by_seat for block in blocks) / num_deals
    rounds = RoundTotals(len(names))
    for block in blocks:
        rounds.add(block.rounds)
    scores, margins, win_shares = deals.mean(1, dtype=np.float64)
    _, half_widths = mean_and_half_width(deals[1])
    seats = np.bincount(line_up, minlength=len(names))

    def per_round(sums: NDArray[np.float64], agent: int) -> float:
        return float(sums[agent] / (rounds.rounds * seats[agent]))

    standings = [
        Standing(
            name=name,
            seats=int(seats[i]),
            score=float(scores[i]),
            margin=float(margins[i]),
            margin_ci95=float(half_widths[i]),
            win_share=float(win_shares[i]),
            statistics={name: per_round(sums, i) for name, sums in rounds.statistics.items()},
            by_seat={measure: by_seat[k, i].tolist() for k, measure in enumerate(MEASURES)},
            distributions={
                name: {value: per_round(number, i) for value, number in counts.items()}
                for name, counts in rounds.counts.items()
            },
        )
        for i, name in enumerate(names)
    ]
    measures = dict(zip(("deal_scores", "deal_margins", "deal_win_shares"), deals, strict=True))
    return Result(deals=num_deals, games=num_deals * rotations, standings=standings, **measures, **about)


def heading(statistic: str) -> str:
    """The heading of a statistic of a game: "tricks" for "tricks_won"."""
    return statistic.removesuffix("_won").replace("_", " ")
