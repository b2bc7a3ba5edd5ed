"""What an arena found: the payoff matrix with intervals, differences, ratings and statistics.

An agent's rating is that of the Plackett-Luce model, in which an agent of strength w ranks above one of strength v with
probability w / (w + v). In each game, every two seats of different agents are a comparison (the "full breaking" of the
game's ranking: consistent for this model, Azari Soufiani et al. 2013, "Generalized Method-of-Moments for Rank
Aggregation"). The library choix fits it by iterated Luce spectral ranking (Maystre and Grossglauser 2015, "Fast and
Accurate Inference of Plackett-Luce Models").

Ratings, which are not means, get bootstrap intervals: deals are resampled with replacement, and everything is
recomputed. A percentile interval is too narrow for few deals, so it is widened by the ratio of Student's interval to
the normal one: the expanded percentile interval of Hesterberg 2015, "What Teachers Should Know About the Bootstrap".
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.arena.results import Block, Estimate, Result, mean_estimates, t_quantile, table_result
from catbox_agents.arena.seatings import MIXED, SELF, Setup, Task

#: The format of results.json.
RESULTS_FORMAT = "catbox-arena-results-3"
#: Strengths in points of the Elo scale: 400 points are odds of 10 to 1.
ELO = 400 / log(10)
#: Added to the rates of each pair, about a fifth of a win to each side, so that an agent that never lost has a rating
#: too.
REGULARISATION = 0.1
_ITERATIONS = 1000
#: Bootstrap resamples.
RESAMPLES = 400
#: Resamples that are held in memory at once.
_AT_ONCE = 4_000_000
_SEED = 0xB007


@dataclass(frozen=True)
class AgentSummary:
    """One agent over all tables.

    ``rating`` in points of the Elo scale, with mean 0. ``mixed``: its margin at the mixed tables, if they were played.
    """

    name: str
    rating: Estimate
    mixed: Estimate | None


@dataclass(frozen=True)
class ArenaResult:
    """The result of `run_arena`, all of it from the same ``deals``.

    ``summaries``: one for each agent, in the order given. ``tables``: (agent, field) -> the result of one agent among
    copies of the other; (agent, agent) is self-play, where margins are 0. ``mixed_tables``: those with every agent.
    ``margins`` (n, n, deals) float32: one agent (row) among copies of another (column), the mean over the seats, for
    your own statistics; ``mixed_margins`` (n, deals) or None. ``seconds_per_move``: name -> mean time in the agent's
    code for a decision when many games are played at once; None if it made none. ``tallies``: name -> what the agent
    counted itself, and the ``games`` in which it did, once for each seat it held; only language models count
    (`catbox_agents.text.llm_agent`).
    """

    game: str
    options: dict[str, Any]
    deal_set: str | None  #: None: a seed was given
    seed: int
    agents: list[str]
    deals: int  #: deals played
    deals_planned: int  #: deals requested: more than ``deals`` if the arena was interrupted
    games: int
    summaries: list[AgentSummary]
    tables: dict[tuple[str, str], Result]
    mixed_tables: list[Result]
    margins: NDArray[np.float32] = field(compare=False, repr=False)
    mixed_margins: NDArray[np.float32] | None = field(compare=False, repr=False)
    seconds_per_move: dict[str, float | None] = field(compare=False, repr=False)
    tallies: dict[str, dict[str, float]] = field(compare=False, repr=False)
    _matrix: list[list[Estimate]] = field(repr=False)

    def margin(self, agent: str, field: str) -> Estimate:
        """The margin a game of one ``agent`` among copies of ``field``: own score minus the mean of the others'."""
        return self._matrix[self._index(agent)][self._index(field)]

    def difference(self, agent: str, other: str, field: str) -> Estimate:
        """How much more one ``agent`` earns among copies of ``field`` than one ``other``, on the same deals."""
        margins = self.margins[:, self._index(field)]
        return mean_estimates((margins[self._index(agent)] - margins[self._index(other)])[:, None])[0]

    @functools.cached_property
    def differences(self) -> dict[tuple[str, str, str], Estimate]:
        """(agent, other, field) -> `difference`, for each pair of agents and each field of neither."""
        names = self.agents
        triples = [
            (one, other, field)
            for field in names
            for k, one in enumerate(names)
            for other in names[k + 1 :]
            if field not in (one, other)
        ]
        if not triples:
            return {}
        margins = self.margins
        places = [[names.index(name) for name in triple] for triple in triples]
        columns = [margins[one, field] - margins[other, field] for one, other, field in places]
        return dict(zip(triples, mean_estimates(np.array(columns).T), strict=True))

    @property
    def widest(self) -> float:
        """The largest half width of an interval in the matrix."""
        return max(estimate.half_width for row in self._matrix for estimate in row)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON. All but ``seconds_per_move`` and ``tallies`` are the same for the same arena."""
        names = self.agents

        def plain(estimate: Estimate) -> dict[str, float]:
            return {"margin": estimate.mean, "low": estimate.low, "high": estimate.high}

        return {
            "format": RESULTS_FORMAT,
            "game": self.game,
            "options": self.options,
            "deal_set": self.deal_set,
            "seed": self.seed,
            "agents": names,
            "deals": self.deals,
            "deals_planned": self.deals_planned,
            "games": self.games,
            "matrix": [
                {"agent": one, "field": other, **plain(self.margin(one, other))}
                for one in names
                for other in names
            ],
            "differences": [
                {"agent": one, "other": other, "field": field, **plain(difference)}
                for (one, other, field), difference in self.differences.items()
            ],
            "summaries": [asdict(summary) for summary in self.summaries],
            "tables": [
                {"agent": one, "field": other, "standings": [asdict(s) for s in result.standings]}
                for (one, other), result in self.tables.items()
            ],
            "mixed_tables": [
                {"standings": [asdict(s) for s in result.standings]} for result in self.mixed_tables
            ],
            "seconds_per_move": self.seconds_per_move,
            "tallies": self.tallies,
        }

    def _index(self, name: str) -> int:
        if name not in self.agents:
            raise ValueError(f"no agent {name!r} in this arena, only {', '.join(self.agents)}")
        return self.agents.index(name)


def arena_result(
    setup: Setup, blocks: Mapping[Task, Block], planned: int, deal_set: str | None
) -> ArenaResult:
    """The result of those of the first ``planned`` deals that every table has finished: at least one."""
    finished = setup.finished(blocks, planned)
    names = list(setup.names)
    n = len(names)
    num_deals = sum(tasks[0].num_deals for tasks in finished)
    margins = np.zeros((n, n, num_deals), np.float32)
    mixed = [np.zeros((0, num_deals), np.float32)] * n
    comparisons = np.zeros((num_deals, n, n))
    seconds, decisions = np.zeros(n), np.zeros(n, np.int64)
    tallies: list[dict[str, float]] = [{} for _ in names]
    tables: dict[tuple[str, str], Result] = {}
    mixed_tables = []
    options = dict(setup.game.options)
    about = {"game": setup.game.id, "options": options, "deals_planned": planned, "seed": setup.seed}
    for number, seating in enumerate(setup.seatings):
        parts = [blocks[tasks[number]] for tasks in finished]
        agents = list(seating.agents)
        for block in parts:
            seconds[agents] += block.seconds
            decisions[agents] += block.decisions
            for place, tally in enumerate(block.tallies):
                # An agent that counts nothing has an empty tally.
                seat_games = block.num_deals * seating.rotations * seating.line_up.count(place)
                counted = {**tally, "games": seat_games} if tally else {}
                total = tallies[agents[place]]
                total.update({name: total.get(name, 0) + number for name, number in counted.items()})
        result = table_result(parts, seating.line_up, seating.rotations, [names[i] for i in agents], **about)
        own = result.deal_margins.T
        if seating.kind == SELF:
            tables[names[agents[0]], names[agents[0]]] = result
            continue
        comparisons[:, np.array(agents)[:, None], agents] += np.concatenate([b.comparisons for b in parts])
        if seating.kind == MIXED:
            mixed_tables.append(result)
            for i, row in zip(agents, own, strict=True):
                mixed[i] = np.concatenate([mixed[i], row[None]])
            continue
        one, other = agents
        margins[one, other] = own[0]
        tables[names[one], names[other]] = result
        if setup.game.num_players == 2:
            margins[other, one] = own[1]
            tables[names[other], names[one]] = result
    mixed_margins = np.array([rows.mean(0) for rows in mixed]) if mixed_tables else None
    summaries = _summaries(setup, mixed_margins, comparisons)
    matrix = mean_estimates(margins.reshape(n * n, num_deals).T)
    return ArenaResult(
        game=setup.game.id,
        options=options,
        deal_set=deal_set,
        seed=setup.seed,
        agents=names,
        deals=num_deals,
        deals_planned=planned,
        games=num_deals * sum(seating.rotations for seating in setup.seatings),
        summaries=summaries,
        tables=tables,
        mixed_tables=mixed_tables,
        margins=margins,
        mixed_margins=mixed_margins,
        seconds_per_move={
            name: float(seconds[i] / decisions[i]) if decisions[i] else None for i, name in enumerate(names)
        },
        tallies={name: tally for name, tally in zip(names, tallies, strict=True) if tally},
        _matrix=[matrix[i * n : (i + 1) * n] for i in range(n)],
    )


def _summaries(
    setup: Setup,
    mixed: NDArray[np.float32] | None,
    comparisons: NDArray[np.float64],
) -> list[AgentSummary]:
    strengths = ratings(comparisons.sum(0))
    resampled = np.array([ratings(sums) for sums in resampled_sums(comparisons)])
    low, high = bootstrap_interval(resampled, len(comparisons))
    mixed_estimates = None if mixed is None else mean_estimates(mixed.T)
    return [
        AgentSummary(
            name=setup.names[i],
            rating=Estimate(float(strengths[i]), float(low[i]), float(high[i])),
            mixed=None if mixed_estimates is None else mixed_estimates[i],
        )
        for i in range(len(setup.names))
    ]


def ratings(comparisons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratings (n,) in points of the Elo scale, with mean 0. ``comparisons`` (n, n): how often i ranked above j."""
    import choix  # in the extra arena

    strengths = choix.ilsr_pairwise_dense(comparisons, alpha=REGULARISATION, max_iter=_ITERATIONS)
    return ELO * (strengths - strengths.mean())


def resampled_sums(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sums of ``values`` (deals, ...) over the deals of each resample: (RESAMPLES, ...)."""
    num_deals = len(values)
    flat = np.asarray(values, np.float64).reshape(num_deals, -1)
    generator = np.random.default_rng(_SEED)
    sums = np.empty((RESAMPLES, flat.shape[1]))
    rows = max(1, _AT_ONCE // num_deals)
    for first in range(0, RESAMPLES, rows):
        number = min(rows, RESAMPLES - first)
        counts = np.empty((number, num_deals))
        for k in range(number):
            drawn = generator.integers(num_deals, size=num_deals)
            counts[k] = np.bincount(drawn.astype(np.intp), minlength=num_deals)
        sums[first : first + number] = counts @ flat
    return sums.reshape(RESAMPLES, *values.shape[1:])


def bootstrap_interval(
    resampled: NDArray[np.float64], num_deals: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends (...) of the intervals of a statistic that was computed for every resample, ``resampled``
    (RESAMPLES, ...)."""
    wider = sqrt(num_deals / (num_deals - 1)) * t_quantile(num_deals - 1)
    tail = NormalDist().cdf(-wider)
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high
