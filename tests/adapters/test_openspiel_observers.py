"""What players of OpenSpiel see and know: observers, information states, other games in which it is the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

pyspiel = pytest.importorskip("pyspiel")

from catbox_env.adapters import openspiel  # noqa: E402  # after the check that it is there
from catbox_env.cat_in_the_box_v0 import Rules  # noqa: E402
from tests.adapters.openspiel_games import GAMES, advance  # noqa: E402

#: Two rounds with few cards, a discard each; and a game in which nothing is hidden.
SMALL = [
    "python_cat_in_the_box(players=2,num_ranks=2,num_colors=2,copies=4,hand_size=3,bids=[],revealed_cards=1,rounds=2)",
    "python_petrify(size=3,walls=3,wildcards=6)",
]


def observer_of(game: Any, public: bool = True, recall: bool = True, hidden: str = "SINGLE_PLAYER") -> Any:
    private = getattr(pyspiel.PrivateInfoType, hidden)
    return game.make_py_observer(pyspiel.IIGObservationType(public, recall, private))


def seen_so_far(state: Any, player: int) -> list[tuple]:
    """All that ``player`` has seen and done on the way to ``state``, step by step.

    When a round has ended it has also seen all cards at its beginning, and all actions.
    """
    along, seen, beginning, first = state.get_game().new_initial_state(), [], (), 0
    for step in state.full_history():
        was_chance = along.is_chance_node()
        along.apply_action(step.action)
        after = along.game_state
        actions = after.history()
        if not was_chance:
            public = int(after._log[len(actions) - 1, 2])
            seen.append((step.player, step.action if step.player == player else public))
            if after.round_ended:
                seen.append((beginning, tuple(actions[first:])))
        elif not along.is_chance_node():
            beginning, first = tuple(after.state_vector(player).tolist()), len(actions)
        if not along.is_chance_node():
            seen.append(tuple(after.observation(player).tolist()))
    return seen


@pytest.mark.parametrize("name", SMALL)
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
            recalls = observer_of(game)
            recalls.set_from(state, player)
            assert list(recalls.dict) == ["player", *core.observation_layout, "history", "opened"]
            assert recalls.tensor.tolist() == state.information_state_tensor(player)
            if state.is_chance_node():
                assert not observer.tensor[core.num_players :].any()
                assert "to be dealt" in observer.string_from(state, player)
                continue
            vector = state.game_state.observation(player)
            for part, values in core.observation_layout.unpack(vector).items():
                assert np.array_equal(observer.dict[part], values)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("hidden", ["SINGLE_PLAYER", "NONE", "ALL_PLAYERS"])
def test_a_round_is_open_to_all_when_it_has_ended_and_not_before(name: str, hidden: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(1)
    core, observer, state = game.game, observer_of(game, hidden=hidden), game.new_initial_state()
    hides = hidden != "ALL_PLAYERS" and not core.is_perfect_information
    #: Of each round: the number of actions before it; what each seat saw.
    begun: list[tuple[int, list[np.ndarray]]] = []
    while not state.is_terminal():
        was_chance = state.is_chance_node()
        advance(state, rng, 1)
        position, actions = state.game_state, state.game_state.history()
        if was_chance and not state.is_chance_node():
            begun.append((len(actions), [position.state_vector(seat) for seat in range(core.num_players)]))
        under_way = not state.is_chance_node() and not state.is_terminal()
        num_open = len(begun) - (hides and under_way)
        player = int(rng.integers(core.num_players))
        seat = 0 if hidden == "NONE" else player
        observer.set_from(state, player)
        assert not observer.dict["opened"][num_open:].any()
        for row, (_, vectors) in zip(observer.dict["opened"], begun[:num_open], strict=False):
            assert np.array_equal(row, vectors[seat])
        history, first = position.history_observation(seat), len(actions)
        if num_open < len(begun):
            first = begun[num_open][0]
        history[:first, 1] = actions[:first]
        if hidden == "NONE":
            history[first : len(actions), 1] = position._log[first : len(actions), 2]
        assert np.array_equal(observer.dict["history"], history)
        assert observer.string_from(state, player).count("began with") == num_open
    assert len(begun) == core.num_rounds


def test_public_private_and_all_hidden_information() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3)")
    state = advance(game.new_initial_state(), np.random.default_rng(0), 45)
    public = observer_of(game, hidden="NONE")
    texts = {public.string_from(state, player) for player in range(3)}
    public.set_from(state, 1)
    assert len(texts) == 1
    assert "hand" not in texts.pop()
    assert (public.dict["history"][:3, 1] == -1).all()  # nobody's discard
    record = state.game_state.record
    for recall in (False, True):  # what it was before follows from what everybody sees
        own = observer_of(game, public=False, recall=recall)
        assert list(own.dict) == ["player", "hand", "discarded"]
        own.set_from(state, 1)
        assert own.dict["hand"].tolist() == record.hand[1, :6].tolist()
    everything = observer_of(game, hidden="ALL_PLAYERS")
    everything.set_from(state, 2)
    assert everything.dict["hand"][1].tolist() == record.hand[0, :6].tolist()
    used = len(state.game_state.history())
    assert everything.dict["history"][:used, 1].tolist() == state.game_state.history()
    assert everything.string_from(state, 0) != everything.string_from(state, 1)


# Other games in which a player knows the same.


@pytest.mark.parametrize("name", GAMES)
def test_resampling_keeps_what_the_player_knows_and_changes_what_it_does_not(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(5)
    same = Counter()
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
            same[str(other) == str(state)] += 1
    assert bool(same[False]) != game.game.is_perfect_information


@pytest.mark.parametrize("moves", [0, 5])
def test_resampled_games_are_uniform(moves: int) -> None:
    """In a second round: each deal and discard as often as the cards, all distinct, can be dealt and played so."""
    rules = replace(Rules.tiny(), rounds=2)  # a deal of 6 cards; then 2 discards, 2 bids and 2 plays
    game, rng = openspiel.load("cat_in_the_box_v0", rules=rules), np.random.default_rng(3)
    round_begins = advance(game.new_initial_state(), rng, 12)
    state = advance(round_begins.clone(), rng, 6 + moves)
    known = state.information_state_string(0)
    steps = [(step.player, step.action) for step in state.full_history()]
    weights: dict[tuple, float] = {}

    def follow(node: Any, weight: float) -> None:
        """Every way to deal and play this round in which player 0 takes its actions."""
        if node.is_chance_node():
            for draw, chance in node.chance_outcomes():
                follow(node.child(draw), weight * chance)
        elif len(node.history()) < len(steps):
            mover, action_of_0 = node.current_player(), steps[len(node.history())]
            for action in node.legal_actions():
                if mover == 1 or (mover, action) == action_of_0:
                    rank = {"discard": action, "play": (action - 5) % 3}.get(
                        node.action_to_string(action).split()[0]
                    )
                    copies = 1 if rank is None else int(node.game_state.record.hand[mover, rank])
                    follow(node.child(action), weight * copies)
        elif node.information_state_string(0) == known:
            weights[tuple(node.history())] = weight

    follow(round_begins, 1.0)
    count = 2000
    found = Counter(tuple(state.resample_from_infostate(0, rng.random).history()) for _ in range(count))
    assert set(found) <= set(weights)
    assert len({round(weight, 9) for weight in weights.values()}) > 1
    expected = np.array([*weights.values()]) / sum(weights.values()) * count
    assert stats.chisquare([found[history] for history in weights], expected).pvalue > 1e-3
