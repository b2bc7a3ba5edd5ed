"""The review of a recorded game: costs agree with hints, and only mistakes are named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from catbox_agents import read_record
from catbox_agents.arena.match import Match
from catbox_agents.arena.records import write_records
from catbox_agents.search.action_values import action_values
from catbox_app.review import COSTLIEST, Reviewed, costliest, review
from catbox_env import make_game
from tests.app.table import refused, run
from tests.core.game_cases import CASES


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A match of two rounds that a person and a random agent have played."""
    game = make_game("cat_in_the_box_v0", num_players=3, rounds=2, reward="win")
    match = Match(game, ["random", None, "heuristic"], seed=3)
    while not match.is_over:
        if match.waits_for_person:
            match.play(1, match.state.legal_actions()[-1])
        else:
            match.play_agent()
    path = tmp_path / "game.jsonl"
    write_records(path, game, list(match.names), [match.record()])
    return path


@pytest.mark.parametrize(
    ("cost", "is_mistake"), [(-0.1, False), (0.0, False), (0.1, False), (0.3, False), (0.31, True)]
)
def test_a_cost_within_its_error_is_no_mistake(cost: float, is_mistake: bool) -> None:
    decision = Reviewed(0, 0, action=1, best=2, lead=-cost, best_lead=0.0, cost=cost, interval=0.3)
    assert decision.is_mistake == is_mistake
    assert (costliest([decision]) == [decision]) == is_mistake


def test_a_cost_is_the_difference_of_two_hints_and_the_lead_counts_earlier_rounds(saved: Path) -> None:
    record = read_record(saved)
    progress: list[tuple[int, int]] = []
    decisions = review(record, [1], lambda done, total: progress.append((done, total)))
    assert progress == [(done, len(decisions)) for done in range(1, len(decisions) + 1)]
    game = make_game("cat_in_the_box_v0", num_players=3, rounds=2, reward="score")
    state = game.new_initial_state(seed=0, deal=record.deals[0])
    numbers = iter(decisions)
    for number, action in enumerate(record.actions):
        if state.current_player == 1 and len(state.legal_actions()) > 1:
            decision = next(numbers)
            points = state.returns()
            before = points[1] - (points[0] + points[2]) / 2
            hints = {hint.action: hint for hint in action_values(game, state.observation(1))}
            best = next(iter(hints))
            assert (decision.number, decision.seat, decision.action, decision.best) == (
                number,
                1,
                action,
                best,
            )
            assert decision.lead == pytest.approx(before + hints[action].lead)
            assert (decision.cost, decision.interval) == (hints[action].behind, hints[action].behind_interval)
        state.apply_action(action)
        if state.round_ended and not state.is_terminal():
            game.set_deal(state, record.deals[1])
    assert next(numbers, None) is None


@pytest.mark.parametrize("game_id", CASES)
def test_agents_can_be_reviewed_in_every_game(game_id: str, tmp_path: Path) -> None:
    game = make_game(game_id)
    match = Match(game, ["random"] * game.num_players, seed=1)
    while not match.is_over:
        match.play_agent()
    path = tmp_path / "game.jsonl"
    write_records(path, game, list(match.names), [match.record()])
    decisions = review(read_record(path), range(game.num_players))
    assert {decision.seat for decision in decisions} == set(range(game.num_players))
    named = costliest(decisions)
    assert len(named) <= COSTLIEST
    assert all(decision.cost > decision.interval for decision in named)
    worst = max((decision.cost for decision in decisions if decision.is_mistake), default=0.0)
    assert not named or named[0].cost == worst


def test_the_review_of_a_person_is_shown_and_that_of_all_is_data(saved: Path) -> None:
    shown = run("replay", str(saved), "--review")
    assert shown.exit_code == 0
    assert "│ seat" not in shown.stdout
    assert re.search(
        r"^Move \d+: \w.* cost \d.\d\d ± \d.\d\d; \w.* was better\.$", shown.stdout, re.MULTILINE
    )
    data = json.loads(run("replay", str(saved), "--review", "--seat", "all", "--json").stdout)
    assert {decision["seat"] for decision in data} == {0, 1, 2}


def test_wrong_options_of_a_review_are_refused(saved: Path) -> None:
    assert "--json without --review" in refused("replay", str(saved), "--json")
    assert "--review and --web" in refused("replay", str(saved), "--review", "--web")
    assert "expected a seat from 0 to 2, or all" in refused("replay", str(saved), "--review", "--seat", "me")
    assert "0 .. 2" in refused("replay", str(saved), "--seat", "3") or "0 to 2" in refused(
        "replay", str(saved), "--seat", "3"
    )
