"""Agents on the same deals: which one plays better, and how certain that is.

Every deal is played once for each seat; each time the line-up moves on by one seat, so that every agent holds every
hand. An agent's margin over the others is first averaged over the games of one deal. These averages are independent,
and the interval is computed from them. In this paired design the luck of the deal cancels out and does not widen the
interval.

Nothing that an agent is given tells it which games have the same deal: all rotations of many deals are played side by
side, in rows that are shuffled at every step; it sees copies; its seed (`agent_seed`) depends only on its place in the
line-up; and a user's class, given as a spec, is made once for each seat of each rotation, so that no object meets a
deal twice. With a small ``seed``, anyone who knows this code can deal the same cards. For agents that might do so, give
None: 128 random bits are then used, and the result contains them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.agent import agent_seed
from catbox_agents.arena.playing import Cast, deal_seed, play_deals, rotate_seats
from catbox_agents.arena.results import Part, Result, Totals
from catbox_agents.specs import AgentSpec, label_of
from catbox_env import Game, Vec
from catbox_env.core.checks import is_integer, shown
from catbox_env.core.game import check_game_object
from catbox_env.core.rng import seed_sequence

#: Most games played side by side. Larger batches cost memory and save little time.
CHUNK = 2048

#: Deals of the first batch. Each next batch is half as large again, up to CHUNK games, so that little is lost when a
#: comparison of slow agents is interrupted.
FIRST_DEALS = 16

#: With fewer deals an interval would say nothing. From here on its quantile is exact to 0.001.
MIN_DEALS = 10


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `evaluate`. ``result``: of the finished deals; None if there are fewer than MIN_DEALS."""

    def __init__(self, result: Result | None, num_deals: int) -> None:
        done = 0 if result is None else result.deals
        super().__init__(f"interrupted: {done} of {num_deals} deals were finished")
        self.result = result


def evaluate(
    game: Game,
    agents: Sequence[AgentSpec],
    num_deals: int,
    seed: int | None = 0,
    names: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Play ``num_deals`` deals, each with every rotation of the seats, and compare the agents.

    ``agents``: specs (see :func:`catbox_agents.make`) or agents; the last one fills the remaining seats, so
    ``[net, "heuristic"]`` is one net among heuristics. ``progress`` is called with (games played, games in total).
    The same arguments give the same result. ``seed`` seeds the deals; None draws a random one. The random numbers of
    an agent made from a spec are the same for every ``seed``; for other numbers, give an agent that you made with a
    seed of its own.

    Raises ValueError for fewer than two agents, more agents than seats, fewer than ten deals (their interval would say
    nothing), an unknown agent, a seed that is not an integer of 0 or more, an agent that plays an illegal action, and
    one whose code raises an error (`AgentError`). Ctrl-C raises `EvaluationInterrupted`, a KeyboardInterrupt that holds
    the result so far.
    """
    check_game_object(game)
    labels = _labels(agents, names)
    if len(labels) > game.num_players:
        raise ValueError(
            f"{len(labels)} agents ({', '.join(labels)}) for {game.num_players} seats: "
            f"name at most {game.num_players} agents, or play with more players"
        )
    num_deals = check_num_deals(num_deals)
    if seed is None:
        seed = secrets.randbits(128)
    elif isinstance(seed, np.random.SeedSequence):
        raise ValueError(
            f"seed={seed!r}: expected an integer of 0 or more, or None; pass the entropy of a SeedSequence"
        )
    root = seed_sequence(seed)
    seed = int(seed)
    played = catbox_env.make_game(game.id, **{**game.options, "reward": "score"})
    seats = game.num_players
    line_up = one_among_others(len(labels), seats)
    line_ups = rotate_seats(line_up)
    cast = Cast(game, agents, labels, line_ups, agent_seed)
    totals = Totals(len(labels), line_up)
    order = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(2,)))
    try:
        first = 0
        for size in _chunks(num_deals, seats):
            deals = [deal_seed(root, d) for d in range(first, first + size)]
            finished = first * seats

            def tell(vec: Vec, rows: NDArray[np.int64]) -> None:
                nonlocal finished
                if progress is not None and (ended := int(vec.terminated.sum())):
                    finished += ended
                    progress(finished, num_deals * seats)

            totals.add(Part.of(*play_deals(played, cast, line_ups, deals, order, tell), line_ups))
            first += size
    except KeyboardInterrupt:
        enough = totals.num_deals >= MIN_DEALS
        so_far = totals.result(game.id, dict(game.options), num_deals, seed, labels) if enough else None
        raise EvaluationInterrupted(so_far, num_deals) from None
    return totals.result(game.id, dict(game.options), num_deals, seed, labels)


def one_among_others(num_agents: int, num_seats: int) -> list[int]:
    """The agent in each seat (P,): one seat for each but the last, which fills the seats that are left."""
    return [min(seat, num_agents - 1) for seat in range(num_seats)]


def _chunks(num_deals: int, seats: int) -> Iterator[int]:
    """The numbers of deals played side by side; the last batch is about as large as the one before it."""
    largest = max(1, CHUNK // seats)
    size = min(FIRST_DEALS, largest)
    while num_deals > 0:
        if num_deals < 1.5 * size:
            size = num_deals
        yield size
        num_deals -= size
        size = min(size + (size + 1) // 2, largest)


def _labels(agents: Sequence[AgentSpec], names: Sequence[str] | None) -> list[str]:
    """A different name for each agent: the given names, else the spec or the class, numbered where they repeat."""
    check_agents(agents)
    if names is not None:
        return check_labels(names, len(agents))
    labels: list[str] = []
    for agent in agents:
        base = label_of(agent)
        copies = sum(other == base or other.startswith(f"{base} #") for other in labels)
        labels.append(f"{base} #{copies + 1}" if copies else base)
    return labels


def check_agents(agents: object) -> None:
    """Raise ``ValueError`` unless ``agents`` is a list of at least two."""
    if isinstance(agents, str | bytes) or not isinstance(agents, Sequence):
        raise ValueError(
            f"agents={shown(agents)}: expected a list of agents, such as ['heuristic', 'random']"
        )
    if len(agents) < 2:
        given = ", ".join(map(label_of, agents)) or "none"
        raise ValueError(f"agents: {len(agents)} ({given}); expected at least 2 to compare")


def check_labels(names: Any, number: int) -> list[str]:
    """``names`` as a list. Raises ``ValueError`` unless they are ``number`` different texts of printable characters."""
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if (
        not listed
        or not all(isinstance(name, str) and name.strip() and name.isprintable() for name in names)
        or not len(names) == len(set(names)) == number
    ):
        raise ValueError(
            f"names={shown(names)}: expected {number} different names of printable characters, one for each agent"
        )
    return list(names)


def check_num_deals(num_deals: object) -> int:
    """``num_deals`` as an int. Raises ``ValueError`` unless it is an integer of at least `MIN_DEALS`."""
    if not is_integer(num_deals):
        raise ValueError(f"num_deals={shown(num_deals)}: expected an integer, such as 1000")
    if num_deals < MIN_DEALS:
        raise ValueError(
            f"num_deals={num_deals}: expected at least {MIN_DEALS}; with fewer the interval would say nothing"
        )
    return int(num_deals)
