"""Observations of Cat in the Box with one element changed, and proof that what is accepted can come up."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from catbox_env.core.game import Game, GameState
from tests.cat_in_the_box.reference import COLOURS, PHASES, ReferenceState, make_rules
from tests.cat_in_the_box.round_history import OpenPosition, RoundSearch, replay


def honest_observations(game: Game, seed: int, follows: float = 0.0) -> Iterator[np.ndarray]:
    """What a seat sees after each move of a random game; with a chance of ``follows``, the led colour is followed."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    rules = game.rules
    while not state.is_terminal():
        yield state.observation(int(rng.integers(game.num_players)))
        legal = state.legal_actions()
        if state.record.led >= 0 and rng.random() < follows:
            first = rules.num_ranks + len(rules.bids) + int(state.record.led) * rules.num_ranks
            legal = [action for action in legal if first <= action < first + rules.num_ranks] or legal
        state.apply_action(int(rng.choice(legal)))


def mutated(game: Game, observation: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy with one element changed to another value in its range; often one that more may speak for."""
    low, high = game.observation_layout.bounds()
    places = np.flatnonzero(low < high)
    if rng.random() < 0.3:
        part = game.observation_layout[str(rng.choice(["x_tokens", "hand", "tricks_won", "board"]))]
        places = np.arange(part.offset, part.offset + part.size)
    place = int(rng.choice(places))
    values = [value for value in range(int(low[place]), int(high[place]) + 1) if value != observation[place]]
    copy = observation.copy()
    copy[place] = rng.choice(values)
    return copy


def open_position(state: GameState) -> OpenPosition:
    """A state of the engine with all cards open, in words."""
    record: Any = state.record
    rules = state.game.rules
    players, ranks, colors = rules.num_players, rules.num_ranks, rules.num_colors

    def cards(counts: np.ndarray) -> list[int]:
        return [rank + 1 for rank in range(ranks) for _ in range(int(counts[rank]))]

    order = [(int(record.leader) + turn) % players for turn in range(players)]
    return OpenPosition(
        start_player=int(record.start_player),
        leader=int(record.leader),
        mover=int(record.current_player),
        phase=PHASES[record.phase],
        hands=[cards(record.hand[seat]) for seat in range(players)],
        discards=[int(card) + 1 if card >= 0 else None for card in record.discarded[:players]],
        bids=[rules.bids[bid] if bid >= 0 else None for bid in record.bids[:players]],
        revealed=cards(record.revealed),
        tokens=[
            [
                (COLOURS[color], rank + 1)
                for color in range(colors)
                for rank in range(ranks)
                if record.board[color, rank] == seat
            ]
            for seat in range(players)
        ],
        kept=[
            {COLOURS[color] for color in range(colors) if record.x_tokens[seat, color]}
            for seat in range(players)
        ],
        won=[int(won) for won in record.tricks_won[:players]],
        trick=[
            (COLOURS[record.trick_color[seat]], int(record.trick_rank[seat]) + 1)
            for seat in order
            if record.trick_color[seat] >= 0
        ],
    )


def played_to(state: GameState, seed: int = 0) -> ReferenceState | None:
    """The round of ``state`` played on the reference from its deal; None when no legal play leads to it."""
    rules = state.game.rules
    options = {name: value for name, value in state.game.options.items() if name != "reward"}
    reference = make_rules(**{**options, "bids": tuple(options["bids"]), "rounds": rules.num_rounds})
    position = open_position(state)
    declarations = RoundSearch(reference, position, seed).declarations()
    return None if declarations is None else replay(reference, position, declarations)


def shows(reference: ReferenceState, game: Game, observation: np.ndarray) -> bool:
    """Whether some seat of ``reference`` sees ``observation``; the scores of earlier rounds aside."""
    given = game.observation_layout.unpack(observation)
    for seat in range(game.num_players):
        parts = reference.observation_parts(seat)
        same = [
            np.array_equal(np.ravel(parts[name]), np.ravel(given[name])) for name in given if name != "scores"
        ]
        if sum(not equal for equal in same) <= ("rounds_left" in given and not same[-1]):
            return True
    return False
