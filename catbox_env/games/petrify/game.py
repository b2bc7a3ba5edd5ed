"""Petrify as a ``Game``: its rules, sizes, parameters and deals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.game import Game
from catbox_env.core.kernels import CORE_PARAMS, Kernels, new_params, offset_dtype, record_dtype
from catbox_env.games.petrify.hidden import BoardDraws, sample
from catbox_env.games.petrify.observe import observation_layout, write_observation
from catbox_env.games.petrify.play import apply, deal, write_mask
from catbox_env.games.petrify.rules import TILES, Deal, Rules
from catbox_env.games.petrify.state import INFO, MAX_CELLS, NONE, STATE

PARAMS = record_dtype(
    [
        *CORE_PARAMS,
        ("width", np.int64),  # rows and columns
        ("num_cells", np.int64),
        ("max_moves", np.int64),  # most actions in a game
        ("fewest_steps", np.int64, (len(TILES),)),  # of a walk, by the tile that it begins on
        ("most_steps", np.int64, (len(TILES),)),
        ("deck", np.int8, (MAX_CELLS,)),  # the number cards of a board without special tiles
        ("num_specials", np.int64),
        ("specials", np.int8, (MAX_CELLS,)),  # the special tiles, in any order
        ("not_first_column", np.uint64),  # set of the cells that a step to the right can end on
        ("not_last_column", np.uint64),  # set of the cells that a step to the left can end on
        ("at", offset_dtype(observation_layout(Rules()))),
    ]
)


class Petrify(Game):
    """Petrify under one ``Rules``; see ``catbox_env.petrify_v0`` for actions and observation."""

    id = "petrify_v0"
    rules_class = Rules
    kernels = Kernels(STATE, INFO, deal, apply, write_mask, write_observation, sample=sample)
    is_perfect_information = True
    show = "catbox_env.games.petrify.show"

    rules: Rules
    draws: BoardDraws

    def _set_up(self) -> None:
        rules, players, cells = self.rules, self.rules.num_players, self.rules.num_cells
        self.num_players, self.num_actions = players, cells
        self.observation_layout = observation_layout(rules)
        self.max_game_length = rules.max_moves
        # The rewards of all seats sum to 0, so that the mean of the others is -own / (players - 1).
        self._score_sum, margin = 0.0, players / (players - 1)
        self.min_utility, self.max_utility = {
            "score": (-1.0, 1.0),
            "margin": (-margin, margin),
            "win": (0.0, 1.0),
        }[self.reward]
        fewest_steps, most_steps = zip(*map(rules.steps, TILES), strict=True)
        self.params = new_params(
            PARAMS,
            num_players=players,
            num_actions=cells,
            reward=self.reward,
            width=rules.size,
            num_cells=cells,
            max_moves=rules.max_moves,
            fewest_steps=fewest_steps,
            most_steps=most_steps,
            deck=_as_tiles(rules.deck),
            num_specials=len(rules.specials),
            specials=_as_tiles(rules.specials),
            not_first_column=sum(1 << cell for cell in range(cells) if cell % rules.size > 0),
            not_last_column=sum(1 << cell for cell in range(cells) if (cell + 1) % rules.size > 0),
            at=self.observation_layout.offsets(),
        )
        self.draws = BoardDraws(rules, self.params)

    def _write_deal(self, record: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = Deal.of(deal)
        deal.check(self.rules)
        stuck = self.draws.begin(record, self.draws.drawn(vars(deal), True))
        if stuck != NONE:
            raise ValueError(
                f"deal: player_{stuck} has no legal end cell; a game begins only where every player would have one if "
                f"it were to move first"
            )

    def _read_deal(self, record: np.record) -> dict[str, Any]:
        tiles, positions = record.tile[: self.num_actions], record.position[: self.num_players]
        return vars(self.draws.deal([*tiles.tolist(), *positions.tolist()], True))


def _as_tiles(names: list[str]) -> list[int]:
    """The tiles of these names, filled up to the largest board."""
    return [TILES.index(name) for name in names] + [0] * (MAX_CELLS - len(names))
