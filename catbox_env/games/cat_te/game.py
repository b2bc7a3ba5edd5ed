"""Cat Te as a ``Game``: what follows from its rules, and its deals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from catbox_env.core.checks import as_deal
from catbox_env.core.kernels import Kernels
from catbox_env.games.card_draws import CardDraws
from catbox_env.games.cat_te.hidden import rewind, sample
from catbox_env.games.cat_te.observe import (
    observation_layout,
    state_layout,
    write_observation,
    write_state,
)
from catbox_env.games.cat_te.play import apply, deal, next_round, public_action, write_mask
from catbox_env.games.cat_te.rules import (
    HAND_SIZE,
    NUM_CARDS,
    NUM_TRICKS,
    Deal,
    Rules,
    card_in_deal,
    card_to_string,
)
from catbox_env.games.cat_te.show import Words
from catbox_env.games.cat_te.state import INFO, NUM_ACTIONS, STATE


class CatTe(Words):
    """Cat Te under one ``Rules``; see ``catbox_env.cat_te_v0`` for actions and observation."""

    id = "cat_te_v0"
    rules_class = Rules
    kernels = Kernels(
        state=STATE,
        info_names=INFO,
        deal=deal,
        apply=apply,
        next_round=next_round,
        write_mask=write_mask,
        write_observation=write_observation,
        write_state=write_state,
        public_action=public_action,
        sample=sample,
        rewind=rewind,
    )

    rules: Rules
    draws: CardDraws
    _score_sum = 0.0  # a side pot left at the end is returned in equal parts

    def _set_up(self) -> None:
        rules = self.rules
        self.num_actions = NUM_ACTIONS
        self.observation_layout, self.state_layout = observation_layout(rules), state_layout(rules)
        # The last trick plays itself; the side pot may be claimed once a round.
        decisions = rules.num_players * (NUM_TRICKS - 1) + bool(rules.side_pot)
        self.max_game_length = rules.num_rounds * decisions
        self._score_bounds = rules.score_bounds
        self._own_params = {
            "score_bounds": rules.score_bounds,  # of a game; each round has an equal part
            "eliminates": rules.eliminates,
            "show_factor": rules.show_factor,
            "sweep_factor": rules.sweep_factor,
            "num_rounds": rules.num_rounds,
            "dealer": rules.first_dealer,
        }
        self.draws = CardDraws(
            rules.num_players,
            HAND_SIZE,
            num_revealed=1 if rules.side_pot else 0,
            cards=range(NUM_CARDS),
            make_deal=lambda hands, upturned, _: Deal(hands, *upturned),
            revealed_in=lambda deal: [deal["upturned"]] if "upturned" in deal else [],
            card_to_string=card_to_string,
            reveal="turn up",
        )

    def _write_deal(self, record: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = as_deal(deal, Deal)._with_ids()
        deal.check(self.rules)
        if deal.dealer not in (None, record.dealer):
            raise ValueError(f"deal: dealer={deal.dealer}, but player_{record.dealer} deals this round")
        for seat, hand in enumerate(deal.hands):
            record.hand[seat] = sum(1 << int(card) for card in hand)
        if deal.upturned is not None:
            record.upturned = deal.upturned

    def _complete_deal(self, deal: Deal | Mapping[str, Any], random: np.random.Generator) -> Deal:
        deal = as_deal(deal, Deal)
        seen = [] if deal.upturned is None else [deal.upturned]
        return replace(deal, hands=self.draws.complete_hands(deal.hands, seen, random, card_in_deal))

    def _read_deal(self, record: np.record) -> dict[str, Any]:
        hands = [
            [card for card in range(NUM_CARDS) if cards >> card & 1]
            for cards in record.hand[: self.num_players].tolist()
        ]
        return {"hands": hands, **({"upturned": int(record.upturned)} if self.rules.side_pot else {})}
