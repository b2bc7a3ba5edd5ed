"""Petrify as a ``Game``: its rules, layouts, action names, and fixed deals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from catbox_env.core.events import Event
from catbox_env.core.game import Game
from catbox_env.core.kernels import Kernels
from catbox_env.core.state import GameState
from catbox_env.games.petrify.hidden import BoardDraws, sample
from catbox_env.games.petrify.observe.layout import observation_layout
from catbox_env.games.petrify.observe.observation import write_observation
from catbox_env.games.petrify.play.board import end_cells
from catbox_env.games.petrify.play.kernels import (
    apply,
    begin_play,
    check_state,
    deal,
    public_action,
    write_mask,
)
from catbox_env.games.petrify.play.state import INFO, STATE, make_params, state_bounds
from catbox_env.games.petrify.rules import Deal, Rules
from catbox_env.games.petrify.show import events, refusals, text
from catbox_env.games.petrify.show.view import View

KERNELS = Kernels(
    deal, apply, write_mask, write_observation, write_observation, public_action, sample, check_state
)


class Petrify(Game):
    """Petrify under one ``Rules``; see ``catbox_env.petrify_v0`` for actions and observation."""

    id = "petrify_v0"
    kernels = KERNELS
    rules_class = Rules
    state_dtype = STATE
    info_names = INFO

    rules: Rules
    draws: BoardDraws

    def set_up(self) -> None:
        rules = self.rules
        self.num_players = players = rules.num_players
        self.num_actions = rules.num_cells
        self.observation_layout = self.state_layout = observation_layout(rules)
        self.history_length = rules.max_moves
        # The rewards of all seats sum to 0, so that the mean of the others is -own / (players - 1).
        margin = players / (players - 1)
        self.min_utility, self.max_utility = {
            "score": (-1.0, 1.0),
            "margin": (-margin, margin),
            "win": (0.0, 1.0),
        }[self.reward]
        self.params, self.state_bounds = make_params(rules, self.reward), state_bounds(rules)
        self.draws = BoardDraws(rules, self.params)
        self.score_sum = 0.0

    def action_to_string(self, action: int) -> str:
        return f"move to {self.rules.cell_name(self.check_action_id(action))}"

    def describe_actions(self) -> list[tuple[int, int, str]]:
        return text.describe_actions(self.rules)

    def why_illegal(self, state: np.record, action: int) -> str:
        self.check_record(state)
        return refusals.why_illegal(View.of(self.rules, state), action)

    def describe_rules(self) -> list[str]:
        return text.describe_rules(self.rules)

    def draw_text(self, state: np.record, seat: int | None) -> list[tuple[str, str]]:
        self.check_record(state)
        return text.render(View.of(self.rules, state))

    def tell_events(self, before: GameState, action: int, after: GameState, seat: int | None) -> list[Event]:
        return events.tell_events(self.rules, before, action, after)

    def set_deal(self, state: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = Deal.of(deal)
        deal.check(self.rules)
        drawn = self.draws.drawn(vars(deal), True)
        state.tile[: self.num_actions] = drawn[: self.num_actions]
        state.position[: self.num_players] = drawn[self.num_actions :]
        begin_play(self.params[0], state)
        for seat in range(self.num_players):
            if not end_cells(self.params[0], state, seat):
                raise ValueError(
                    f"deal: player_{seat} has no legal end cell; a game begins only where every player would have "
                    f"one if it were to move first"
                )

    def deals_before(self, state: np.record, actions: Sequence[int]) -> Iterator[Deal]:
        return self.draws.deals_before(state, actions)

    def deal_of(self, state: np.record) -> dict[str, Any]:
        self.check_record(state)
        tiles, positions = state.tile[: self.num_actions], state.position[: self.num_players]
        return vars(self.draws.deal([*tiles.tolist(), *positions.tolist()], True)).copy()

    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        place = info["place"]
        return {"place": place.astype(np.float64), "win": (place == 0).astype(np.float64)}
