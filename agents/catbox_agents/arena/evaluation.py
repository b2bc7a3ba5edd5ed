"""Agents on the same deals: which one plays better, and how certain that is.

Every deal is played once for each seat; each time the line-up rotates by one seat, so that every agent holds every
hand. An agent's margin over the others is first averaged over the games of one deal. These averages are independent,
and the interval is computed from them. In this paired design the luck of the deal cancels out and does not widen the
interval.

An agent cannot tell which games have the same deal: all rotations of many deals are played side by side, in rows that
are shuffled at every step; it gets copies; its seed (`agent_seed`) depends only on its place in the line-up; and a
user's class, given as a spec, is made once for each seat of each rotation, so that no object sees a deal twice. With a
small ``seed``, anyone who knows this code can deal the same cards. For agents that might do so, give None: the seed is
then 128 random bits, which the result contains.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import agent_seed
from catbox_agents.arena.deal_sets import deal_seed, seed_of_deals
from catbox_agents.arena.playing import play_deals
from catbox_agents.arena.results import Block, Result, table_result
from catbox_agents.arena.setup import MIN_DEALS, check_agents, check_labels, check_num_deals, played_game
from catbox_agents.arena.tables import Cast, rotate_seats
from catbox_agents.specs import AgentSpec, label_of
from catbox_env import Game, Vec
from catbox_env.core.game import check_game_object

#: Most games played side by side. Larger batches cost memory and save little time.
CHUNK = 2048

#: Deals of the first batch. Each next batch is 1.5 times as large, up to CHUNK games, so that little is lost when a
#: comparison of slow agents is interrupted.
FIRST_DEALS = 16


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

    ``agents``: specs (see `catbox_agents.make`) or agents; the last one fills the remaining seats, so
    ``[net, "heuristic"]`` is one net among heuristics. ``progress`` is called with (games played, games in total).
    The same arguments give the same result. ``seed`` seeds the deals; None draws a random one. An agent made from a
    spec has the same random numbers for every ``seed``; for other numbers, give an agent made with your own seed.

    Raises ValueError for fewer than two agents, more agents than seats, fewer than ten deals (their interval would be
    meaningless), an unknown agent, a seed that is not an integer of 0 or more, an agent that plays an illegal action,
    and one whose code raises an error (`AgentError`). Ctrl-C raises `EvaluationInterrupted`, a KeyboardInterrupt that
    holds the result so far.
    """
    check_game_object(game)
    labels = _labels(agents, names)
    if len(labels) > game.num_players:
        raise ValueError(
            f"{len(labels)} agents ({', '.join(labels)}) for {game.num_players} seats: "
            f"name at most {game.num_players} agents, or play with more players"
        )
    num_deals = check_num_deals(num_deals)
    seed = secrets.randbits(128) if seed is None else seed_of_deals(None, seed)[0]
    root = np.random.SeedSequence(seed)
    seats = game.num_players
    line_up = [min(seat, len(labels) - 1) for seat in range(seats)]
    line_ups = rotate_seats(line_up)
    cast = Cast(game, agents, labels, line_ups, agent_seed)
    order = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(2,)))
    blocks: list[Block] = []
    first = 0

    def result() -> Result:
        about = {"game": game.id, "options": dict(game.options), "deals_planned": num_deals, "seed": seed}
        return table_result(blocks, line_up, seats, labels, **about)

    try:
        for size in _chunks(num_deals, seats):
            deals = [deal_seed(root, number) for number in range(first, first + size)]
            finished = first * seats

            def tell(vec: Vec, rows: NDArray[np.int64]) -> None:
                nonlocal finished
                if progress is not None and (ended := int(vec.terminated.sum())):
                    finished += ended
                    progress(finished, num_deals * seats)

            blocks.append(
                Block.of(*play_deals(played_game(game), cast, line_ups, deals, order, tell), line_ups)
            )
            first += size
    except KeyboardInterrupt:
        enough = sum(block.num_deals for block in blocks) >= MIN_DEALS
        raise EvaluationInterrupted(result() if enough else None, num_deals) from None
    return result()


def _chunks(num_deals: int, seats: int) -> Iterator[int]:
    """The number of deals in each batch; the last batch is about as large as the one before it."""
    largest = max(1, CHUNK // seats)
    size = min(FIRST_DEALS, largest)
    while num_deals > 0:
        if num_deals < 1.5 * size:
            size = num_deals
        yield size
        num_deals -= size
        size = min(size + (size + 1) // 2, largest)


def _labels(agents: Sequence[AgentSpec], names: Sequence[str] | None) -> list[str]:
    """A unique name for each agent: the given names, else the spec or the class, numbered if repeated."""
    check_agents(agents)
    if names is not None:
        return check_labels(names, len(agents))
    labels: list[str] = []
    for agent in agents:
        base = label_of(agent)
        copies = sum(other == base or other.startswith(f"{base} #") for other in labels)
        labels.append(f"{base} #{copies + 1}" if copies else base)
    return labels
