"""Cat in the Box as a ``Game``: what follows from its rules, and its deals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from catbox_env.core.checks import as_deal
from catbox_env.core.kernels import Kernels
from catbox_env.games.card_draws import CardDraws
from catbox_env.games.cat_in_the_box.hidden import rewind, sample
from catbox_env.games.cat_in_the_box.observe import (
    observation_layout,
    state_layout,
    write_observation,
    write_state,
)
from catbox_env.games.cat_in_the_box.play import (
    apply,
    block_cells,
    clear_round,
    deal,
    next_round,
    public_action,
    write_mask,
)
from catbox_env.games.cat_in_the_box.rules import MAX_BIDS, Deal, Rules
from catbox_env.games.cat_in_the_box.show import Words
from catbox_env.games.cat_in_the_box.state import INFO, NONE, STATE


class CatInTheBox(Words):
    """Cat in the Box under one ``Rules``; see ``catbox_env.cat_in_the_box_v0`` for actions and observation."""

    id = "cat_in_the_box_v0"
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

    def _set_up(self) -> None:
        rules = self.rules
        self.num_actions = rules.num_actions
        self.observation_layout, self.state_layout = observation_layout(rules), state_layout(rules)
        decisions = 1 + bool(rules.bids) + rules.num_tricks
        self.max_game_length = rules.num_rounds * rules.num_players * decisions
        self._score_bounds = rules.score_bounds
        self._own_params = {
            "first_play": rules.first_play,
            "score_bounds": rules.score_bounds,  # of a game; each round has an equal part
            "num_bids": len(rules.bids),
            "bids": [*rules.bids, *[0] * (MAX_BIDS - len(rules.bids))],
            "num_tricks": rules.num_tricks,
            "num_rounds": rules.num_rounds,
            "start_player": NONE if rules.start_player == "random" else rules.start_player,
        }
        self.draws = CardDraws(
            rules.num_players,
            rules.hand_size,
            rules.revealed_cards,
            cards=range(1, rules.num_ranks + 1),
            copies=rules.copies,
            random_start=rules.start_player == "random",
            make_deal=Deal,
            revealed_in=lambda deal: deal.get("revealed", []),
        )

    def _write_deal(self, record: np.record, deal: Deal | Mapping[str, Any]) -> None:
        deal = as_deal(deal, Deal)
        deal.check(self.rules)
        if deal.start_player is not None:
            if record.rounds_ended > 0 and deal.start_player != record.start_player:
                raise ValueError(
                    f"deal: start_player={deal.start_player}, but player_{record.start_player} starts this round; "
                    "only that of the first round can be given"
                )
            record.start_player = deal.start_player
        clear_round(self.params[0], record)
        for seat, hand in enumerate(deal.hands):
            for rank in hand:
                record.hand[seat, rank - 1] += 1
                record.undealt[rank - 1] -= 1
        for rank in deal.revealed:
            record.revealed[rank - 1] += 1
            record.undealt[rank - 1] -= 1
        block_cells(self.params[0], record)

    def _complete_deal(self, deal: Deal | Mapping[str, Any], random: np.random.Generator) -> Deal:
        deal = as_deal(deal, Deal)
        return replace(deal, hands=self.draws.complete_hands(deal.hands, deal.revealed, random))

    def _read_deal(self, record: np.record) -> dict[str, Any]:
        def ranks(counts: np.ndarray) -> list[int]:
            return (np.repeat(np.arange(self.rules.num_ranks), counts[: self.rules.num_ranks]) + 1).tolist()

        deal: dict[str, Any] = {"hands": [ranks(hand) for hand in record.hand[: self.num_players]]}
        if self.rules.revealed_cards:
            deal["revealed"] = ranks(record.revealed)
        if self.rules.start_player == "random":
            deal["start_player"] = int(record.start_player)
        return deal
