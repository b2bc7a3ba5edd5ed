"""The arena: a matrix that plain computations confirm, the same for any number of processes, with honest intervals."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent, ArenaResult
from catbox_agents.arena import run, seatings
from catbox_agents.arena.report import page
from catbox_agents.arena.seatings import DEAL_SETS, MIXED, PAIR, SELF, SMALL, all_seatings, deal_seed
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_train.config import MAX_SEED
from tests.agents.arena_agents import Drawing, Highest, Lowest, Middle, RandomButBids, spec
from tests.agents.policies import network_for
from tests.small_games import game_for

NAMES = ["low", "high", "middle"]
SPECS = [spec(Lowest), spec(Highest), spec(Middle)]


def played(game: Any, seat_agents: list[Agent], seed: Any) -> list[float]:
    """The scores of one game, played one move at a time."""
    state = game.new_initial_state(seed=seed)
    while not state.is_terminal():
        seat = state.current_player
        mask = state.action_mask().astype(bool)
        state.apply_action(int(seat_agents[seat].act(state.observation(seat), mask)))
    return state.returns()


def plain_margins(game: Any, agents: list[Agent], num_deals: int, seed: int) -> np.ndarray:
    """(n, n, deals): one agent among copies of another, without shortcuts."""
    n, seats = len(agents), game.num_players
    margins = np.zeros((n, n, num_deals))
    for one, other in permutations(range(n), 2):
        for deal in range(num_deals):
            found = []
            for seat in range(seats):
                line_up = [agents[one] if s == seat else agents[other] for s in range(seats)]
                scores = played(game, line_up, deal_seed(np.random.SeedSequence(seed), deal))
                others = [score for s, score in enumerate(scores) if s != seat]
                found.append(scores[seat] - np.mean(others))
            margins[one, other, deal] = np.mean(found)
    return margins


def same(one: ArenaResult, other: ArenaResult) -> bool:
    plain = [{k: v for k, v in r.as_dict().items() if k != "seconds_per_move"} for r in (one, other)]
    return json.dumps(plain[0]) == json.dumps(plain[1]) and np.array_equal(one.margins, other.margins)


@pytest.mark.parametrize(("players", "options"), [(2, {}), (4, {"reward": "win"}), (3, {"rounds": 2})])
def test_the_matrix_is_that_of_a_plain_computation(players: int, options: dict[str, Any]) -> None:
    game = game_for(players, **options)
    result = catbox_agents.run_arena(game, SPECS, 12, names=NAMES, seed=5)
    scored = game_for(players, **{**options, "reward": "score"})
    expected = plain_margins(scored, [Lowest(game), Highest(game), Middle(game)], 12, 5)
    assert np.allclose(result.margins, expected, atol=1e-5)
    for i, one in enumerate(NAMES):
        for j, other in enumerate(NAMES):
            assert result.margin(one, other).mean == pytest.approx(expected[i, j].mean(), abs=1e-5)
    assert (result.deals, result.agents) == (12, NAMES)
    assert result.games == 12 * (3 + (3 if players == 2 else 6) * players)
    for standing in result.tables["low", "low"].standings:
        assert standing.margin == 0
        assert standing.win_share == pytest.approx(1 / players)


def test_an_entry_is_what_evaluate_finds_on_the_same_deals() -> None:
    game = game_for(4)
    result = catbox_agents.run_arena(game, [SPECS[1], "heuristic"], 40, seed=3)
    evaluated = catbox_agents.evaluate(game, [SPECS[1], "heuristic"], 40, seed=3)
    entry = result.tables[SPECS[1], "heuristic"]
    assert np.array_equal(entry.deal_scores, evaluated.deal_scores)
    assert np.array_equal(entry.deal_win_shares, evaluated.deal_win_shares)
    for one, other in zip(entry.standings, evaluated.standings, strict=True):
        assert one.statistics == pytest.approx(other.statistics)
        assert one.margin_ci95 == pytest.approx(other.margin_ci95)
    assert result.margin(SPECS[1], "heuristic").mean == pytest.approx(evaluated.standings[0].margin)
    assert result.margin(SPECS[1], "heuristic").half_width == pytest.approx(
        evaluated.standings[0].margin_ci95
    )


def test_result_and_records_are_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    agents, paths = ["random", spec(Drawing), "heuristic"], [tmp_path / "one", tmp_path / "two"]
    one, two = (
        catbox_agents.run_arena(game_for(3), agents, 20, mixed=True, processes=processes, record=path)
        for processes, path in zip((None, 2), paths, strict=True)
    )
    assert same(one, two)
    assert one == two
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert len(paths[0].read_bytes().splitlines()) == 1 + one.games


def test_an_agent_is_copied_as_it_was_given() -> None:
    game = game_for(3)
    given = Drawing(game, seed=7)
    results = [catbox_agents.run_arena(game, [given, "heuristic"], 40) for _ in range(2)]
    assert same(*results)
    assert given._generator.bit_generator.state == np.random.default_rng(7).bit_generator.state


# Pairing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["random", spec(Drawing)])
def test_the_same_agent_under_two_names_has_the_same_luck(agent: str) -> None:
    # The same deals, seats, opponents and random numbers: an agent is exactly as good as itself.
    game = game_for(3)
    result = catbox_agents.run_arena(game, [agent, agent, "heuristic"], 70, names=["one", "two", "field"])
    assert np.array_equal(result.margins[0, 2], result.margins[1, 2])
    assert np.array_equal(result.margins[2, 0], result.margins[2, 1])
    difference = result.difference("one", "two", field="field")
    assert (difference.low, difference.mean, difference.high) == (0, 0, 0)
    assert result.margin("one", "field").half_width > 0.1


def sampling(game: Any, seed: int) -> Any:
    return PolicyAgent(network_for(game), game, seed, greedy=False)


#: Agents that use random numbers.
DRAWING: dict[str, Any] = {
    "random": lambda game, seed: catbox_agents.make("random", game, seed),
    "policy": sampling,
    "search": lambda game, seed: catbox_agents.make("search:worlds=2,policy=random", game, seed),
    "pimc": lambda game, seed: catbox_agents.make("pimc:samples=1,policy=random", game, seed),
    "ismcts": lambda game, seed: catbox_agents.make("ismcts:simulations=2,policy=random", game, seed),
}


@pytest.mark.parametrize("name", DRAWING)
def test_decisions_follow_from_their_seeds_alone(name: str) -> None:
    game = game_for(3)
    agent, other = (DRAWING[name](game, seed) for seed in (1, 2))
    vec = catbox_env.Vec(game, 1, seed=2, history=True)
    seen, masks, past = (np.repeat(x, 50, axis=0) for x in (vec.observation, vec.action_mask, vec.history))
    seeds = np.arange(50, dtype=np.uint64) * np.uint64(2**64 // 50)
    agent.seed_decisions(seeds)
    together = agent.act_batch(seen, masks, past)
    assert len(set(together.tolist())) > 1
    order = np.random.default_rng(0).permutation(50)[:20]
    for one in (agent, other):
        one.seed_decisions(seeds[order])
        assert one.act_batch(seen[:20], masks[:20], past[:20]).tolist() == together[order].tolist()
    agent.seed_decisions(seeds)
    with pytest.raises(ValueError, match="seeds for 50 decisions, but 1 rows"):
        agent.act_batch(seen[:1], masks[:1], past[:1])


def test_pairing_narrows_the_interval_of_a_difference() -> None:
    game = game_for(3)
    agents = ["random", spec(RandomButBids), "heuristic"]
    result = catbox_agents.run_arena(game, agents, 120, names=NAMES)
    paired = result.difference("low", "high", field="middle")
    one, other = result.margin("low", "middle"), result.margin("high", "middle")
    assert paired.mean == pytest.approx(one.mean - other.mean, abs=1e-5)
    assert paired.half_width < 0.9 * np.hypot(one.half_width, other.half_width)
    assert paired.low < paired.mean < paired.high
    assert result.differences["low", "high", "middle"] == paired
    assert len(result.differences) == 3
    with pytest.raises(ValueError, match="no agent 'net' in this arena, only low, high, middle"):
        result.margin("net", "low")
    assert result.difference("low", "high", field="high").mean == pytest.approx(
        result.margin("low", "high").mean
    )


# Intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_until_ci_plays_until_every_interval_is_narrow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run, "_FIRST_CHECK", SMALL)
    game = game_for(3)
    told: list[tuple[int, int]] = []
    result = catbox_agents.run_arena(
        game, SPECS, until_ci=0.7, names=NAMES, progress=lambda *now: told.append(now)
    )
    assert result.widest <= 0.7
    assert SMALL < result.deals == result.deals_planned
    assert told[-1] == (result.games, result.games)
    before = catbox_agents.run_arena(game, SPECS, result.deals // 3, names=NAMES, output=tmp_path)
    assert before.widest > 0.7
    assert same(result, catbox_agents.run_arena(game, SPECS, until_ci=0.7, names=NAMES, output=tmp_path))
    bounded = catbox_agents.run_arena(game, SPECS, 50, until_ci=0.7, names=NAMES)
    assert bounded.deals == 50


def test_blocks_cover_every_deal_once() -> None:
    ends = [seatings.first_deal(number) for number in range(30)]
    assert ends[:10] == [0, 16, 32, 48, 64, 80, 96, 112, 128, 192]
    for num_deals in range(1, 700):
        number = seatings.num_blocks(num_deals)
        assert ends[number - 1] < num_deals <= ends[number]


# Tables, ratings and deal sets -----------------------------------------------------------------------------------


def test_every_agent_sits_among_every_other() -> None:
    pairs = {t.agents for t in all_seatings(4, 5, mixed=False) if t.kind == PAIR}
    assert pairs == set(permutations(range(4), 2))
    assert {t.agents for t in all_seatings(3, 2, mixed=False) if t.kind == PAIR} == {(0, 1), (0, 2), (1, 2)}
    assert [t.agents for t in all_seatings(3, 4, mixed=False) if t.kind == SELF] == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("agents", "seats", "number"), [(2, 4, 1), (3, 3, 1), (3, 5, 3), (5, 3, 10), (4, 2, 6)]
)
def test_at_mixed_tables_all_agents_have_the_same_number_of_seats(
    agents: int, seats: int, number: int
) -> None:
    tables = [table for table in all_seatings(agents, seats, mixed=True) if table.kind == MIXED]
    assert len(tables) == number
    seated = np.zeros(agents)
    for table in tables:
        order = np.random.default_rng(1)
        line_ups = table.line_ups(order)
        assert line_ups.shape == (seats, seats)
        assert (np.sort(line_ups, axis=0) == np.sort(line_ups, axis=1).T).all()  # everybody in every seat
        for place in line_ups[0]:
            seated[table.agents[place]] += 1
    assert len(set(seated.tolist())) == 1


def test_mixed_tables_compare_all_agents_at_once() -> None:
    game = game_for(3)
    result = catbox_agents.run_arena(game, SPECS, 40, names=NAMES, mixed=True)
    assert result.mixed_margins is not None
    means = [summary.mixed.mean for summary in result.summaries if summary.mixed is not None]
    assert sum(means) == pytest.approx(0, abs=1e-4)  # margins of three seats
    assert means[0] == pytest.approx(result.mixed_tables[0]["low"].margin, abs=1e-5)


def test_deal_sets_have_seeds_that_no_training_run_can_have() -> None:
    assert len(set(DEAL_SETS.values())) == 4
    assert all(MAX_SEED < seed < 2**128 for seed in DEAL_SETS.values())
    game = game_for(3)
    results = {
        name: catbox_agents.run_arena(game, SPECS, 10, names=NAMES, deal_set=name).margins.tolist()
        for name in DEAL_SETS
    }
    assert len({str(margins) for margins in results.values()}) == 4
    by_seed = catbox_agents.run_arena(game, SPECS, 10, names=NAMES, seed=DEAL_SETS["test"])
    assert by_seed.margins.tolist() == results["test"]
    assert by_seed.deal_set is None


@pytest.mark.parametrize("game_id", list(catbox_env.GAMES))
def test_every_game_has_an_arena(game_id: str) -> None:
    game = catbox_env.make_game(game_id)
    result = catbox_agents.run_arena(game, ["random", "heuristic"], 40)
    assert result.margin("heuristic", "random").low > 0
    assert set(result.seconds_per_move) == {"random", "heuristic"}
    assert json.dumps(result.as_dict(), allow_nan=False)


# Bad input -------------------------------------------------------------------------------------------------------


class Unpicklable(Lowest):
    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.function = lambda: None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"agents": ["random", "heuristic", "random"]},
            "agents: random, random: the same agent more than once; list each agent once",
        ),
        (
            {"agents": ["zoo:cat_in_the_box-3p", " best"]},
            "agents: zoo:cat_in_the_box-3p, best: the same agent more than once",
        ),
        ({"num_deals": 10**30}, "expected at most 10000000"),
        ({"deal_set": "exam"}, "deal_set='exam': expected one of 'training', 'selection', 'report', 'test'"),
        ({"until_ci": 0}, "until_ci=0: expected a number above 0"),
        ({"processes": 0}, "processes=0: expected an integer from 1 to 1024"),
        (
            {"agents": ["random", Lowest(game_for(4))]},
            "made for cat_in_the_box_v0 with .*num_players=4.*asked to play",
        ),
        ({"agents": ["random", Unpicklable(game_for(3))]}, "'Unpicklable' cannot be copied for each block"),
        ({"game": "cat_in_the_box_v0"}, "expected a game, as make_game returns"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, Any], said: str) -> None:
    full: dict[str, Any] = {
        "game": game_for(3),
        "agents": ["random", "heuristic"],
        "num_deals": 10,
        **arguments,
    }
    with pytest.raises(ValueError, match=said):
        catbox_agents.run_arena(full.pop("game"), full.pop("agents"), full.pop("num_deals"), **full)


def test_the_report_says_what_each_number_is_a_mean_over() -> None:
    """In matches of three rounds, where a game's score is three times a round's."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=3)
    result = catbox_agents.run_arena(game, ["heuristic", "random"], 10)
    heads = [line for line in page(result, "today").splitlines() if re.match(r"\| (one )?agent \|", line)]
    assert [head.strip("| ").split(" | ") for head in heads] == [
        ["one agent", "among heuristic", "among random"],
        ["agent", "Elo rating", "ms a move"],
        ["agent", "among", "score", "wins", "tricks", "bonus", "paradox", "any paradox", "bid hit"],
    ]
    assert "Score per game, wins of all games, the others per round." in page(result, "today")
    one = result.tables["heuristic", "random"]["heuristic"]
    assert one.score == pytest.approx(result.tables["heuristic", "random"].deal_scores[:, 0].mean())
    points = one.statistics["tricks_won"] + one.statistics["bonus"]
    assert one.statistics["paradox"] < 0.05
    assert one.score == pytest.approx(3 * points, rel=0.1)
