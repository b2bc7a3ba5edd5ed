"""What the tests that run for every game know of each.

Fuzzing, the golden playthroughs and the tests of docstrings, of bad input, of sampled states and of agents read it.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from catbox_env import GAMES, Game, GameState, Vec, make_game
from catbox_env.registry import game_class
from tests.core.bad_values import FLAGS, NONE

Options = dict[str, Any]


@dataclass(frozen=True)
class GameCases:
    """The entry of one game.

    Attributes:
        values: for each option the values that random rules draw from; of ``num_players`` all that the game accepts.
            Rules that cannot be played are drawn again.
        playthroughs: for each number of players the other options and the seed of a golden playthrough.
        other_rules: options that, beside the defaults, differ in the parts of the observation. Under one of them or
            the defaults each part is there.
        conditions: for each "(only ...)" in the description of a part of the observation, whether rules meet it.
        deal: a valid deal for the default rules with ``num_players`` as low as possible; None: the game has none.
        accepted: for each option the values of ``tests.core.bad_values`` that it accepts.
        perfect_information: whether every seat sees everything.
    """

    values: Mapping[str, Sequence[Any]]
    playthroughs: Mapping[int, tuple[Options, int]]
    other_rules: Sequence[Options] = ()
    conditions: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    deal: Mapping[str, Any] | None = None
    accepted: Mapping[str, list[Any]] = field(default_factory=dict)
    perfect_information: bool = False

    def options_to_compare(self) -> list[Options]:
        """Every number of players with the default rules and with each of ``other_rules``."""
        return [
            {"num_players": players, **options}
            for players in self.values["num_players"]
            for options in ({}, *self.other_rules)
        ]


CASES: dict[str, GameCases] = {
    "cat_in_the_box_v0": GameCases(
        values={
            "num_players": [2, 3, 4, 5], "num_ranks": list(range(1, 10)), "num_colors": [2, 3, 4],
            "copies": [1, 2, 3, 4, 5], "hand_size": [None, *range(3, 14)],
            "bids": [None, (), (0,), (0, 2), (1, 3), (0, 1, 2, 3, 4, 5), tuple(range(9))],
            "bonus_max_tricks": [None, 0, 1, 2, 5], "revealed_cards": [None, 0, 1, 2, 3, 5, 8],
            "rounds": [1, 1, 2, "match"], "start_player": [0, 1, 2, 3, 4, "random"],
        },
        # Bonuses and paradoxes come up, and a full round.
        playthroughs={2: ({}, 2), 3: ({"rounds": 2}, 845), 4: ({"reward": "margin"}, 2), 5: ({"start_player": 3}, 13)},
        other_rules=[
            {"rounds": 2},
            {"bids": (), "num_colors": 3, "num_ranks": 6, "copies": 5, "rounds": "match"},
            {"rounds": 127},
        ],
        conditions={
            "(only where cards are revealed)": lambda rules: rules.revealed_cards > 0,
            "(only for more than one round)": lambda rules: rules.num_rounds > 1,
            "(only where one may be beyond -128..127)": lambda rules: max(rules.score_bounds) > 127,
        },
        deal={"hands": [[1] * 5 + [2] * 5, [3] * 5 + [4] * 5], "revealed": [5, 5, 5]},
        accepted=dict.fromkeys(("num_ranks", "hand_size", "bonus_max_tricks", "revealed_cards"), NONE)
        | {"bids": [None, [], (), np.array([])]},
    ),
    "cat_te_v0": GameCases(
        values={
            "num_players": [2, 3, 4, 5, 6], "region": ["khmer", "laos", "vietnamese"], "offsuit_faceup": [True, False],
            "instant_wins": [True, False], "instant_wins_double": [True, False], "side_pot": [0, 0, 1, 2, 40, 100],
            "rounds": [1, 1, 2, "match"], "dealer": [-1, 0, 1, 2, 3, 4, 5],
        },
        # Eliminations and a sweep; a side pot carried over, claimed and returned; a hand shown.
        playthroughs={
            2: ({"region": "vietnamese", "offsuit_faceup": False, "rounds": 2}, 0),
            3: ({"side_pot": 2, "rounds": 3}, 398),
            4: ({"rounds": 2}, 84),
            5: ({"region": "khmer", "dealer": 2, "reward": "margin"}, 0),
            6: ({"instant_wins_double": True, "side_pot": 1, "rounds": 2, "dealer": 0}, 2415),
        },
        other_rules=[
            {"side_pot": 2},
            {"rounds": 3},
            {"side_pot": 1, "rounds": "match"},
            {"side_pot": 100, "rounds": 3},
        ],
        conditions={
            "(only with a side pot)": lambda rules: rules.side_pot > 0,
            "(only for more than one round)": lambda rules: rules.num_rounds > 1,
            "(only where one may be beyond -128..127)": lambda rules: max(rules.score_bounds) > 127,
        },
        deal={"hands": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]},
        accepted=dict.fromkeys(("offsuit_faceup", "instant_wins", "instant_wins_double"), FLAGS) | {"dealer": [-1]},
    ),
    "petrify_v0": GameCases(
        values={
            "num_players": [2, 3, 4], "size": [3, 3, 3, 4, 4, 5, 6, 7, 8], "move_rule": ["exact", "up_to"],
            "teleports": [0, 1, 2, 5], "walls": [0, 1, 3], "wildcards": [0, 1, 2, 6], "zeros": [0, 1, 2, 4],
        },
        playthroughs={
            2: ({}, 185),
            3: ({"size": 5, "teleports": 3, "walls": 2, "wildcards": 2, "zeros": 1}, 20),
            4: (
                {"move_rule": "up_to", "zeros": 2, "wildcards": 1, "walls": 1, "teleports": 1, "reward": "margin"},
                304,
            ),
        },
        other_rules=[{"size": 6, "teleports": 1}],
        deal={
            "tiles": [[f"{symbol}.{color}" for symbol in (1, 2, 3, 4)] for color in (1, 2, 3, 4)],
            "positions": [0, 5],
        },
        perfect_information=True,
    ),
}  # fmt: skip


def accepted_players(game_id: str) -> list[int]:
    """Every number of players that a game accepts, with its default rules."""

    def is_accepted(players: int) -> bool:
        try:
            return bool(make_game(game_id, num_players=players))
        except ValueError:
            return False

    return list(filter(is_accepted, range(1, 20)))


def default_cases(game_id: str) -> GameCases:
    """The entry of a game that has none: every number of players that it accepts, with its default rules."""
    perfect = game_class(game_id).is_perfect_information
    return GameCases({"num_players": accepted_players(game_id)}, playthroughs={}, perfect_information=perfect)


CASES |= {game_id: default_cases(game_id) for game_id in GAMES if game_id not in CASES}


def arrays_of(vec: Vec) -> dict[str, bytes]:
    """All arrays of a batch but for its scratch."""
    arrays = {name: array for name, array in vars(vec).items() if isinstance(array, np.ndarray)}
    return {name: array.tobytes() for name, array in arrays.items() if name not in ("_actions", "_bad")}


def begun(game: Game, moves: int, seed: int) -> GameState:
    """A state after so many random moves, or before the last one of the game."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    for _ in range(moves):
        after = copy.deepcopy(state)
        after.apply_action(int(rng.choice(state.legal_actions())))
        if after.is_terminal():
            break
        state = after
    return state
