"""``check_game(game)`` tests the contract of every game. Use it in the tests of a new game."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

import numpy as np

from catbox_env.core.checks import PUBLIC
from catbox_env.core.game import Game
from catbox_env.core.kernels import HIDDEN, UNUSED, no_sample
from catbox_env.core.rng import WORDS
from catbox_env.core.state import Event, GameState, last_action, last_position
from catbox_env.core.vec import Vec

Thing = TypeVar("Thing")

#: Tolerance for rounding in sums of rewards.
TOLERANCE = 1e-4
#: A state is sampled with a history once per this many actions.
HISTORY_EVERY = 7
#: Other actions to try for one that looks the same to a seat.
MAX_TRIED = 5


class ConformanceError(AssertionError):
    """A game breaks the contract of every game."""


def check_game(game: Game, num_games: int = 10, seed: int = 0) -> None:
    """Play random games and check the contract at every step; raises ``ConformanceError`` naming what is broken.

    Args:
        game: any ``Game``.
        num_games: games to play; each takes tens of milliseconds.
        seed: for the deals and the random play.
    """
    check_names(game)
    rng = np.random.default_rng(seed)
    for _ in range(num_games):
        play_checked(game, int(rng.integers(2**31)), rng)
    check_batch(game, seed)
    for num_threads in (1, 2):
        vec = Vec(game, 4, seed=seed, num_threads=num_threads, history=True, state=True)
        vec.step_random(game.max_game_length // 2 + 1, seed=seed)
        check_copies_play_on(vec, _step_some, batch_arrays, num_moves=game.max_game_length // 2 + 2)


def check_names(game: Game) -> None:
    """Check that actions have distinct names which map back to them, and games with equal rules are equal."""
    names = [game.action_to_string(action) for action in range(game.num_actions)]
    _require(len(set(names)) == len(names), "two actions have the same name")
    for action, name in enumerate(names):
        _require(game.string_to_action(name) == action, f"string_to_action({name!r}) is not {action}")
    _require(all(part.strip() for part in game.describe_rules()), "a paragraph of describe_rules is empty")
    rows = game.describe_actions()
    described = [action for first, last, _ in rows for action in range(first, last + 1)]
    _require(described == list(range(game.num_actions)), "describe_actions does not name every action once")
    _require(type(game)(rules=game.rules, reward=game.reward) == game, "a game with equal rules is not equal")
    _require(pickle.loads(pickle.dumps(game)) == game, "pickle changes the game")


def play_checked(game: Game, seed: int, rng: np.random.Generator) -> None:
    """Play one random game with every check of a state at every step."""
    state, total = game.new_initial_state(seed=seed), np.zeros(game.num_players)
    while not state.is_terminal():
        check_views(state)
        check_illegal(state, rng)
        check_copies(state)
        drawn_by = int(rng.integers(2**31))
        check_information(state, drawn_by)
        if len(state.history()) % HISTORY_EVERY == HISTORY_EVERY - 1:
            check_past(state, drawn_by)
        action = int(rng.choice(state.legal_actions()))
        before = copy.deepcopy(state)
        state.apply_action(action)
        check_events(before, action, state, drawn_by)
        _require(state.history() == [*before.history(), action], "history is not the list of actions taken")
        _require(state.round_ended or not any(state.rewards()), "a reward before the end of a round")
        total += state.rewards()
        _require(np.allclose(total, state.returns(), atol=TOLERANCE), "returns is not the sum of rewards")
    check_end(state, rng)


def check_views(state: GameState) -> None:
    """Check masks and histories, and that observations and state vectors keep within their bounds."""
    game, mover = state.game, state.current_player
    _require(0 <= mover < game.num_players, f"current_player is {mover} while the game runs")
    values = {*state.action_mask().tolist()}
    _require(1 in values and values <= {0, 1}, "the mask of the seat to move is empty or not 0 and 1")
    taken = state.history()
    for seat in range(game.num_players):
        _require(seat == mover or not state.action_mask(seat).any(), "a seat not to move has legal actions")
        check_bounds(state, seat)
        history = state.history_observation(seat)
        _require((history[len(taken) :] == UNUSED).all(), f"an unused row of the history is not {UNUSED}")
        for (relative, shown), action in zip(history, taken, strict=False):
            hidden_well = shown == action or (shown == HIDDEN and relative != 0)
            _require(
                hidden_well, f"the history shows {shown} for action {action} of relative seat {relative}"
            )


def check_bounds(state: GameState, seat: int) -> None:
    """Check that what ``seat`` sees, and the state vector, keep within the bounds of their layouts."""
    game = state.game
    for what, layout, vector in (
        ("observation", game.observation_layout, state.observation(seat)),
        ("state vector", game.state_layout, state.state_vector(seat)),
    ):
        bounded = ((vector >= layout.low) & (vector <= layout.high)).all()
        _require(bounded, f"the {what} of seat {seat} leaves the bounds of its layout")


def _everything(state: GameState) -> tuple[bytes, ...]:
    """The deals, the actions and the generator; and the position, which these do not tell if rules are broken."""
    return state.serialize(), state.state_vector().tobytes(), state.action_mask().tobytes()


def check_illegal(state: GameState, rng: np.random.Generator) -> None:
    """Check that an illegal or invalid action is rejected and changes nothing."""
    illegal = np.flatnonzero(state.action_mask() == 0)
    wrong = [-1, state.game.num_actions, None, 0.5, *(int(a) for a in rng.permutation(illegal)[:3])]
    before = _everything(state)
    for action in wrong:
        try:
            state.apply_action(action)
        except ValueError:
            _require(_everything(state) == before, f"the rejected action {action} changed the state")
        else:
            raise ConformanceError(f"{state.game.id}: illegal action {action} was accepted")


def check_copies(state: GameState) -> None:
    """Check that copies are equal and independent; a clone, unlike the others, has future deals of its own."""
    before, read = _everything(state), state.game.deserialize_state(state.serialize())
    for twin in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), read):
        _require(_everything(twin) == before, "a copy differs from the state")
        twin.apply_action(twin.legal_actions()[0])
        _require(_everything(state) == before, "a copy shares memory with the state")
    futures = []
    for clone in (state.clone(), state.clone()):
        _require(clone._records.tobytes() == state._records.tobytes(), "a clone differs from the state")
        futures.append(clone._generators.tobytes())
        clone.apply_action(clone.legal_actions()[-1])
    own = state._generators[list(WORDS)].tobytes()
    _require(len({*futures, own}) == 3, "a clone knows the future deals of the state, or of another clone")
    _require(_everything(state) == before, "cloning changed the state, or a clone shares memory with it")


def check_information(state: GameState, seed: int) -> None:
    """Check that a sampled state, which differs only in hidden information, gives the same observation and mask."""
    shown = repr(state)
    for seat in range(state.game.num_players if _can_be_sampled(state.game) else 0):
        other, seats = _sample(state, seat, seed)
        _require(bool(seats), "a sampled state does not give the observation it was sampled from")
        if seat in seats:
            same = repr(other) == shown
            _require(same, "repr of a state, the first line of its text, reveals hidden information")
        if seat == state.current_player:
            unchanged = np.array_equal(other.action_mask(), state.action_mask())
            _require(unchanged, "hidden information changes the mask of a seat")


def check_past(state: GameState, seed: int) -> None:
    """Check that a state sampled with any seat's history gives that seat the same view of the round under way."""
    if state.game.kernels.rewind is None and not state.game.is_perfect_information:
        return
    for seat in range(state.game.num_players):
        history = state.history_observation(seat)
        other, seats = _sample(state, seat, seed, history)
        since, moves = len(other.history()), len(state.history())
        in_round = history[moves - since : moves]
        found = any(np.array_equal(other.history_observation(s)[:since], in_round) for s in seats)
        _require(found, "a sampled state does not give the history it was sampled from")


def _can_be_sampled(game: Game) -> bool:
    return game.kernels.sample is not no_sample


def _sample(
    state: GameState, seat: int, seed: int, history: np.ndarray | None = None
) -> tuple[GameState, list[int]]:
    """A state sampled from what ``seat`` sees, and the seats that see this there.

    If the start player is random, these may be others.
    """
    seen = state.observation(seat)
    try:
        other = state.game.sample_state(seen, seed, history)
    except ValueError as error:
        what = "an observation" if history is None else "a history"
        raise ConformanceError(f"sample_state rejects {what} of seat {seat}: {error}") from error
    seats = range(state.game.num_players)
    return other, [seat for seat in seats if np.array_equal(other.observation(seat), seen)]


def check_events(before: GameState, action: int, after: GameState, seed: int) -> None:
    """Check that an action has well-formed events, which change no state and tell a viewer only what it sees."""
    game = before.game
    states = _everything(before), _everything(after)
    viewers = (None, PUBLIC, *range(game.num_players))
    seen = {viewer: game.events(before, action, after, viewer) for viewer in viewers}
    _require(all(seen.values()), f"action {action} has no event")
    for event in itertools.chain(*seen.values()):
        _check_form(event, game.num_players)
    _require(states == (_everything(before), _everything(after)), "events change a state")
    if after.round_ended:  # the kernel `next_round`, not `apply`, deals the next round
        _require(last_position(before, action, after).current_player < 0, "a round ends with a seat to move")
    for viewer in range(game.num_players):
        if after.round_ended:  # its cards are open to everybody now
            same = seen[viewer][1:] == seen[None][1:]
            _require(same, f"the end of a round is not the same for seat {viewer}: {seen[viewer]}")
            continue
        if not _can_be_sampled(game):
            continue
        other, seats = _sample(before, viewer, seed)
        if viewer not in seats:  # if the start player is random
            continue
        for like, then in _indistinguishable(action, after, viewer, other):
            for told in (viewer, PUBLIC):
                same = game.events(other, like, then, told) == seen[told]
                _require(same, f"an event tells seat {told} something that it does not see: {seen[told]}")


def _check_form(event: Event, num_players: int) -> None:
    sentence = event.text.strip() and not event.text.endswith(".") and "\n" not in event.text
    _require(bool(sentence), f"the text of {event} is not one sentence without a full stop")
    _require(event.kind.isidentifier(), f"the kind of {event} is not an identifier")
    _require(event.seat is None or event.seat in range(num_players), f"the seat of {event} does not exist")
    plain = None
    with suppress(TypeError):
        plain = json.loads(json.dumps(event.data))
    _require(plain == event.data, f"the data of {event} cannot be serialised as JSON")


def _indistinguishable(
    action: int, after: GameState, viewer: int, other: GameState
) -> list[tuple[int, GameState]]:
    """Actions in ``other`` that ``viewer`` cannot tell from ``action``, each with the state it leads to."""
    found, seen, legal = [], _is_seen(after, viewer), other.legal_actions()
    for candidate in [move for move in legal if move == action] if seen else legal[:MAX_TRIED]:
        then = copy.deepcopy(other)
        then.apply_action(candidate)
        same_view = np.array_equal(then.observation(viewer), after.observation(viewer))
        if same_view and _is_seen(then, viewer) == seen:
            found.append((candidate, then))
    return found


def _is_seen(after: GameState, viewer: int) -> bool:
    """Whether ``viewer`` has seen which action led to ``after``."""
    return last_action(after, viewer) != (last_action(after, None)[0], HIDDEN)  # type: ignore[index]  # there is one


def check_end(state: GameState, rng: np.random.Generator) -> None:
    """Check that nobody can move after the end, and that the returns are within their bounds."""
    game = state.game
    check_illegal(state, rng)
    read = game.deserialize_state(state.serialize())
    _require(_everything(read) == _everything(state), "an end is not copied")
    over = state.current_player == -1 and not state.action_mask().any()
    _require(over, "somebody may move after the end")
    shares = [float(x) for x in state.record.win_shares[: game.num_players]]
    _require(abs(sum(shares) - 1) < TOLERANCE, f"the shares of the win {shares} do not sum to 1")
    _require(len(state.history()) <= game.max_game_length, "a game is longer than max_game_length")
    low, high = game.min_utility, game.max_utility
    _require(
        all(low - TOLERANCE <= x <= high + TOLERANCE for x in state.returns()),
        f"returns {state.returns()} out of bounds",
    )
    for seat in range(game.num_players):
        check_bounds(state, seat)
        _require(tuple(state.info(seat)) == game.kernels.info_names, "info does not hold info_names")


def check_batch(game: Game, seed: int, num_envs: int = 5) -> None:
    """Check that every game of a batch plays like a single game with the same seed, including the games after it."""
    vec = Vec(game, num_envs, seed=seed, history=True, state=True)
    singles = [game.new_initial_state(seed=child) for child in np.random.SeedSequence(seed).spawn(num_envs)]
    rng = np.random.default_rng(seed)
    for _ in range(game.max_game_length + 5):
        for seat in range(game.num_players):
            seen = vec.observe(np.full(num_envs, seat))
            same = np.array_equal(seen, [single.observation(seat) for single in singles])
            _require(same, "observe differs between the batch and the single game")
        for i, single in enumerate(singles):
            mover = single.current_player
            expected = {
                "current_player": mover,
                "observation": single.observation(mover),
                "action_mask": single.action_mask(),
                "history": single.history_observation(mover),
                "state": single.state_vector(mover),
            }
            _check_row(vec, i, expected)
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in vec.action_mask])
        vec.step(actions)
        for i, single in enumerate(singles):
            single.apply_action(int(actions[i]))
            outcomes = {
                "rewards": np.asarray(single.rewards(), np.float32),
                "terminated": single.is_terminal(),
                "round_ended": single.round_ended,
            }
            _check_row(vec, i, outcomes)
            if single.is_terminal():
                singles[i] = game._begin(single._generators)


def _check_row(vec: Vec, row: int, expected: Mapping[str, object]) -> None:
    for name, value in expected.items():
        same = np.array_equal(getattr(vec, name)[row], value)  # type: ignore[arg-type]
        _require(same, f"{name} differs between the batch and the single game")


def check_copies_play_on(
    thing: Thing,
    play: Callable[[Thing, int], None],
    show: Callable[[Thing], Mapping[str, np.ndarray]],
    num_moves: int,
) -> None:
    """Check that copies of an object that holds games are equal to it, independent of it, and continue as it does.

    Args:
        thing: the object to copy with ``copy.deepcopy`` and ``pickle``.
        play: ``play(thing, i)`` makes move i, the same in equal objects.
        show: returns every public array of an object, by name.
        num_moves: how many moves are compared.
    """

    def shown(of: Thing) -> dict[str, bytes]:
        return {name: array.tobytes() for name, array in show(of).items()}

    twins = {"copy.deepcopy": copy.deepcopy(thing), "pickle": pickle.loads(pickle.dumps(thing))}
    course = [shown(thing)]
    for i in range(num_moves):
        play(thing, i)
        course.append(shown(thing))
    for how, twin in twins.items():
        _require(shown(twin) == course[0], f"a copy by {how} differs from the original, or shares its memory")
        for i, after in enumerate(course[1:]):
            play(twin, i)
            now = shown(twin)
            differing = ", ".join(name for name in after if after[name] != now.get(name))
            _require(now == after, f"a copy by {how} plays on differently: {differing} after move {i}")
    _require(shown(thing) == course[-1], "the original shares memory with a copy")


def batch_arrays(vec: Vec) -> dict[str, np.ndarray]:
    """Every public array of a batch that keeps histories and states, by name."""
    arrays = {
        name: value for name, value in vars(vec).items() if isinstance(value, np.ndarray) and name[0] != "_"
    }
    arrays |= {f"info {name}": array for name, array in vec.info.items()}
    return arrays | {"history": vec.history, "state": vec.state}


def _step_some(vec: Vec, number: int) -> None:
    """Make move ``number``: in each game a legal action determined by ``number`` and the row."""
    counts = vec.action_mask.sum(axis=1)
    order = np.argsort(~vec.action_mask, axis=1, kind="stable")
    vec.step(order[np.arange(vec.num_envs), (number + np.arange(vec.num_envs)) % counts])


def _require(holds: bool | np.bool_, broken: str) -> None:
    if not holds:
        raise ConformanceError(broken)
