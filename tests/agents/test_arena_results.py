"""What a result holds: single deals, seats, bids, rounds that a paradox ended, and what an interrupted one holds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent, EvaluationInterrupted
from catbox_agents.arena.intervals import t_quantile
from catbox_agents.arena.report import milliseconds


def game_for(players: int = 3, **options: Any) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)


class Bids(Agent):
    """Makes the lowest bid, or the highest; otherwise takes the highest legal id. Counts its bids."""

    def __init__(self, game: Any, highest: bool) -> None:
        super().__init__(game)
        self.highest = highest
        self.made = dict.fromkeys(game.rules.bids, 0)

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        ranks, bids = self.game.rules.num_ranks, self.game.rules.bids
        bidding = ranks <= np.argmax(action_mask) < ranks + len(bids)
        action = int(np.flatnonzero(action_mask)[-1 if self.highest or not bidding else 0])
        if bidding:
            self.made[bids[action - ranks]] += 1
        return action


# Statistics of Cat in the Box ----------------------------------------------------------------------------------------


def ended_rounds(players: int, **rules: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Info and statistics (n, P) of rounds of random play."""
    vec = catbox_env.make_vec("cat_in_the_box_v0", 400, seed=2, num_players=players, **rules)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in vec.info}
    for step in range(70):
        vec.step_random(1, seed=step)
        for name, values in vec.info.items():
            rows[name] += list(values[vec.round_ended].copy())
    info = {name: np.array(values) for name, values in rows.items()}
    return info, vec.game.statistics(info)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_a_bid_is_hit_when_it_is_paid(players: int) -> None:
    info, statistics = ended_rounds(players)
    met = info["bid"] == info["tricks_won"]
    assert (met & (info["paradox"] == 1)).sum() > 10  # won as many tricks as it bid, and caused a paradox
    assert not statistics["bid_hit"][info["paradox"] == 1].any()
    won_some = info["bid"] > 0  # a seat that has won a trick has a token, so its bonus is not 0
    assert np.array_equal(statistics["bid_hit"][won_some], info["bonus"][won_some] > 0)
    assert np.array_equal(statistics["bid_hit"] == 1, met & (info["paradox"] == 0))


def test_any_paradox_is_reported_to_every_seat() -> None:
    info, statistics = ended_rounds(4, hand_size=6)
    causes = info["paradox"].sum(axis=1)
    assert set(causes) == {0, 1}
    assert np.array_equal(statistics["any_paradox"], np.repeat(causes[:, None], 4, axis=1))
    assert statistics["any_paradox"].mean() == pytest.approx(4 * statistics["paradox"].mean())


def test_times_are_written_without_an_exponent() -> None:
    times = [milliseconds(seconds) for seconds in (None, 0.0000123456, 0.1063, 0.9999, 1.234)]
    assert times == ["", "0.0123", "106", "1,000", "1,234"]


# Single deals, seats, bids ---------------------------------------------------------------------------------------


def test_the_means_are_those_of_the_single_deals() -> None:
    result = catbox_agents.evaluate(game_for(rounds=2), ["heuristic", "random"], 30)
    for name, array in (
        ("score", result.deal_scores),
        ("margin", result.deal_margins),
        ("win_share", result.deal_win_shares),
    ):
        assert array.shape == (30, 2)
        assert array.dtype == np.float32
        assert array.std() > 0
        means = [getattr(standing, name) for standing in result.standings]
        assert array.mean(axis=0).tolist() == pytest.approx(means, rel=1e-5)
    interval = t_quantile(29) * result.deal_margins[:, 0].std(ddof=1) / 30**0.5
    assert result.standings[0].margin_ci95 == pytest.approx(interval, rel=1e-5)
    # Two agents, one seat against two: what one agent gains, the other loses.
    assert result.deal_margins.sum(axis=1).tolist() == pytest.approx([0.0] * 30, abs=1e-5)
    assert not any(isinstance(value, np.ndarray) for value in result.as_dict().values())


def test_the_means_of_a_seat_are_those_of_the_games_in_which_the_agent_sat_there() -> None:
    game = game_for(3)
    agents = [Bids(game, False), Bids(game, True)]
    result = catbox_agents.evaluate(game, agents, 10, seed=1, names=["low", "high"])
    scores: dict[tuple[int, int], list[float]] = {}
    margins: dict[tuple[int, int], list[float]] = {}
    for deal in range(10):
        for turn in range(3):
            of_seat = [min((seat - turn) % 3, 1) for seat in range(3)]
            seed = np.random.SeedSequence(1, spawn_key=(1, 0, deal))
            state = game.new_initial_state(seed=seed)
            while not state.is_terminal():
                seat = state.current_player
                state.apply_action(agents[of_seat[seat]].act(state.observation(seat), state.action_mask()))
            for seat in range(3):
                others = [state.returns()[s] for s in range(3) if of_seat[s] != of_seat[seat]]
                scores.setdefault((of_seat[seat], seat), []).append(state.returns()[seat])
                margins.setdefault((of_seat[seat], seat), []).append(state.returns()[seat] - np.mean(others))
    for i, standing in enumerate(result.standings):
        assert standing.by_seat["score"] == pytest.approx([np.mean(scores[i, seat]) for seat in range(3)])
        assert standing.by_seat["margin"] == pytest.approx([np.mean(margins[i, seat]) for seat in range(3)])
        assert np.mean(standing.by_seat["win_share"]) == pytest.approx(standing.win_share)
        assert result.rows()[i]["score_seat_2"] == standing.by_seat["score"][2]


def test_the_result_tells_how_often_each_bid_was_made() -> None:
    game = game_for(3, rounds=2)
    agents = [Bids(game, False), Bids(game, True)]
    result = catbox_agents.evaluate(game, agents, 10, names=["low", "high"])
    for agent, standing in zip(agents, result.standings, strict=True):
        made = sum(agent.made.values())
        assert made == 10 * 3 * 2 * standing.seats
        shares = {bid: number / made for bid, number in agent.made.items()}
        assert standing.distributions == {"bid": pytest.approx(shares)}
    assert result["low"].distributions["bid"][game.rules.bids[0]] > 0.9
    assert result.rows()[1]["bid_1"] == result["high"].distributions["bid"][1]
    assert json.loads(json.dumps(result.as_dict()))["standings"][0]["distributions"]["bid"]["1"] > 0.9


def test_without_bids_the_result_has_none() -> None:
    result = catbox_agents.evaluate(game_for(2, bids=()), ["heuristic", "random"], 10)
    assert result.standings[0].distributions == {}
    assert catbox_env.make_game("petrify_v0").info_values == {}


# Interrupted -------------------------------------------------------------------------------------------------------


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
    game = game_for()
    with pytest.raises(EvaluationInterrupted, match=f"interrupted: 76 of {asked} deals") as stopped:
        catbox_agents.evaluate(game, [Impatient(game), "heuristic"], asked, seed=5)
    part = stopped.value.result
    assert part is not None
    assert (part.deals, part.deals_planned, part.games) == (76, asked, 76 * 3)
    whole = catbox_agents.evaluate(game, [Impatient(game, patience=10**6), "heuristic"], 76, seed=5)
    assert part.standings == whole.standings
    assert (whole.deals, whole.deals_planned) == (76, 76)


def test_a_comparison_that_is_interrupted_at_once_has_no_result() -> None:
    game = game_for()
    with pytest.raises(KeyboardInterrupt) as stopped:
        catbox_agents.evaluate(game, [Impatient(game, patience=20), "heuristic"], 1000)
    assert isinstance(stopped.value, EvaluationInterrupted)
    assert stopped.value.result is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_deals": 10.0}, r"num_deals=10\.0: expected an integer"),
        ({"num_deals": True}, "num_deals=True: expected an integer"),
        ({"num_deals": "100"}, "num_deals='100': expected an integer"),
        ({"num_deals": None}, "num_deals=None: expected an integer"),
        ({"seed": 1.5}, r"seed=1\.5: expected an integer"),
        ({"seed": True}, "seed=True: expected an integer"),
        ({"seed": np.random.SeedSequence(1)}, "seed=SeedSequence.*: expected an integer"),
        ({"agents": [Agent, "random"]}, "is the class Agent, expected an agent"),
    ],
)
def test_an_invalid_number_of_deals_seed_or_agent_is_refused(arguments: dict[str, Any], said: str) -> None:
    full: dict[str, Any] = {"agents": ["random", "heuristic"], "num_deals": 10, **arguments}
    with pytest.raises(ValueError, match="(?s)" + said):
        catbox_agents.evaluate(game_for(), **full)
