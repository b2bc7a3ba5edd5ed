"""A match: turns, agents, taking back, and that the same seed, agents and actions give the same game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, AgentError
from catbox_agents.arena.match import Match, with_names
from catbox_agents.arena.records import read_record, write_records

GAMES = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": "match"}),
    ("cat_in_the_box_v0", {"num_players": 4, "rounds": 2, "start_player": "random", "reward": "margin"}),
    ("cat_te_v0", {"num_players": 3, "rounds": 2, "side_pot": 1}),
    ("petrify_v0", {"size": 5, "teleports": 3, "zeros": 1}),
]


def game_of(number: int = 0) -> Any:
    game_id, options = GAMES[number]
    return catbox_env.make_game(game_id, **options)


def finish(match: Match, choose: Any = min) -> Match:
    while not match.is_over:
        step(match, choose)
    return match


def step(match: Match, choose: Any = min) -> None:
    if match.waits_for_person:
        match.play(match.current_player, choose(match.state.legal_actions()))
    else:
        match.play_agent()


def everything(match: Match) -> Any:
    return match.state.serialize(), match.actions, match.policies, match.record()


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_the_same_seed_agents_and_actions_give_the_same_game(number: int) -> None:
    game = game_of(number)
    agents = ["easy", "random", "search:worlds=4", "heuristic"][: game.num_players - 1]
    one, two = (finish(Match(game, [None, *agents], seed=5)) for _ in range(2))
    assert everything(one) == everything(two)
    assert finish(Match(game, [None, *agents], seed=6)).record()["deals"] != one.record()["deals"]
    assert finish(Match(game, [None, *agents], seed=5), max).actions != one.actions


class Seeded(Agent):
    """Keeps the seeds of its decisions, and answers the first legal action."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.seeds: list[int] = []

    def seed_decisions(self, seeds: np.ndarray) -> None:
        self.seeds += seeds.tolist()

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(action_mask.argmax())


def test_every_decision_has_random_numbers_of_its_own_and_the_same_when_it_is_asked_again() -> None:
    game = game_of()
    agents = [Seeded(game), Seeded(game)]
    match = Match(game, [agents[0], None, agents[1]], seed=3)
    finish(match)
    seeds = agents[0].seeds + agents[1].seeds
    assert len(set(seeds)) == len(seeds) > 20
    assert match.undo(1) > 1
    for agent in agents:
        agent.seeds.clear()
    finish(match)
    again = agents[0].seeds + agents[1].seeds
    assert again
    assert set(again) <= set(seeds)


def test_the_deals_are_those_of_the_seed_whoever_plays() -> None:
    game = game_of()
    rounds = [finish(Match(game, [name] * 3, seed=3)).record()["deals"] for name in ("random", "heuristic")]
    assert len(rounds[0]) == 3
    assert rounds[0] == rounds[1]
    drawn = Match(game, ["random"] * 3)
    assert drawn.record()["deals"] == Match(game, ["random"] * 3, seed=drawn.seed).record()["deals"]
    assert drawn.seed != Match(game, ["random"] * 3).seed


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_an_action_that_is_taken_back_leaves_no_trace(number: int) -> None:
    game = game_of(number)
    seats = [None, *["random"] * (game.num_players - 1)]
    match, plain = Match(game, seats, seed=9), Match(game, seats, seed=9)
    while not match.is_over:
        if match.waits_for_person:
            before = everything(match)
            told = match.events(0)
            match.play(0, match.state.legal_actions()[-1])
            while not match.is_over and not match.waits_for_person:
                match.play_agent()
            assert match.undo(0) >= 1
            assert everything(match) == before
            assert match.events(0) == told
            assert match.waits_for_person
        step(match)
        step(plain)
    assert everything(match) == everything(plain)


def test_what_cannot_be_taken_back_is_refused() -> None:
    match = Match(game_of(), ["random", None, "random"], seed=1)
    match.play_agent()
    with pytest.raises(ValueError, match="you have not acted yet"):
        match.undo(1)
    with pytest.raises(ValueError, match="player_0 is an agent's seat"):
        match.undo(0)
    with pytest.raises(ValueError, match="seat=3: expected a seat"):
        match.undo(3)
    two = Match(game_of(), [None, None, "random"], seed=1)
    two.play(0, two.state.legal_actions()[0])
    with pytest.raises(ValueError, match="player_0 is not the only person at the table"):
        two.undo(0)


def test_an_agent_stands_in_for_a_person_until_the_person_plays_again() -> None:
    match = Match(game_of(), [None, None, "random"], seed=1)
    match.stand_in(0, "heuristic")
    assert match.people == [0, 1]
    assert not match.waits_for_person
    match.play_agent()
    with pytest.raises(ValueError, match="player_0 is not the only person"):  # nor is player_1
        match.undo(0)
    for seat, agent, said in [
        (2, "heuristic", r"seat=2: expected the seat of a person, one of \[0, 1\]"),
        (1, "nobody", "unknown agent 'nobody'"),
    ]:
        with pytest.raises(ValueError, match=said):
            match.stand_in(seat, agent)
    assert match.stand_ins == [0]
    match.stand_in(0, None)
    assert match.stand_ins == []
    assert match.waits_for_person
    assert finish(match).names == ("person", "person", "random")


def test_turns_and_seats_are_kept() -> None:
    match = Match(game_of(), [None, None, "heuristic"], seed=1)
    assert match.people == [0, 1]
    assert match.names == ("person", "person", "heuristic")
    before = everything(match)
    for seat, action, said in [
        (1, 0, "it is player_0's turn, not player_1's"),
        (2, 0, "it is player_0's turn, not player_2's"),
        (0, 30, r"illegal action 30 \(play green 3\).*this is the time to discard, not to play"),
        (0, 99, "action 99: expected an integer from 0 to 34"),
        (5, 0, "seat=5: expected a seat"),
    ]:
        with pytest.raises(ValueError, match=said):
            match.play(seat, action)
    with pytest.raises(ValueError, match="player_0 is a person"):
        match.play_agent()
    assert everything(match) == before
    for seat in (0, 1):
        match.play(seat, match.state.legal_actions()[0])
    with pytest.raises(ValueError, match="player_2 is the agent 'heuristic', and plays by itself"):
        match.play(2, match.state.legal_actions()[0])
    finish(match)
    with pytest.raises(ValueError, match="the game is over"):
        match.play(0, 0)
    with pytest.raises(ValueError, match="the game is over"):
        match.play_agent()


def test_rounds_add_up_and_the_last_one_breaks_a_tie() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2, reward="margin")
    tied = 0
    for seed in range(40):
        match = Match(game, ["random"] * 3, seed=seed)
        while not match.is_over:
            match.play_agent()
        first, last = match.rounds
        totals = [a + b for a, b in zip(first, last, strict=True)]
        assert totals == match.state.record.scores[:3].tolist()
        ranks = list(zip(totals, last, strict=True))
        best = [seat for seat in range(3) if ranks[seat] == max(ranks)]
        assert [seat for seat in range(3) if match.places[seat] == 1] == best
        tied += totals.count(max(totals)) > len(best)
        assert all(
            match.places[a] <= match.places[b] for a in range(3) for b in range(3) if totals[a] > totals[b]
        )
    assert tied > 0


def test_everybody_is_told_what_it_sees() -> None:
    match = finish(Match(game_of(), [None, "heuristic", "random"], seed=2))
    told = {seat: match.events(seat) for seat in (None, 0, 1, 2)}
    assert all(len(events) == len(match.actions) for events in told.values())
    discards = [event for action in told[0] for event in action if event.kind == "discard"]
    assert len(discards) == 9
    assert all(bool(event.data) == (event.seat == 0) for event in discards)
    assert all(event.data for action in told[None] for event in action if event.kind == "discard")
    for first in (0, 1, len(match.actions) - 1, len(match.actions)):
        assert match.events(1, first) == told[1][first:]


class Failing(Agent):
    """Discards, and raises an error when it is to bid."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        if not action_mask[0:6].any():
            raise RuntimeError("no bid")
        return int(np.flatnonzero(action_mask)[0])


class Illegal(Agent):
    """Answers the last action, which is no discard."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return len(action_mask) - 1


def test_a_faulty_agent_is_named_and_changes_nothing() -> None:
    match = Match(game_of(), [Illegal(game_of()), None, "random"], seed=2)
    before = everything(match)
    with pytest.raises(
        ValueError, match=r"agent 'Illegal' chose the illegal action 34 \(paradox: this is the time"
    ):
        match.play_agent()
    assert everything(match) == before
    match = Match(game_of(), [None, f"{__name__}:Failing", "random"], seed=2)
    with pytest.raises(AgentError, match=rf"agent '{__name__}:Failing' raised RuntimeError: no bid"):
        finish(match)
    assert match.current_player == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"seats": ["random"]}, "1 seats: expected 3, one for each player"),
        ({"seed": -1}, "seed=-1: expected"),
        ({"seats": ["randm", None, None]}, "unknown agent 'randm'"),
        ({"deal": {"hands": []}}, "deal: hands of"),
    ],
)
def test_a_match_that_cannot_be_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Match(game_of(), **{"seats": ["random", "random", None], "seed": 0, **arguments})


def test_a_deal_can_be_given() -> None:
    deal = {"hands": [[1] * 5 + [2] * 5, [3] * 5 + [4] * 5, [5] * 5 + [6] * 5]}
    match = Match(game_of(), ["random"] * 3, seed=4, deal=deal)
    assert match.record()["deals"] == [deal]
    assert (
        finish(match).record()["deals"][1:]
        == finish(Match(game_of(), ["random"] * 3, seed=4)).record()["deals"][1:]
    )


def test_the_name_of_an_agent_stands_beside_its_seat_but_not_in_a_possessive() -> None:
    names = ["easy", "", *["hard"] * 9]
    assert with_names("player_0 folds to player_10", names) == "player_0 (easy) folds to player_10"
    assert with_names("player_10 wins", names) == "player_10 (hard) wins"
    assert with_names("player_1 wins", names) == "player_1 wins"
    assert with_names("player_0's paradox ends the round", names) == "player_0's paradox ends the round"


# Records -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "moves"), [(0, 1000), (1, 7), (2, 1000), (3, 7)])
def test_a_record_is_the_game_again(tmp_path: Path, number: int, moves: int) -> None:
    """Also of a game that was not finished."""
    game = game_of(number)
    match = Match(game, ["random", None, *["heuristic"] * (game.num_players - 2)], seed=8)
    while len(match.actions) < moves and not match.is_over:
        step(match)
    path = tmp_path / "games.jsonl"
    write_records(path, game, list(match.names), [match.record()])
    record = read_record(path)
    assert record.game == game
    assert record.agents == list(match.names)
    assert record.actions == match.actions
    assert record.returns == (match.state.returns() if match.is_over else None)
    *_, last = record.states()
    assert np.array_equal(last.state_vector(), match.state.state_vector())
    for state, action, policy in zip(record.states(), record.actions, record.policies, strict=False):
        if state.current_player == 0:
            legal = state.legal_actions()
            assert [pair[0] for pair in policy] == legal
            assert [pair[1] for pair in policy] == pytest.approx([1 / len(legal)] * len(legal), abs=1e-4)
            assert action in legal
        else:
            assert policy is None
