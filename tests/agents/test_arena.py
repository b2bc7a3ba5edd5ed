"""The arena: the same deals from every seat, and statistics that a simple computation confirms."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent
from catbox_agents.arena import evaluation
from catbox_agents.arena.intervals import t_quantile
from catbox_app.match import Match

#: The 97.5 % quantile of Student's t for ten deals, from a printed table.
T_TEN_DEALS = 2.262


class Fixed(Agent):
    """The lowest or the highest legal id."""

    def __init__(self, game: Any, seed: Any = None, highest: bool = False) -> None:
        super().__init__(game, seed)
        self.highest = highest

    def act(self, observation: np.ndarray, action_mask: np.ndarray, history: np.ndarray | None = None) -> int:
        return int(np.flatnonzero(action_mask)[-1 if self.highest else 0])


class Recording(Fixed):
    """Keeps what it is given."""

    def __init__(self, game: Any, needs_history: bool = False) -> None:
        super().__init__(game)
        self.needs_history = needs_history
        self.observations: list[np.ndarray] = []
        self.histories: list[np.ndarray | None] = []

    def act_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> np.ndarray:
        self.observations.append(observations.copy())
        self.histories.append(histories)
        return super().act_batch(observations, action_masks)


def game_for(players: int = 3, **options: Any) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)


def plain_evaluation(game: Any, agents: list[Fixed], num_deals: int, seed: int) -> dict[str, Any]:
    """The same comparison, one game at a time and without shortcuts."""
    deals = np.random.SeedSequence(seed).spawn(2)[1].spawn(1)[0].spawn(num_deals)
    seats = game.num_players
    points_game = catbox_env.make_game(game.id, **{**game.options, "reward": "score"})
    win_game = catbox_env.make_game(game.id, **{**game.options, "reward": "win"})
    scores: list[list[float]] = [[] for _ in agents]
    wins: list[list[float]] = [[] for _ in agents]
    bonuses: list[list[float]] = [[] for _ in agents]
    deal_margins: list[list[float]] = [[] for _ in agents]
    for deal in deals:
        margins: list[list[float]] = [[] for _ in agents]
        for turn in range(seats):
            of_seat = [min((seat - turn) % seats, len(agents) - 1) for seat in range(seats)]
            state, twin = points_game.new_initial_state(seed=deal), win_game.new_initial_state(seed=deal)
            while not state.is_terminal():
                seat = state.current_player
                action = agents[of_seat[seat]].act(state.observation(seat), state.action_mask())
                state.apply_action(action)
                twin.apply_action(action)
                if state.round_ended:
                    for i in range(len(agents)):
                        bonuses[i] += [state.info(s)["bonus"] for s in range(seats) if of_seat[s] == i]
            for i in range(len(agents)):
                own = [state.returns()[s] for s in range(seats) if of_seat[s] == i]
                other = [state.returns()[s] for s in range(seats) if of_seat[s] != i]
                scores[i] += own
                wins[i] += [twin.returns()[s] for s in range(seats) if of_seat[s] == i]
                margins[i].append(float(np.mean(own) - np.mean(other)))
        for i in range(len(agents)):
            deal_margins[i].append(float(np.mean(margins[i])))
    return {
        "score": [np.mean(x) for x in scores],
        "win_share": [np.mean(x) for x in wins],
        "bonus": [np.mean(x) for x in bonuses],
        "margin": [np.mean(x) for x in deal_margins],
        "margin_ci95": [T_TEN_DEALS * np.std(x, ddof=1) / len(x) ** 0.5 for x in deal_margins],
    }


@pytest.mark.parametrize(
    ("players", "num_agents", "options"),
    [
        (2, 2, {}),
        (3, 2, {}),
        (4, 3, {"reward": "margin"}),
        (3, 3, {"rounds": "match"}),
        (3, 2, {"rounds": 2, "reward": "win", "start_player": "random"}),
    ],
)
def test_the_result_is_that_of_a_simple_computation(
    players: int, num_agents: int, options: dict[str, Any]
) -> None:
    game = game_for(players, **options)
    agents = [Fixed(game, highest=i % 2 == 1) for i in range(num_agents)]
    result = catbox_agents.evaluate(game, agents, num_deals=10, seed=3)
    expected = plain_evaluation(game, agents, 10, 3)
    assert result.games == 10 * players
    for i, standing in enumerate(result.standings):
        assert standing.seats == (1 if i < num_agents - 1 else players - num_agents + 1)
        assert standing.score == pytest.approx(expected["score"][i])
        assert standing.margin == pytest.approx(expected["margin"][i])
        assert standing.margin_ci95 == pytest.approx(expected["margin_ci95"][i], rel=3e-4)
        assert standing.win_share == pytest.approx(expected["win_share"][i])
        assert standing.statistics["bonus"] == pytest.approx(expected["bonus"][i])


def test_equal_players_on_the_same_deals_are_exactly_even() -> None:
    # The hands decide every single game; the duplicate deals cancel all of that.
    result = catbox_agents.evaluate(game_for(4), ["heuristic", "heuristic"], num_deals=20)
    assert [s.margin for s in result.standings] == pytest.approx([0, 0], abs=1e-12)
    assert [s.margin_ci95 for s in result.standings] == pytest.approx([0, 0], abs=1e-12)
    assert [s.name for s in result.standings] == ["heuristic", "heuristic #2"]


def test_every_agent_holds_every_hand() -> None:
    game = game_for(2)
    agents = [Recording(game), Recording(game)]
    catbox_agents.evaluate(game, agents, num_deals=10)
    hand = game.observation_layout["hand"].slice
    first = game.observation_layout["phase"].offset  # the discard phase: nobody has touched its hand

    def hands(agent: Recording) -> list[list[int]]:
        seen = np.concatenate(agent.observations)
        return sorted(seen[seen[:, first] == 1, hand].tolist())

    assert hands(agents[0]) == hands(agents[1])
    assert len(hands(agents[0])) == 20


def test_the_same_seed_gives_the_same_result_and_another_seed_another_result() -> None:
    game = game_for(3)
    results = [catbox_agents.evaluate(game, ["heuristic", "random"], 10, seed=seed) for seed in (1, 1, 2)]
    assert results[0] == results[1]
    assert results[0].standings != results[2].standings


def test_wins_add_up_to_one_a_game() -> None:
    result = catbox_agents.evaluate(game_for(5, rounds=2), ["heuristic", "random"], num_deals=20)
    assert sum(s.seats * s.win_share for s in result.standings) == pytest.approx(1.0)


def test_only_the_agent_that_asks_for_it_is_given_its_history() -> None:
    game = game_for(3)
    agents = [Recording(game, needs_history=True), Recording(game)]
    catbox_agents.evaluate(game, agents, num_deals=10)
    assert all(past is None for past in agents[1].histories)
    bidding = 0
    for seen, past in zip(agents[0].observations, agents[0].histories, strict=True):
        assert past is not None
        assert past.shape == (len(seen), game.history_length, 2)
        for rows in past:
            moves = int((rows[:, 0] >= 0).sum())
            if moves in (3, 4, 5):  # bidding, in turn from seat 0: seats relative to the one that is asked
                bidding += 1
                assert rows[:moves, 0].tolist() == [(move - moves) % 3 for move in range(moves)]
                own = rows[:3, 0] == 0
                assert (rows[:3, 1][own] >= 0).all()
                assert (rows[:3, 1][~own] == -1).all()
    assert bidding == 10 * 3


def test_many_deals_are_played_in_chunks_and_every_finished_game_is_reported_as_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluation, "CHUNK", 8)
    monkeypatch.setattr(evaluation, "FIRST_DEALS", 1)
    reports: list[tuple[int, int]] = []
    game = game_for(2)
    result = catbox_agents.evaluate(
        game, ["random", "random"], 10, progress=lambda done, total: reports.append((done, total))
    )
    done = [number for number, _ in reports]
    assert done == sorted(set(done))
    assert {2, 6, 12, 20} <= set(done)  # one deal, two more, three more, the rest
    assert {total for _, total in reports} == {20} == {result.games}


def test_a_result_is_plain_data() -> None:
    game = game_for(3, rounds=2)
    result = catbox_agents.evaluate(game, ["heuristic", "random"], 10, names=["one", "two"])
    data = json.loads(json.dumps(result.as_dict()))
    assert data["game"] == game.id
    assert catbox_env.make_game(data["game"], **data["options"]) == game
    assert [row["name"] for row in result.rows()] == ["one", "two"] == [s["name"] for s in data["standings"]]
    assert result.rows()[0]["score"] == result["one"].score
    assert result.rows()[0]["paradox"] == result["one"].statistics["paradox"]
    with pytest.raises(KeyError, match="three"):
        result["three"]


class Cheat(Fixed):
    """Returns the answer that it was made with."""

    def __init__(self, game: Any, answer: Any) -> None:
        super().__init__(game)
        self.answer = answer

    def act_batch(
        self, observations: np.ndarray, action_masks: np.ndarray, histories: np.ndarray | None = None
    ) -> Any:
        return self.answer(len(observations))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: np.full(n, 34), r"agent 'Cheat' chose the illegal action 34 \(PARADOX: "),
        (lambda n: np.full(n, -1), "chose the illegal action -1 \\(expected 0 to 34"),
        (lambda n: np.full(n, 99), "chose the illegal action 99 \\(expected 0 to 34"),
        (lambda n: np.zeros(n), "float64"),
        (lambda n: [0], r"of shape \(1,\)"),
    ],
)
def test_an_agent_that_plays_an_illegal_action_is_named(answer: Any, said: str) -> None:
    game = game_for(3)
    with pytest.raises(ValueError, match=f"(?i){said}"):
        catbox_agents.evaluate(game, [Cheat(game, answer), "random"], 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"agents": ["random"]}, "agents: 1 .random.; expected at least 2"),
        ({"agents": []}, "agents: 0 .none.; expected at least 2"),
        ({"agents": "random"}, r"expected a list of agents"),
        ({"agents": ["random"] * 4}, "4 agents .* for 3 seats"),
        ({"agents": ["random", "clever"]}, "unknown agent 'clever'"),
        ({"agents": ["random", object()]}, "has no method 'act'"),
        ({"num_deals": 9}, "num_deals=9: expected at least 10"),
        ({"seed": -1}, "seed=-1: expected an integer of 0 or more"),
        ({"names": ["one"]}, "expected 2 different names"),
        ({"names": ["one", "one"]}, "expected 2 different names"),
    ],
)
def test_impossible_arguments_are_refused(arguments: dict[str, Any], said: str) -> None:
    full: dict[str, Any] = {"agents": ["random", "heuristic"], "num_deals": 10, **arguments}
    with pytest.raises(ValueError, match=said):
        catbox_agents.evaluate(game_for(3), **full)


@pytest.mark.parametrize(
    ("freedom", "printed"), [(9, 2.2622), (14, 2.1448), (30, 2.0423), (120, 1.9799), (10**6, 1.9600)]
)
def test_the_interval_uses_the_quantiles_of_students_t(freedom: int, printed: float) -> None:
    assert t_quantile(freedom) == pytest.approx(printed, abs=1e-3)


class Seeded(Fixed):
    """Keeps the seeds that it is made with."""

    seeds: ClassVar[list[Any]] = []

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game)
        self.seeds.append(seed)


def test_an_agents_seed_is_a_number_and_not_the_seed_sequence_of_the_deals() -> None:
    Seeded.seeds.clear()
    spec = f"{__name__}:Seeded"
    catbox_agents.evaluate(game_for(3), [spec, spec], 10, seed=3)
    assert len(Seeded.seeds) == 9  # one for each seat of each rotation
    Match(game_for(3), [spec] * 3, 3)
    assert [type(seed) for seed in Seeded.seeds] == [int] * 12
    assert 3 not in Seeded.seeds
    assert len(set(Seeded.seeds)) == 12
