"""What an agent does wrong costs it games by a stated rule, is reported by name, and stops nobody else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.arena import workers
from catbox_agents.arena.deal_sets import deal_seed
from catbox_agents.arena.records import read_record
from catbox_agents.arena.referee import BATCH, ENDED, ERROR, ILLEGAL, POLICY, TIME
from tests.agents import arena_agents
from tests.agents.arena_agents import (
    BadPolicy,
    Clumsy,
    Exiting,
    Hanging,
    IllegalByte,
    Leaving,
    LeavingPolicy,
    Lowest,
    NeverMade,
    NotANumber,
    Raising,
    Slow,
    Unmade,
    spec,
    starts_with,
)
from tests.agents.test_run_arena import played
from tests.small_games import game_for

DEALS = 12


def run(agent: type, num_deals: int = DEALS, players: int = 3, **arguments: Any) -> Any:
    agents = [spec(agent), spec(Lowest), "heuristic"]
    names = ["faulty", "lowest", "heuristic"]
    return catbox_agents.run_arena(game_for(players), agents, num_deals, names=names, seed=1, **arguments)


def hands_that_matter(game: Any, num_deals: int) -> np.ndarray:
    """Which seats hold cards with which faulty agents go wrong: (deals, P)."""
    root = np.random.SeedSequence(1)
    states = [game.new_initial_state(seed=deal_seed(root, number)) for number in range(num_deals)]
    seats = range(game.num_players)
    return np.array([[starts_with(state.observation(seat), game) for seat in seats] for state in states])


def forfeited() -> dict[str, int]:
    """How many games the agent has to forfeit at the tables of `run`, from the cards alone."""
    hands = hands_that_matter(game_for(), DEALS)
    one = 2 * int(hands.sum())  # one among two fields, from every seat
    field = 2 * sum(int(np.delete(hands, seat, axis=1).any(axis=1).sum()) for seat in range(3))
    return {"one": one, "field": field, "self": int(hands.any(axis=1).sum())}


@pytest.mark.parametrize(
    ("agent", "kind", "said"),
    [
        (Raising, ERROR, "agent 'faulty' raised RuntimeError: a card too high (in seat "),
        (IllegalByte, ILLEGAL, "agent 'faulty' chose the illegal action 34 (paradox: "),
        (NotANumber, ILLEGAL, "agent 'faulty': act_batch returned float64 of shape (1,) for 1 rows"),
    ],
)
def test_a_fault_costs_the_game_in_which_it_happens_and_no_other(agent: type, kind: str, said: str) -> None:
    result = run(agent)
    expected = sum(forfeited().values())
    faulty, lowest, heuristic = result.summaries
    assert 0 < expected < DEALS * 27 / 2
    assert faulty.forfeits == expected
    assert [fault.kind for fault in faulty.faults if fault.kind != BATCH] == [kind]
    assert faulty.faults[0].count == expected
    assert faulty.faults[0].first.startswith(said)
    assert (lowest.forfeits, lowest.faults, heuristic.forfeits) == (0, [], 0)
    sound = run(Lowest)
    assert result.margin("lowest", "heuristic") == sound.margin("lowest", "heuristic")


def test_a_forfeited_game_has_the_lowest_score_and_the_others_the_highest() -> None:
    result, game = run(Raising), game_for()
    hands, root = hands_that_matter(game, DEALS), np.random.SeedSequence(1)
    lowest, heuristic = Lowest(game), catbox_agents.make("heuristic", game)
    low, high = game.min_utility, game.max_utility
    for table in result.tables.values():  # a win is shared by all others
        shares = sum(standing.win_share * standing.seats for standing in table.standings)
        assert shares == pytest.approx(1)
    for deal in range(DEALS):
        one, field = [], []
        for seat in range(3):
            others = [other for other in range(3) if other != seat]
            line_up = [lowest if s == seat else heuristic for s in range(3)]
            scores = played(game, line_up, deal_seed(root, deal))
            margin = scores[seat] - np.mean([scores[other] for other in others])
            one.append(low - high if hands[deal, seat] else margin)
            line_up = [heuristic if s == seat else lowest for s in range(3)]
            scores = played(game, line_up, deal_seed(root, deal))
            margin = scores[seat] - np.mean([scores[other] for other in others])
            field.append((high - low) / 2 if hands[deal, others].any() else margin)
        assert result.margins[0, 2, deal] == pytest.approx(np.mean(one), abs=1e-5)
        assert result.margins[2, 0, deal] == pytest.approx(np.mean(field), abs=1e-5)


def test_a_call_that_fails_is_made_again_game_by_game() -> None:
    result, sound = run(Clumsy), run(Lowest)
    assert result.margins.tolist() == sound.margins.tolist()
    assert result.summaries[0].forfeits == 0
    (fault,) = result.summaries[0].faults
    assert fault.kind == BATCH
    assert "one at a time" in fault.first


def test_an_agent_that_cannot_be_made_any_more_forfeits() -> None:
    Unmade.made = 0
    result = run(Unmade)
    assert result.summaries[0].forfeits == DEALS * (6 + 6 + 1)
    assert "no more" in result.summaries[0].faults[0].first


@pytest.mark.faults
def test_an_agent_that_takes_too_long_for_a_move_forfeits_the_game() -> None:
    game = game_for(2)
    names = ["slow", "lowest"]
    result = catbox_agents.run_arena(
        game, [spec(Slow), spec(Lowest)], 10, names=names, seed=1, move_time=0.06
    )
    hands = hands_that_matter(game, 10)
    slow = result.summaries[0]
    assert slow.faults[0].kind == TIME
    assert slow.faults[0].first.startswith("agent 'slow' took 0.1")
    # More, should this machine stand still for 0.06 s.
    assert slow.forfeits >= hands.sum() + hands.any(axis=1).sum() > 5


@pytest.mark.faults
def test_an_agent_that_ends_its_process_forfeits_the_block(tmp_path: Any) -> None:
    record = tmp_path / "games.jsonl"
    result = run(Leaving, 10, players=2, processes=1, record=record)
    faulty = result.summaries[0]
    assert [fault.kind for fault in faulty.faults] == [ENDED]
    assert faulty.forfeits == 10 * (2 + 2 + 1)
    assert "agent 'faulty' was asked when its process ended with exit code 3" in faulty.faults[0].first
    lost = read_record(record)  # a game of the faulty agent among itself, of which the deal is left
    assert lost.forfeit is not None
    assert (lost.actions, sorted(lost.returns)) == ([], [-8, 16])
    deal = deal_seed(np.random.SeedSequence(1), 0)
    assert (
        next(lost.states()).state_vector().tolist()
        == game_for(2).new_initial_state(deal).state_vector().tolist()
    )
    assert result.margin("lowest", "heuristic") == run(Lowest, 10, players=2).margin("lowest", "heuristic")


@pytest.mark.faults
@pytest.mark.parametrize("agent", [Exiting, LeavingPolicy, NeverMade])
def test_a_process_ends_under_the_name_of_the_agent_whose_code_ended_it(tmp_path: Any, agent: type) -> None:
    game, path = game_for(2), tmp_path / "games.jsonl"
    names = ["faulty", "good"]
    result = catbox_agents.run_arena(
        game, [spec(agent), "heuristic"], 10, names=names, seed=1, processes=1, record=path
    )
    faulty, good = result.summaries
    assert [fault.kind for fault in faulty.faults] == [ENDED]
    assert faulty.forfeits == 10 * (2 + 1)
    assert "agent 'faulty' was asked when its process ended with exit code 3" in faulty.faults[0].first
    assert (good.forfeits, good.faults) == (0, [])


@pytest.mark.faults
def test_an_agent_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.3)
    monkeypatch.setattr(workers, "WARM_UP", 0.5)
    game = game_for(2)
    result = catbox_agents.run_arena(
        game, [spec(Hanging), "heuristic"], 10, names=["faulty", "good"], seed=1, move_time=0.5, processes=1
    )
    faulty = result.summaries[0]
    assert faulty.faults[0].kind == TIME
    assert "had not answered 0.3 s after the limit of 0.5 s" in faulty.faults[0].first
    assert result.margin("faulty", "good").mean == game.min_utility - game.max_utility


def test_a_policy_that_is_none_is_reported_and_changes_nothing(tmp_path: Any) -> None:
    result, sound = run(BadPolicy, record=tmp_path / "games.jsonl"), run(Lowest)
    assert result.margins.tolist() == sound.margins.tolist()
    (fault,) = result.summaries[0].faults
    assert fault.kind == POLICY
    assert "policy_batch returned array([nan, nan" in fault.first
    assert result.summaries[0].forfeits == 0


def test_the_page_names_what_went_wrong(tmp_path: Any) -> None:
    run(Raising, output=tmp_path / "arena")
    page = (tmp_path / "arena" / "results.md").read_text()
    assert (
        f"- faulty: error, {sum(forfeited().values())} forfeited games; first: agent 'faulty' raised" in page
    )
    assert arena_agents.__name__ not in page
