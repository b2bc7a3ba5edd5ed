"""Positions to test Cat in the Box on: deal hands, play moves written in words, look at what a seat sees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import catbox_env

RED, BLUE, YELLOW, GREEN = range(4)


def start(
    hands: Sequence[Sequence[int]],
    *,
    revealed: Sequence[int] = (),
    start_player: int = 0,
    reward: str = "score",
    **options: Any,
) -> Any:
    """A game with these hands (printed ranks); hand size and revealed cards follow from them."""
    options = {
        "hand_size": len(hands[0]),
        "revealed_cards": len(revealed),
        "start_player": start_player,
        **options,
    }
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=len(hands), reward=reward, **options)
    deal = {
        "hands": [list(hand) for hand in hands],
        "revealed": list(revealed),
        "start_player": start_player,
    }
    return game.new_initial_state(seed=0, deal=deal)


def play(state: Any, *moves: str) -> Any:
    """Apply moves such as "discard 3", "bid 2", "yellow 7" (short for "play yellow 7") or "paradox".

    One string may hold several moves, separated by commas: "yellow 6, yellow 5, red 2" is a trick.
    """
    for move in [move for line in moves for move in line.split(", ")]:
        is_declaration = move.split()[0] in ("red", "blue", "yellow", "green")
        text = f"play {move}" if is_declaration else move
        state.apply_action(state.game.string_to_action(text))
    return state


def legal(state: Any) -> set[str]:
    """The legal moves in the words of `play`."""
    return {state.game.action_to_string(action).removeprefix("play ") for action in state.legal_actions()}


def view(state: Any, seat: int) -> dict[str, np.ndarray]:
    """The named parts of what a seat sees (seats in it are relative: 0 is the observer)."""
    return state.game.observation_layout.unpack(state.observation(seat))


def colours(state: Any, seat: int) -> list[int]:
    """The seat's X-tokens as [red, blue, yellow, green], 1 where it may still declare the colour."""
    return view(state, seat)["x_tokens"][0].tolist()


def tricks(state: Any) -> list[int]:
    """Tricks won, by absolute seat."""
    return view(state, 0)["tricks_won"].tolist()


def statistics(state: Any, name: str) -> list[int]:
    """One statistic of the last finished round, by absolute seat."""
    return [state.info(seat)[name] for seat in range(state.game.num_players)]
