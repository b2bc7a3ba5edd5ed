"""What a seat sees, in words: all of it, nothing else, and not too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents.text import parse_action, text_observation
from catbox_app.commands.prompt import count_tokens, has_tokenizer
from catbox_env import Game, GameState
from tests.agents.hidden_pairs import alike

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2, "start_player": "random"}),
    ("cat_in_the_box_v0", {"num_players": 4, "reward": "margin"}),
    ("cat_te_v0", {"num_players": 3, "rounds": 2, "side_pot": 1, "dealer": -1}),
    ("cat_te_v0", {"num_players": 4, "region": "khmer"}),
    ("petrify_v0", {"num_players": 3, "size": 5, "teleports": 3, "walls": 2, "zeros": 1}),
]

TITLES = {"cat_in_the_box_v0": "Cat in the Box", "cat_te_v0": "Cat Te", "petrify_v0": "Petrify"}


def positions(game: Game, seed: int) -> Iterator[GameState]:
    """The positions of a random game, before its end."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    while not state.is_terminal():
        yield state.clone()
        state.apply_action(int(rng.choice(state.legal_actions())))


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_a_text_holds_what_the_seat_sees_and_needs_only_its_observation(
    game_id: str, options: dict[str, Any]
) -> None:
    game = catbox_env.make_game(game_id, **options)
    for state in positions(game, seed=1):
        for seat in range(game.num_players):
            seen, history = state.observation(seat), state.history_observation(seat)
            text = text_observation(state, seat, history=history)
            assert text_observation(seen, seat, game=game, history=history) == text
            drawn = "\n".join(line.rstrip() for line in game.render_text(state, seat).splitlines())
            assert f"\n{drawn}\n" in text
            assert text.startswith(
                f"You are player_{seat} of {game.num_players} in a game of {TITLES[game_id]}."
            )
            assert ("It is your turn" in text) == (seat == state.current_player)
        mover = state.current_player
        assert text_observation(state) == text_observation(state, mover)
        if options.get("start_player") != "random":  # else a seat cannot tell which it is
            assert text_observation(state.observation(mover), game=game) == text_observation(state)


def check_worlds(game: Game, pairs: int) -> None:
    """So many pairs of games that differ in what is hidden from a seat, and only in that, are the same to it in
    words: the position, what has happened, and why an action is illegal."""
    found, seed = 0, 0
    while found < pairs:
        seed += 1
        for state in positions(game, seed):
            for seat in range(game.num_players):
                world = alike(state, seat, seed)
                if np.array_equal(world.state_vector(), state.state_vector()):
                    continue
                found += 1
                for form in ("long", "short"):
                    texts = [
                        text_observation(one, seat, form=form, history=one.history_observation(seat))
                        for one in (state, world)
                    ]
                    assert texts[0] == texts[1]
                if seat == state.current_player:
                    listed = [text_observation(one, seat, list_actions=True) for one in (state, world)]
                    assert listed[0] == listed[1]
                    for action in range(game.num_actions):
                        name = game.action_to_string(action)
                        assert parse_action(name, state) == parse_action(name, world)


HIDING: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 2}),
    ("cat_in_the_box_v0", {"num_players": 5}),
    ("cat_te_v0", {"num_players": 3, "side_pot": 1}),
    ("cat_te_v0", {"num_players": 6, "region": "khmer"}),
]


@pytest.mark.parametrize(("game_id", "options"), HIDING)  # Petrify hides nothing
def test_worlds_that_a_seat_cannot_tell_apart_are_the_same_in_words(
    game_id: str, options: dict[str, Any]
) -> None:
    check_worlds(catbox_env.make_game(game_id, **options), pairs=12)


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "options"), HIDING)
def test_so_are_a_thousand_of_them(game_id: str, options: dict[str, Any]) -> None:
    check_worlds(catbox_env.make_game(game_id, **options), pairs=250)


def test_a_history_tells_actions_as_the_seat_saw_them() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    state = game.new_initial_state(seed=2)
    start = text_observation(state, 1, history=state.history_observation(1))
    assert "\nActions so far (seat: action): none.\n" in start
    actions = []
    for _ in range(7):  # three discards, three bids, a card
        actions.append(state.legal_actions()[-1])
        state.apply_action(actions[-1])
    names = [game.action_to_string(action) for action in actions]
    text = text_observation(state, 1, history=state.history_observation(1))
    (line,) = [line for line in text.splitlines() if line.startswith("Actions so far")]
    assert line == (
        f"Actions so far (seat: action): 0: hidden; 1: {names[1]}; 2: hidden; 0: {names[3]}; 1: {names[4]}; "
        f"2: {names[5]}; 0: {names[6]}."
    )


def test_the_long_form_has_rules_reward_and_actions_and_both_say_how_to_answer() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4, reward="margin")
    state = game.new_initial_state(seed=1)
    long, short = (text_observation(state, form=form) for form in ("long", "short"))
    assert all(f"- {paragraph}\n" in long for paragraph in game.describe_rules())
    assert "Your reward: your score minus the mean of the others' scores." in long
    assert "Actions: discard 1 .. discard 8, bid 1 .. bid 4, play red 1 .. play red 8, " in long
    assert "Rules" not in short
    for text in (long, short):
        assert text.endswith('It is your turn. End your answer with the action that you choose, as JSON like this: '
                             '{"action": "play blue 3"}')  # fmt: skip
    listed = text_observation(state, form="short", list_actions=True)
    names = ", ".join(map(game.action_to_string, state.legal_actions()))
    assert listed == f"{short}\nLegal actions: {names}."


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0"])
def test_with_five_players_the_long_form_is_within_1200_tokens_and_the_short_one_within_400(
    game_id: str,
) -> None:
    assert has_tokenizer(), "the group dev installs bpe-openai"
    game = catbox_env.make_game(game_id, num_players=5)
    for state in positions(game, seed=1):
        history = state.history_observation(state.current_player)
        assert count_tokens(text_observation(state, history=history)) <= 1200
        assert count_tokens(text_observation(state, form="short")) <= 400


def test_positions_that_are_none_are_refused() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    state = game.new_initial_state(seed=1)
    seen = state.observation(1)
    with pytest.raises(ValueError, match="give the game of this observation"):
        text_observation(seen)
    with pytest.raises(ValueError, match="not an observation of the seat to move; give its seat"):
        text_observation(seen, game=game)
    with pytest.raises(ValueError, match="not an observation of player_2"):
        text_observation(seen, 2, game=game)
    with pytest.raises(ValueError, match="seat=3: expected a seat"):
        text_observation(seen, 3, game=game)
    with pytest.raises(ValueError, match="form='brief': expected one of 'long', 'short'"):
        text_observation(state, form="brief")
    with pytest.raises(ValueError, match=r"history=.*expected integers"):
        text_observation(state, history=np.zeros(3, np.int8))
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="the game is over"):
        text_observation(state, 0)
