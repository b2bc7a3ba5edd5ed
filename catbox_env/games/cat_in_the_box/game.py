"""Cat in the Box as a ``Game``: its rules, layouts, action names, and fixed deals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.events import Event
from catbox_env.core.game import Game
from catbox_env.core.kernels import Kernels
from catbox_env.core.picture import Sheet
from catbox_env.core.state import GameState, check_own_state
from catbox_env.games.cat_in_the_box.hidden.deals import CardDraws
from catbox_env.games.cat_in_the_box.hidden.rewinding import draw_round, rewind
from catbox_env.games.cat_in_the_box.hidden.sampling import sample
from catbox_env.games.cat_in_the_box.observe.layout import observation_layout, state_layout
from catbox_env.games.cat_in_the_box.observe.observation import write_observation, write_state
from catbox_env.games.cat_in_the_box.play.board import block_cells
from catbox_env.games.cat_in_the_box.play.check_state import check_state
from catbox_env.games.cat_in_the_box.play.kernels import apply, clear_round, deal, public_action, write_mask
from catbox_env.games.cat_in_the_box.play.state import INFO, STATE, make_params, state_bounds
from catbox_env.games.cat_in_the_box.rules import Deal, Rules
from catbox_env.games.cat_in_the_box.show import events, refusals, text
from catbox_env.games.cat_in_the_box.show.picture import draw
from catbox_env.games.cat_in_the_box.show.view import View

KERNELS = Kernels(
    deal,
    apply,
    write_mask,
    write_observation,
    write_state,
    public_action,
    sample,
    check_state,
    rewind,
    draw_round,
)


class CatInTheBox(Game):
    """Cat in the Box under one ``Rules``; see ``catbox_env.cat_in_the_box_v0`` for actions and observation."""

    id = "cat_in_the_box_v0"
    kernels = KERNELS
    rules_class = Rules
    state_dtype = STATE
    info_names = INFO

    rules: Rules

    def set_up(self) -> None:
        rules = self.rules
        self.num_players = rules.num_players
        self.num_actions = rules.num_actions
        self.observation_layout = observation_layout(rules)
        self.state_layout = state_layout(rules)
        decisions = 1 + bool(rules.bids) + rules.num_tricks
        self.history_length = rules.num_rounds * rules.num_players * decisions
        # A player loses at most a point per trick; it wins one per trick, and as much again for its tokens, of which
        # it lays one per trick.
        worst, best = -rules.num_tricks * rules.num_rounds, 2 * rules.num_tricks * rules.num_rounds
        self.min_utility, self.max_utility = {
            "score": (float(worst), float(best)),
            "margin": (float(worst - best), float(best - worst)),
            "win": (0.0, 1.0),
        }[self.reward]
        if rules.bids:
            self.info_values = {"bid": rules.bids}
        self.params = make_params(rules, self.reward)
        self.state_bounds = state_bounds(rules)
        self.draws = CardDraws(rules)

    def action_to_string(self, action: int) -> str:
        return text.action_to_string(self.rules, self.check_action_id(action))

    def describe_actions(self) -> list[tuple[int, int, str]]:
        return text.describe_actions(self.rules)

    def why_illegal(self, state: np.record, action: int) -> str:
        self.check_record(state)
        return refusals.why_illegal(self.rules, state, action)

    def describe_rules(self) -> list[str]:
        return text.describe_rules(self.rules)

    def draw_text(self, state: np.record, seat: int | None) -> list[tuple[str, str]]:
        self.check_record(state)
        return text.draw_text(View.of(self.rules, state, seat))

    def tell_events(self, before: GameState, action: int, after: GameState, seat: int | None) -> list[Event]:
        return events.tell_events(self.rules, before, action, after, seat)

    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        check_own_state("state", state, self)
        return draw(self.rules, state, seat, sheet)

    def set_deal(self, state: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = Deal.of(deal)
        deal.check(self.rules)
        if deal.start_player is not None:
            state.start_player = deal.start_player
        clear_round(self.params[0], state)
        for seat, hand in enumerate(deal.hands):
            for rank in hand:
                state.hand[seat, rank - 1] += 1
                state.undealt[rank - 1] -= 1
        for rank in deal.revealed:
            state.revealed[rank - 1] += 1
            state.undealt[rank - 1] -= 1
        block_cells(self.params[0], state)

    def deal_of(self, state: np.record) -> dict[str, Any]:
        self.check_record(state)

        def ranks(counts: np.ndarray) -> list[int]:
            return (np.repeat(np.arange(self.rules.num_ranks), counts[: self.rules.num_ranks]) + 1).tolist()

        deal: dict[str, Any] = {"hands": [ranks(hand) for hand in state.hand[: self.num_players]]}
        if self.rules.revealed_cards:
            deal["revealed"] = ranks(state.revealed)
        if self.rules.start_player == "random":
            deal["start_player"] = int(state.start_player)
        return deal

    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        paradox = info["paradox"] != 0
        any_paradox = np.repeat(paradox.any(axis=1, keepdims=True), paradox.shape[1], axis=1)
        statistics = {
            "score": info["score"].astype(np.float64),
            "tricks_won": info["tricks_won"].astype(np.float64),
            "bonus": info["bonus"].astype(np.float64),
            "paradox": paradox.astype(np.float64),
            # Whether any seat caused a paradox: the same for all seats.
            "any_paradox": any_paradox.astype(np.float64),
        }
        if self.rules.bids:  # the seat that caused a paradox gets no bonus, whatever it bid
            statistics["bid_hit"] = ((info["bid"] == info["tricks_won"]) & ~paradox).astype(np.float64)
        return statistics
