"""Games as data: every decision as its seat saw it, and rewards that sum to what was paid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import DEAL_SETS, Agent
from catbox_agents.arena.seatings import deal_seed
from catbox_agents.dataset import Chunk, GameData, game_data, play_games, read_games, write_dataset
from catbox_env import Game
from tests.agents.arena_agents import Middle, spec
from tests.agents.test_arena_records import recorded
from tests.app.table import refused
from tests.small_games import game_for

GAMES = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2, "start_player": "random"}),
    ("cat_te_v0", {"num_players": 3, "region": "khmer", "side_pot": 1}),
    ("petrify_v0", {"num_players": 4, "size": 4}),
]


def check(game: Game, chunk: Chunk) -> None:
    """Play every game of ``chunk`` again from its deals and actions alone, and compare."""
    assert len(chunk.episodes()) > len(chunk.deals)
    paid = np.zeros_like(chunk.returns)
    np.add.at(paid, (chunk.game, chunk.seat), chunk.reward)
    decided = np.zeros(paid.shape, bool)
    decided[chunk.game, chunk.seat] = True
    assert paid[decided] == pytest.approx(chunk.returns[decided])
    assert not paid[~decided].any()
    for number, deals in enumerate(chunk.deals):
        own = np.flatnonzero(chunk.game == number)
        state = game.new_initial_state(seed=0, deal=deals)
        rounds = iter(json.loads(deals)[1:])
        pending: dict[int, int] = {}
        before = np.zeros(game.num_players)  # paid before a seat's first decision
        received = np.zeros(len(chunk.reward))
        for row in own[np.argsort(chunk.move[own])]:
            seat = state.current_player
            assert chunk.seat[row] == seat
            assert (chunk.observation[row] == state.observation(seat)).all()
            assert (chunk.action_mask[row] == state.action_mask()).all()
            received[row], before[seat] = before[seat], 0
            pending[seat] = row
            state.apply_action(int(chunk.action[row]))
            for other, reward in enumerate(state.rewards()):
                if other in pending:
                    received[pending[other]] += reward
                else:
                    before[other] += reward
            if state.round_ended and not state.is_terminal():
                game.set_deal(state, next(rounds))
        assert state.is_terminal()
        assert game.replay(deals, state.history(), seed=1).returns() == state.returns()
        assert chunk.reward[own] == pytest.approx(received[own])
        assert chunk.returns[number] == pytest.approx(state.returns())
        for seat in range(game.num_players):
            assert (chunk.last[number, seat] == state.observation(seat)).all()


@pytest.mark.parametrize(("game_id", "options"), GAMES)
@pytest.mark.parametrize("source", ["played", "recorded"])
def test_rewards_and_observations_are_those_of_the_game(
    tmp_path: Path, game_id: str, options: dict[str, Any], source: str
) -> None:
    game = catbox_env.make_game(game_id, **options)
    if source == "played":
        data = play_games(game, ["random", spec(Middle)], 8, seed=3)
    else:
        data = read_games(recorded(tmp_path, game))
        assert data.game.options == {**game.options, "reward": "score"}
    chunks = list(data.chunks)
    assert sum(len(chunk.deals) for chunk in chunks) >= 8
    for chunk in chunks:
        check(data.game, chunk)


@pytest.mark.parametrize("text", ["[", "[]", "[1]", '["no deal"]', "[" * 100_000])
def test_a_text_that_holds_no_deal_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"deal=.*expected"):
        game_for(3).new_initial_state(deal=text)


def columns(chunks: Sequence[Chunk]) -> dict[str, Any]:
    """All games, however they were cut into chunks."""
    names = ("seat", "move", "observation", "action_mask", "action", "reward", "returns", "last")
    found = {name: np.concatenate([getattr(chunk, name) for chunk in chunks]).tolist() for name in names}
    found["game"] = np.concatenate([chunk.first + chunk.game for chunk in chunks]).tolist()
    found["deals"] = [deal for chunk in chunks for deal in chunk.deals]
    found["agents"] = [agents for chunk in chunks for agents in chunk.agents]
    return found


def test_the_seed_alone_decides_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_for(3)

    def played(seed: int | None) -> dict[str, Any]:
        return columns(list(play_games(game, ["random"], 10, seed).chunks))

    once, other, training = played(5), played(6), played(None)
    monkeypatch.setattr(game_data, "CHUNK", 4)
    assert played(5) == once
    assert other["deals"] != once["deals"]
    assert json.loads(training["deals"][3]) == [
        game.deal_of(game.new_initial_state(deal_seed(np.random.SeedSequence(DEAL_SETS["training"]), 3)))
    ]
    assert len(set(once["deals"])) == 10


@pytest.mark.parametrize("source", ["played", "recorded"])
@pytest.mark.slow
def test_memory_does_not_grow_with_the_length_of_matches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    """Games of 20 rounds come in smaller chunks, and are the same games."""
    game = game_for(3, rounds=20)
    path = recorded(tmp_path, game) if source == "recorded" else tmp_path

    def data() -> GameData:
        return play_games(game, ["random"], 7, 5) if source == "played" else read_games(path)

    whole = columns(list(data().chunks))
    monkeypatch.setattr(game_data, "CHUNK_DECISIONS", 2 * game.max_game_length)
    chunks = list(data().chunks)
    assert len(chunks) > 1
    assert max(len(chunk.action) for chunk in chunks) <= 2 * game.max_game_length
    assert columns(chunks) == whole


class Masking(Agent):
    """Plays its lowest legal action, and writes into what it is given."""

    def act_batch(self, observations, action_masks, histories=None):  # type: ignore[no-untyped-def]
        chosen = action_masks.argmax(axis=1)
        observations[:] = 0
        action_masks[:] = False
        action_masks[np.arange(len(chosen)), chosen] = True
        return chosen


def test_what_is_written_is_what_was_seen() -> None:
    game = game_for(3)
    (chunk,) = play_games(game, [Masking(game)], 4, seed=0).chunks
    check(game, chunk)
    assert chunk.action_mask.sum(axis=1).max() > 1


def test_the_last_agent_fills_the_seats_and_everybody_moves_on() -> None:
    (chunk,) = play_games(game_for(3), ["heuristic", "random"], 4, seed=0).chunks
    first = ["heuristic", "random", "random"]
    assert chunk.agents == [first, first[-1:] + first[:-1], first[-2:] + first[:-2], first]


def test_games_that_did_not_end_are_left_out(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = path.read_text().splitlines(keepends=True)
    unfinished = {**json.loads(lines[1]), "returns": None}
    unfinished["actions"], unfinished["policies"] = unfinished["actions"][:5], [None] * 5
    path.write_text("".join([*lines, json.dumps(unfinished) + "\n"]))
    data = read_games(path)
    assert (sum(len(chunk.deals) for chunk in data.chunks), data.left_out) == (len(lines) - 1, 1)


def test_a_damaged_game_is_refused_by_its_line(tmp_path: Path) -> None:
    path = recorded(tmp_path, game_for(3))
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace('"actions":[', '"actions":[99,', 1)
    path.write_text("".join(lines))
    with pytest.raises(ValueError, match="line 4: "):
        list(read_games(path).chunks)


@pytest.mark.parametrize(
    ("agents", "number", "said"),
    [([], 1, "a list of 1 to 3 agents"), ("random", 1, "a list of 1 to 3"), (["random"], 0, "num_games=0")],
)
def test_bad_arguments_are_refused(agents: Any, number: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        play_games(game_for(3), agents, number)


def test_a_data_set_needs_a_place() -> None:
    with pytest.raises(ValueError, match="give a folder, the id of a Minari data set, or both"):
        write_dataset(play_games(game_for(3), ["random"], 1))


def test_the_command_takes_agents_or_records() -> None:
    assert "give the agents that play, or --records FILE" in refused("dataset", "--output", "x")
    said = refused("dataset", "--records", "x.jsonl", "--seed", "1", "--output", "x")
    assert "leave out the game's options, --games and --seed" in said
