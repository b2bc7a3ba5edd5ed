"""Every deal and every legal course of play of a small round of Cat in the Box.

The engine deals and plays, as the tests against the slow reference have checked; sampling has no part in it. So it is
known which observations can come up, and which hidden cards each of them leaves possible.
"""

from collections import defaultdict
from math import factorial

import numpy as np

from catbox_env import Vec, make_game, make_vec
from catbox_env.games.cat_in_the_box.rules import Rules

#: Hidden cards as an observer names them: hands and discards of all seats, its own first, and the undealt cards.
World = tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]]


def turned(by_seat: tuple, observer: int) -> tuple:
    """What is given by seat, beginning with ``observer``."""
    return by_seat[observer:] + by_seat[:observer]


def world_of(record: np.void, rules: Rules, observer: int) -> World:
    """The hidden cards of a state, as ``observer`` names them."""
    players, ranks = rules.num_players, rules.num_ranks
    hands = tuple(map(tuple, record["hand"][:players, :ranks].tolist()))
    discards = tuple(record["discarded"][:players].tolist())
    return turned(hands, observer), turned(discards, observer), tuple(record["undealt"][:ranks].tolist())


def every_world(rules: Rules) -> dict[bytes, set[World]]:
    """The worlds that each observation of a round under ``rules`` leaves possible, before the round is over."""
    deals = make_game("cat_in_the_box_v0", rules=rules).chance_outcomes(limit=10_000)
    vec = make_vec("cat_in_the_box_v0", len(deals), seed=0, rules=rules, auto_deal=False, state=True)
    vec.set_states([vec.game.new_initial_state(seed=0, deal=deal) for deal, _ in deals])
    worlds: dict[bytes, set[World]] = defaultdict(set)
    while True:
        for seat in range(rules.num_players):
            seen = vec.observe(np.full(vec.num_envs, seat))
            for vector, record in zip(seen, vec._records, strict=True):
                worlds[vector.tobytes()].add(world_of(record, rules, seat))
        following = one_move_later(vec)
        if following is None:
            return worlds
        vec = following


def one_move_later(vec: Vec) -> Vec | None:
    """Every position that one move, no paradox, leads to, each of them once, as long as the round is not over."""
    rows, actions = np.nonzero(vec.action_mask[:, :-1])
    after = vec.take(rows)
    after.step(actions)
    positions = np.column_stack([after.current_player, after.state])
    going_on = np.flatnonzero(~after.terminated)
    each_once = np.unique(positions[going_on], axis=0, return_index=True)[1]
    return after.take(going_on[each_once]) if len(each_once) else None


def number_of_ways(world: World) -> int:
    """Ways to give the unseen cards, each told apart, the places that they have in ``world``."""
    hands, discards, undealt = world
    ways = 1
    for rank in range(len(undealt)):
        groups = [hand[rank] for hand in hands[1:]] + [undealt[rank]]
        groups += [int(card == rank) for card in discards[1:]]
        ways *= factorial(sum(groups))
        for number in groups:
            ways //= factorial(number)
    return ways
