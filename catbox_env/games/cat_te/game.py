"""Cat Te as a ``Game``: its rules, layouts, action names, and fixed deals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.events import Event
from catbox_env.core.game import Game
from catbox_env.core.kernels import Kernels
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.hidden.deals import CardDraws
from catbox_env.games.cat_te.hidden.rewinding import draw_round, rewind
from catbox_env.games.cat_te.hidden.sampling import sample
from catbox_env.games.cat_te.observe.layout import observation_layout, state_layout
from catbox_env.games.cat_te.observe.observation import write_observation, write_state
from catbox_env.games.cat_te.play.check_state import check_state
from catbox_env.games.cat_te.play.kernels import apply, clear_round, deal, public_action, write_mask
from catbox_env.games.cat_te.play.state import INFO, NUM_ACTIONS, STATE, make_params, state_bounds
from catbox_env.games.cat_te.rules import NUM_CARDS, NUM_TRICKS, Deal, Rules
from catbox_env.games.cat_te.show import events, refusals, text
from catbox_env.games.cat_te.show.view import View

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


class CatTe(Game):
    """Cat Te under one ``Rules``; see ``catbox_env.cat_te_v0`` for actions and observation."""

    id = "cat_te_v0"
    kernels = KERNELS
    rules_class = Rules
    state_dtype = STATE
    info_names = INFO

    rules: Rules

    def set_up(self) -> None:
        rules = self.rules
        self.num_players = players = rules.num_players
        self.num_actions = NUM_ACTIONS
        self.observation_layout = observation_layout(rules)
        self.state_layout = state_layout(rules)
        # The last trick plays itself; the side pot may be claimed once a round.
        self.history_length = rules.num_rounds * (players * (NUM_TRICKS - 1) + bool(rules.side_pot))
        worst, best = map(float, rules.score_bounds)
        # The scores of a game sum to zero, so the others' mean is minus the own score / (players - 1).
        share = players / (players - 1)
        self.min_utility, self.max_utility = {
            "score": (worst, best),
            "margin": (worst * share, best * share),
            "win": (0.0, 1.0),
        }[self.reward]
        self.params = make_params(rules, self.reward)
        self.state_bounds = state_bounds(rules)
        self.draws = CardDraws(rules)
        self.score_sum = 0.0  # a side pot left at the end is returned in equal parts

    def action_to_string(self, action: int) -> str:
        return text.action_to_string(self.check_action_id(action))

    def describe_actions(self) -> list[tuple[int, int, str]]:
        return text.describe_actions()

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

    def set_deal(self, state: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = Deal.of(deal)
        deal.check(self.rules)
        clear_round(self.params[0], state)
        for seat, hand in enumerate(deal.hands):
            state.hand[seat] = sum(1 << int(card) for card in hand)
        if deal.upturned is not None:
            state.upturned = deal.upturned

    def deal_of(self, state: np.record) -> dict[str, Any]:
        self.check_record(state)
        hands = [
            [card for card in range(NUM_CARDS) if int(cards) >> card & 1]
            for cards in state.hand[: self.num_players]
        ]
        return {"hands": hands, **({"upturned": int(state.upturned)} if self.rules.side_pot else {})}

    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: info[name].astype(np.float64) for name in INFO}
