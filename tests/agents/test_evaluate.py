"""`evaluate`: the same deals from every seat, and statistics that a simple computation confirms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent, EvaluationInterrupted
from catbox_agents.arena import run
from catbox_agents.features import facts
from catbox_agents.specs import labels_of
from tests.small_games import game_for

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


def plain_evaluation(game: Any, agents: list[Fixed], num_deals: int, seed: int) -> dict[str, Any]:
    """The same comparison, one game at a time and without shortcuts."""
    deals = np.random.SeedSequence(seed).spawn(2)[1].spawn(1)[0].spawn(num_deals)
    seats = game.num_players
    points_game = catbox_env.make_game(game.id, **{**game.options, "reward": "score"})
    win_game = catbox_env.make_game(game.id, **{**game.options, "reward": "win"})
    scores: list[list[float]] = [[] for _ in agents]
    wins: list[list[float]] = [[] for _ in agents]
    bonuses: list[list[float]] = [[] for _ in agents]
    bids: list[list[int]] = [[] for _ in agents]
    seat_margins: list[list[list[float]]] = [[[] for _ in range(seats)] for _ in agents]
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
                        infos = [state.info(s) for s in range(seats) if of_seat[s] == i]
                        bonuses[i] += [info["bonus"] for info in infos]
                        bids[i] += [info["bid"] for info in infos]
            for i in range(len(agents)):
                own = [state.returns()[s] for s in range(seats) if of_seat[s] == i]
                other = [state.returns()[s] for s in range(seats) if of_seat[s] != i]
                scores[i] += own
                for seat in range(seats):
                    if of_seat[seat] == i:
                        seat_margins[i][seat].append(state.returns()[seat] - float(np.mean(other)))
                wins[i] += [twin.returns()[s] for s in range(seats) if of_seat[s] == i]
                margins[i].append(float(np.mean(own) - np.mean(other)))
        for i in range(len(agents)):
            deal_margins[i].append(float(np.mean(margins[i])))
    return {
        "score": [np.mean(x) for x in scores],
        "win_share": [np.mean(x) for x in wins],
        "bonus": [np.mean(x) for x in bonuses],
        "bid": [{bid: found.count(bid) / len(found) for bid in game.rules.bids} for found in bids],
        "seat_margins": [[np.mean(x) for x in by_seat] for by_seat in seat_margins],
        "deal_margins": np.array(deal_margins).T,
        "margin": [np.mean(x) for x in deal_margins],
        "margin_ci95": [T_TEN_DEALS * np.std(x, ddof=1) / len(x) ** 0.5 for x in deal_margins],
    }


@pytest.mark.parametrize(
    ("players", "num_agents", "options"),
    [
        (2, 2, {}),
        (4, 3, {"reward": "margin"}),
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
    assert result.deal_margins == pytest.approx(expected["deal_margins"], abs=1e-5)
    for i, standing in enumerate(result.standings):
        assert standing.seats == (1 if i < num_agents - 1 else players - num_agents + 1)
        assert standing.score == pytest.approx(expected["score"][i])
        assert standing.margin == pytest.approx(expected["margin"][i])
        assert standing.margin_ci95 == pytest.approx(expected["margin_ci95"][i], rel=3e-4)
        assert standing.win_share == pytest.approx(expected["win_share"][i])
        assert standing.statistics["bonus"] == pytest.approx(expected["bonus"][i])
        assert standing.by_seat["margin"] == pytest.approx(expected["seat_margins"][i])
        assert np.mean(standing.by_seat["win_share"]) == pytest.approx(standing.win_share)
        bids = {"bid": pytest.approx(expected["bid"][i])} if game.rules.bids else {}
        assert standing.distributions == bids
        for name, array in (("score", result.deal_scores), ("win_share", result.deal_win_shares)):
            assert array[:, i].mean() == pytest.approx(getattr(standing, name), rel=1e-5)


def test_equal_players_on_the_same_deals_are_exactly_even() -> None:
    # The hands decide every single game; the duplicate deals cancel all of that.
    result = catbox_agents.evaluate(game_for(4), ["heuristic", "heuristic"], num_deals=20)
    assert [s.margin for s in result.standings] == pytest.approx([0, 0], abs=1e-12)
    assert [s.margin_ci95 for s in result.standings] == pytest.approx([0, 0], abs=1e-12)
    assert [s.name for s in result.standings] == ["heuristic", "heuristic #2"]


def test_only_the_agent_that_asks_for_it_is_given_its_history() -> None:
    game = game_for(3)
    agents = [Recording(game, needs_history=True), Recording(game)]
    catbox_agents.evaluate(game, agents, num_deals=10)
    assert all(past is None for past in agents[1].histories)
    bidding = 0
    for seen, past in zip(agents[0].observations, agents[0].histories, strict=True):
        assert past is not None
        assert past.shape == (len(seen), game.max_game_length, 2)
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
    monkeypatch.setattr(run, "CHUNK", 8)
    monkeypatch.setattr(run, "FIRST_DEALS", 1)
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
    assert result.rows()[0]["score_seat_2"] == result["one"].by_seat["score"][2]
    assert not any(isinstance(value, np.ndarray) for value in result.as_dict().values())
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
        ({"agents": ["random"] * 4}, "4 agents .* for 3 seats"),
        ({"agents": ["random", object()]}, "has no method 'act'"),
        ({"num_deals": 9}, "num_deals=9: expected at least 10"),
        ({"seed": np.random.SeedSequence(1)}, "(?s)seed=SeedSequence.*: expected an integer"),
        ({"names": ["one", "one"]}, "expected 2 different names"),
    ],
)
def test_impossible_arguments_are_refused(arguments: dict[str, Any], said: str) -> None:
    full: dict[str, Any] = {"agents": ["random", "heuristic"], "num_deals": 10, **arguments}
    with pytest.raises(ValueError, match=said):
        catbox_agents.evaluate(game_for(3), **full)


def test_a_bid_is_hit_when_it_is_paid_and_a_paradox_is_told_to_every_seat() -> None:
    vec = catbox_env.make_vec("cat_in_the_box_v0", 400, seed=2, num_players=4, hand_size=6)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in vec.info}
    for step in range(70):
        vec.step_random(1, seed=step)
        for name, values in vec.info.items():
            rows[name] += list(values[vec.round_ended].copy())
    info = {name: np.array(values) for name, values in rows.items()}
    statistics = facts(vec.game).statistics(vec.game, info)
    met = info["bid"] == info["tricks_won"]
    assert (met & (info["paradox"] == 1)).sum() > 10  # won as many tricks as it bid, and caused a paradox
    assert np.array_equal(statistics["bid_hit"] == 1, met & (info["paradox"] == 0))
    won_some = info["bid"] > 0  # a seat that has won a trick has a token, so its bonus is not 0
    assert np.array_equal(statistics["bid_hit"][won_some], info["bonus"][won_some] > 0)
    causes = info["paradox"].sum(axis=1)
    assert set(causes) == {0, 1}
    assert np.array_equal(statistics["any_paradox"], np.repeat(causes[:, None], 4, axis=1))


class Impatient(Agent):
    """The lowest legal id; presses Ctrl-C after a given number of decisions."""

    def __init__(self, game: Any, seed: Any = None, patience: int = 3000) -> None:
        super().__init__(game, seed)
        self.patience = patience

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        self.patience -= len(observations)
        if self.patience < 0:
            raise KeyboardInterrupt
        return action_masks.argmax(axis=1)


@pytest.mark.parametrize("asked", [10**3, 10**12])
def test_an_interrupted_comparison_holds_the_result_of_the_deals_that_were_finished(asked: int) -> None:
    game = game_for(3)
    with pytest.raises(EvaluationInterrupted, match=f"interrupted: 76 of {asked} deals") as stopped:
        catbox_agents.evaluate(game, [Impatient(game), "heuristic"], asked, seed=5)
    part = stopped.value.result
    assert part is not None
    assert (part.deals, part.deals_planned, part.games) == (76, asked, 76 * 3)
    whole = catbox_agents.evaluate(game, [Impatient(game, patience=10**6), "heuristic"], 76, seed=5)
    assert part.standings == whole.standings
    assert (whole.deals, whole.deals_planned) == (76, 76)


def test_a_comparison_that_is_interrupted_at_once_has_no_result() -> None:
    game = game_for(3)
    with pytest.raises(KeyboardInterrupt) as stopped:
        catbox_agents.evaluate(game, [Impatient(game, patience=20), "heuristic"], 1000)
    assert isinstance(stopped.value, EvaluationInterrupted)
    assert stopped.value.result is None


def test_names_are_all_different() -> None:
    assert labels_of(["A #2", "A", "A"]) == ["A #2", "A", "A #3"]
    assert labels_of(["A", "A", "A #2"]) == ["A", "A #2", "A #2 #2"]
