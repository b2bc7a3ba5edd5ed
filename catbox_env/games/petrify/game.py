"""Petrify as a ``Game``: what follows from its rules, and its deals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.checks import as_deal
from catbox_env.core.kernels import Kernels
from catbox_env.games.petrify.hidden import BoardDraws, sample
from catbox_env.games.petrify.observe import observation_layout, write_observation
from catbox_env.games.petrify.play import apply, deal, write_mask
from catbox_env.games.petrify.rules import TILES, Deal, Rules
from catbox_env.games.petrify.show import Words
from catbox_env.games.petrify.state import INFO, MAX_CELLS, NONE, STATE


class Petrify(Words):
    """Petrify under one ``Rules``; see ``catbox_env.petrify_v0`` for actions and observation."""

    id = "petrify_v0"
    rules_class = Rules
    kernels = Kernels(STATE, INFO, deal, apply, write_mask, write_observation, sample=sample)
    is_perfect_information = True

    rules: Rules
    draws: BoardDraws
    _score_bounds = (-1.0, 1.0)
    _score_sum = 0.0

    def _set_up(self) -> None:
        rules, cells = self.rules, self.rules.num_cells
        columns = [rules.place_of(cell)[1] for cell in range(cells)]
        self.num_actions, self.max_game_length = cells, rules.max_moves
        self.observation_layout = observation_layout(rules)
        fewest_steps, most_steps = zip(*map(rules.steps, TILES), strict=True)
        self._own_params = {
            "width": rules.size,
            "num_cells": cells,
            "max_moves": rules.max_moves,
            "fewest_steps": fewest_steps,  # of a walk, by the tile that it begins on
            "most_steps": most_steps,
            "deck": _as_tiles(rules.deck),  # the number cards of a board without special tiles
            "num_specials": len(rules.specials),
            "specials": _as_tiles(rules.specials),  # the special tiles, in any order
            # The sets of the cells that a step to the right, and one to the left, can end on.
            "not_first_column": np.uint64(sum(1 << cell for cell in range(cells) if columns[cell] > 0)),
            "not_last_column": np.uint64(
                sum(1 << cell for cell in range(cells) if columns[cell] < rules.size - 1)
            ),
        }
        self.draws = BoardDraws(self)

    def _write_deal(self, record: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = as_deal(deal, Deal)
        deal.check(self.rules)
        stuck = self.draws.begin(record, self.draws.from_deal(vars(deal), True))
        if stuck != NONE:
            raise ValueError(
                f"deal: player_{stuck} has no legal end cell; a game begins only where every player would have one if "
                f"it were to move first"
            )

    def _read_deal(self, record: np.record) -> dict[str, Any]:
        tiles, positions = record.tile[: self.num_actions], record.position[: self.num_players]
        return vars(self.draws.to_deal([*tiles.tolist(), *positions.tolist()], True))


def _as_tiles(names: list[str]) -> list[int]:
    """The tiles of these names, filled up to the largest board."""
    return [TILES.index(name) for name in names] + [0] * (MAX_CELLS - len(names))
