"""Cat Te as a ``Game``: its rules, sizes, parameters and deals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.game import Game
from catbox_env.core.kernels import CORE_PARAMS, Kernels, new_params, offset_dtype, record_dtype
from catbox_env.games.cat_te.hidden import CardDraws, rewind, sample
from catbox_env.games.cat_te.observe import (
    observation_layout,
    state_layout,
    write_observation,
    write_state,
)
from catbox_env.games.cat_te.play import apply, deal, public_action, write_mask
from catbox_env.games.cat_te.rules import NUM_CARDS, NUM_TRICKS, Deal, Rules
from catbox_env.games.cat_te.state import INFO, NUM_ACTIONS, STATE

PARAMS = record_dtype(
    [
        *CORE_PARAMS,
        ("eliminates", np.int64),  # 1: laos and vietnamese
        ("offsuit_faceup", np.int64),
        ("instant_wins", np.int64),
        ("show_factor", np.int64),  # antes that each loser of an instant win pays
        ("sweep_factor", np.int64),  # antes that each loser to a player with all four early tricks pays
        ("side_pot", np.int64),  # antes of each player to the side pot in a round
        ("num_rounds", np.int64),
        ("dealer", np.int64),  # seat that deals the first round
        ("at", offset_dtype(observation_layout(Rules()))),
        ("state_at", offset_dtype(state_layout(Rules()))),
    ]
)


class CatTe(Game):
    """Cat Te under one ``Rules``; see ``catbox_env.cat_te_v0`` for actions and observation."""

    id = "cat_te_v0"
    rules_class = Rules
    kernels = Kernels(
        STATE, INFO, deal, apply, write_mask, write_observation, write_state, public_action, sample, rewind
    )
    show = "catbox_env.games.cat_te.show"

    rules: Rules
    _score_sum = 0.0  # a side pot left at the end is returned in equal parts

    def _set_up(self) -> None:
        rules = self.rules
        self.num_players = players = rules.num_players
        self.num_actions = NUM_ACTIONS
        self.observation_layout, self.state_layout = observation_layout(rules), state_layout(rules)
        # The last trick plays itself; the side pot may be claimed once a round.
        self.max_game_length = rules.num_rounds * (players * (NUM_TRICKS - 1) + bool(rules.side_pot))
        worst, best = map(float, rules.score_bounds)
        # The scores of a game sum to zero, so the others' mean is minus the own score / (players - 1).
        share = players / (players - 1)
        self.min_utility, self.max_utility = {
            "score": (worst, best),
            "margin": (worst * share, best * share),
            "win": (0.0, 1.0),
        }[self.reward]
        self.params = new_params(
            PARAMS,
            num_players=players,
            num_actions=NUM_ACTIONS,
            reward=self.reward,
            eliminates=rules.eliminates,
            offsuit_faceup=rules.offsuit_faceup,
            instant_wins=rules.instant_wins,
            show_factor=rules.show_factor,
            sweep_factor=rules.sweep_factor,
            side_pot=rules.side_pot,
            num_rounds=rules.num_rounds,
            dealer=rules.first_dealer,
            at=self.observation_layout.offsets(),
            state_at=self.state_layout.offsets(),
        )
        self.draws = CardDraws(rules)

    def _write_deal(self, record: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = Deal.of(deal)
        deal.check(self.rules)
        for seat, hand in enumerate(deal.hands):
            record.hand[seat] = sum(1 << int(card) for card in hand)
        if deal.upturned is not None:
            record.upturned = deal.upturned

    def _read_deal(self, record: np.record) -> dict[str, Any]:
        hands = [
            [card for card in range(NUM_CARDS) if int(cards) >> card & 1]
            for cards in record.hand[: self.num_players]
        ]
        return {"hands": hands, **({"upturned": int(record.upturned)} if self.rules.side_pot else {})}
