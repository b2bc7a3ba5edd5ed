"""What players of OpenSpiel see and know: observers, information states, other games in which it is the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from tests.adapters.openspiel_games import GAMES, advance  # noqa: E402  # after the check that it is there


def seen_so_far(state: Any, player: int) -> list[tuple]:
    """All that ``player`` has seen and done on the way to ``state``, step by step."""
    game = state.get_game()
    along, seen = game.new_initial_state(), []
    for step in state.full_history():
        if not along.is_chance_node():
            core = along.play.state
            shown = step.action
            if step.player != player:
                shown = int(public_action(core, step.action))
            seen.append((step.player, shown))
        along.apply_action(step.action)
        if not along.is_chance_node():
            seen.append(tuple(along.play.state.observation(player).tolist()))
    return seen


def public_action(core: Any, action: int) -> int:
    after = core.clone()
    after.apply_action(action)
    return int(after.log[after.record.num_moves - 1, 2])


@pytest.mark.parametrize("name", [
    "python_cat_in_the_box(players=2,num_ranks=2,num_colors=2,copies=4,hand_size=3,bids=[],revealed_cards=1,rounds=2)",
    "python_petrify(size=3,walls=3,wildcards=6)",
])  # fmt: skip
def test_an_information_state_is_all_that_the_player_has_seen_and_done(name: str) -> None:
    """Strings and tensors differ exactly where what was seen differs, over many games of few cards."""
    game, rng = pyspiel.load_game(name), np.random.default_rng(0)
    by_string: dict[str, set] = {}
    by_tensor: dict[bytes, set] = {}
    by_seen: dict[tuple, set] = {}
    for _ in range(150):
        state = advance(game.new_initial_state(), rng, int(rng.integers(10, 30)))
        if state.is_chance_node() or state.is_terminal():
            continue
        for player in range(2):
            seen = (player, *seen_so_far(state, player))
            text = state.information_state_string(player)
            tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
            by_string.setdefault(text, set()).add(seen)
            by_tensor.setdefault(tensor, set()).add(seen)
            by_seen.setdefault(seen, set()).add((text, tensor))
    assert len(by_seen) >= 40
    for table in (by_string, by_tensor, by_seen):
        assert all(len(each) == 1 for each in table.values())


@pytest.mark.parametrize("name", GAMES)
def test_the_observer_has_named_tensors_and_shows_nobody_elses_cards(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(3)
    core = game.game
    for moves in (0, 45, 60):
        state = advance(game.new_initial_state(), rng, moves)
        for player in range(core.num_players):
            observer = game.make_py_observer()
            observer.set_from(state, player)
            assert list(observer.dict) == ["player", *core.observation_layout]
            assert observer.tensor.tolist() == state.observation_tensor(player)
            assert observer.dict["player"].tolist() == [float(p == player) for p in range(core.num_players)]
            if state.is_chance_node():
                assert not observer.tensor[core.num_players :].any()
                assert "to be dealt" in observer.string_from(state, player)
                continue
            vector = state.play.state.observation(player)
            for part, values in core.observation_layout.unpack(vector).items():
                assert np.array_equal(observer.dict[part], values)
            recalls = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
            recalls.set_from(state, player)
            assert recalls.tensor.tolist() == state.information_state_tensor(player)
            assert np.array_equal(recalls.dict["history"], state.play.state.history_observation(player))


def test_public_private_and_all_hidden_information() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3)")
    state = advance(game.new_initial_state(), np.random.default_rng(0), 45)
    hidden = pyspiel.PrivateInfoType

    def observer(public: bool, private: Any, recall: bool = False) -> Any:
        return game.make_py_observer(pyspiel.IIGObservationType(public, recall, private))

    public = observer(True, hidden.NONE, True)
    texts = {public.string_from(state, player) for player in range(3)}
    public.set_from(state, 1)
    assert len(texts) == 1
    assert "hand" not in texts.pop()
    assert (public.dict["history"][:3, 1] == -1).all()  # nobody's discard
    own = observer(False, hidden.SINGLE_PLAYER)
    assert list(own.dict) == ["player", "hand", "discarded"]
    own.set_from(state, 1)
    assert own.dict["hand"].tolist() == state.play.state.record.hand[1, :6].tolist()
    everything = observer(True, hidden.ALL_PLAYERS, True)
    everything.set_from(state, 2)
    assert everything.dict["hand"][1].tolist() == state.play.state.record.hand[0, :6].tolist()
    used = len(state.play.state.history())
    assert everything.dict["history"][:used, 1].tolist() == state.play.state.history()
    assert everything.string_from(state, 0) != everything.string_from(state, 1)


@pytest.mark.parametrize("name", GAMES)
def test_resampling_keeps_what_the_player_knows_and_changes_what_it_does_not(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(5)
    hands = Counter()
    for _ in range(10):
        state = advance(game.new_initial_state(), rng, game.game.draws.length)
        state = advance(state, rng, int(rng.integers(3, game.max_game_length())))
        if state.is_chance_node() or state.is_terminal():
            continue
        for player in range(game.num_players()):
            other = state.resample_from_infostate(player, rng.random)
            assert other.information_state_string(player) == state.information_state_string(player)
            assert other.information_state_tensor(player) == state.information_state_tensor(player)
            assert other.observation_string(player) == state.observation_string(player)
            assert len(other.history()) == len(state.history())
            assert (other.current_player(), other.returns()) == (state.current_player(), state.returns())
            assert game.deserialize_state(other.serialize()).history() == other.history()
            if player == state.current_player():
                assert other.legal_actions() == state.legal_actions()
            hands[str(other) == str(state)] += 1
    assert hands[False] or game.game.is_perfect_information
