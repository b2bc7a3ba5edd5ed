"""What an update plays: which deals, who sits where, what is noted of the learner's decisions, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import catbox_agents
from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.network import Network
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Vec
from catbox_train.device_rollout import DeviceRollout
from catbox_train.group import Group
from catbox_train.networks import make_network
from catbox_train.registry import algorithm_class
from catbox_train.rollout import Decisions, Rollout
from catbox_train.runs.loop import resume, train
from catbox_train.self_play_config import PAST
from tests.agents.policies import checkpoint
from tests.train import agents_in_training
from tests.train.agents_in_training import DRAWING, HERE, HIGHEST, ILLEGAL, RAISING, REMEMBERING, highest
from tests.train.ppo_runs import BRIEF, GAME, UPDATE, algorithm_of, made, quiet, small

SEEDED = f"{HERE}:Seeded"
#: Two rounds, and paid after each of them.
MATCH = {**GAME, "rounds": 2}
TABLES = {"random": 0.2, HIGHEST: 0.2, REMEMBERING: 0.1, PAST: 0.3}


class Step(NamedTuple):
    """One decision of a game, of any seat."""

    seat: int
    seen: bytes
    mask: NDArray[np.bool_]
    action: int
    rewards: NDArray[np.float32]


class Played(NamedTuple):
    """An update, and the same recorded from outside, game by game; in each step, the games that were running."""

    decisions: Decisions
    games: list[list[Step]]
    steps: list[list[int]]
    line_up: NDArray[np.int64]


def choose(
    network: object,
    inputs: torch.Tensor,
    action_features: torch.Tensor,
    masks: torch.Tensor,
    uniforms: torch.Tensor,
) -> Mapping[str, torch.Tensor]:
    """A legal action by the random number of the game."""
    place = (uniforms * masks.sum(1)).long()
    return {"actions": (masks.cumsum(1) > place[:, None]).int().argmax(1), "noted": uniforms}


def rollout_of(rank: int = 0, size: int = 1, **settings: Any) -> Rollout:
    config = small(game_options=MATCH, games_per_update=20, **settings)
    game = config.make_game()
    return Rollout(config, game, NetworkInputs(game, True, True), Group(rank, size))


def past_of(rollout: Rollout) -> dict[str, PolicyAgent]:
    """Three earlier policies."""
    made: dict[int, Any] = {seed: algorithm_of(rollout.config.replace(seed=seed)) for seed in (1, 2, 3)}
    return {
        f"past:{seed}": PolicyAgent(trainer.network, rollout.game, greedy=False)
        for seed, trainer in made.items()
    }


def network_of(rollout: Rollout) -> Network:
    """A network that `choose` does not ask."""
    return make_network(rollout.config, rollout.game)


def play(rollout: Rollout, update: int = 0, past: Mapping[str, Any] | None = None) -> Played:
    games: list[list[Step]] = [[] for _ in range(rollout.vec.num_envs)]
    steps: list[list[int]] = []
    step, past = Vec.step, past_of(rollout) if past is None else past

    def recorded(vec: Vec, actions: Any, rows: Any) -> None:
        seats, masks = vec.current_player[rows].tolist(), vec.action_mask[rows].copy()
        seen = [row.tobytes() for row in vec.observation[rows]]
        step(vec, actions, rows)
        steps.append(rows.tolist())
        each = zip(rows.tolist(), seats, seen, masks, actions.tolist(), vec.rewards[rows].copy(), strict=True)
        for game, *what in each:
            games[game].append(Step(*what))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vec, "step", recorded)
        decisions = rollout.play(update, network_of(rollout), choose, past)
    shares = rollout._shares([*past], None)
    return Played(decisions, games, steps, rollout._line_up(update, shares)[rollout._games])


def key(games: list[list[Step]]) -> list[list[tuple[Any, ...]]]:
    return [[(step.seat, step.seen, step.action, step.rewards.tolist()) for step in game] for game in games]


@pytest.mark.parametrize("opponents", [{}, TABLES])
def test_every_decision_of_the_learner_is_noted_once_in_order_with_its_pay(
    opponents: dict[str, float],
) -> None:
    """Beside a plain record of the games, over three updates."""
    rollout = rollout_of(opponents=opponents)
    past, size = past_of(rollout), rollout.game.observation_layout.size
    for update in range(3):
        found, games, steps, line_up = play(rollout, update, past)
        own = [
            (game, len([earlier for earlier in steps[:k] if game in earlier]))
            for k, running in enumerate(steps)
            for game in running
            if line_up[game, games[game][k].seat] == 0  # no game begins later than another
            and games[game][k].mask.sum() > 1  # a forced move is no decision
        ]
        assert any(step.mask.sum() == 1 for game in games for step in game)
        assert len(found) == len(own) == sum(len(range(*rows.indices(10**6))) for rows in found.steps)
        assert found.played == sum(map(len, games)) == 20 * 24
        assert found.rows.tolist() == list(range(len(found)))
        columns = {name: column.numpy() for name, column in found.columns.items()}
        rows = {place: row for row, place in enumerate(own)}
        for (game, number), row in rows.items():
            seat, seen, mask, action, _ = games[game][number]
            later = [
                n
                for n in range(number + 1, len(games[game]))
                if games[game][n].seat == seat and (game, n) in rows
            ]
            until = later[0] if later else len(games[game])
            paid = sum(float(step.rewards[seat]) for step in games[game][number:until])
            assert columns["inputs"][row, :size].tobytes() == seen
            assert np.array_equal(columns["masks"][row], mask)
            assert columns["actions"][row] == action
            assert (found.game[row], found.seat[row]) == (game, seat)
            assert float(found.rewards[row]) == pytest.approx(paid, abs=1e-5)
            assert found.next_rows[row] == (rows[game, later[0]] if later else -1)
        assert all(len(column) == len(found) for column in columns.values())
        assert columns["noted"].dtype == np.float64
        features = catbox_agents.features.features_of(
            rollout.game
        ).compute(  # type: ignore[union-attr]
            np.ascontiguousarray(columns["inputs"][:, :size]), columns["masks"]
        )
        assert np.array_equal(columns["inputs"][:, size:], features[0])
        assert np.array_equal(columns["action_features"], features[1])
        for sums, count in found.statistics.values():
            assert (count, np.isfinite(sums)) == (2 * (line_up == 0).sum(), True)
        assert found.rounds == 40


def test_each_process_has_as_many_games_of_an_opponent_on_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """There opponents have their games one after the other."""
    monkeypatch.setattr(Rollout, "_opponent_draws", DeviceRollout._opponent_draws)
    counts = []
    for rank in range(2):
        rollout = rollout_of(rank, 2, opponents=TABLES)
        line_up = rollout._line_up(0, rollout._shares([], None))[rollout._games]
        counts.append(np.bincount(line_up.max(axis=1), minlength=len(TABLES) + 1))
    assert abs(counts[0] - counts[1]).max() <= 1


@pytest.mark.parametrize("size", [2, 3])
def test_games_do_not_depend_on_how_processes_share_them(size: int) -> None:
    """Nor do the numbers that they are played with: of the learner, of opponents, and of earlier policies."""
    alone = play(rollout_of(opponents=TABLES), 4)
    shares = [play(rollout_of(rank, size, opponents=TABLES), 4) for rank in range(size)]
    for rank, share in enumerate(shares):
        assert key(share.games) == key(alone.games[rank::size])
        assert np.array_equal(share.line_up, alone.line_up[rank::size])
    assert sorted(np.concatenate([share.decisions.columns["noted"] for share in shares])) == sorted(
        alone.decisions.columns["noted"]
    )


def test_deals_differ_by_update_and_by_seed() -> None:
    first, again = play(rollout_of(), 0, {}), play(rollout_of(), 0, {})
    assert key(first.games) == key(again.games)
    seen = [b"".join(step.seen for step in game) for game in first.games]
    assert len(set(seen)) == 20
    for other in (play(rollout_of(), 1, {}), play(rollout_of(seed=2), 0, {})):
        assert not {b"".join(step.seen for step in game) for game in other.games} & set(seen)


def test_memory_grows_with_the_decisions_and_no_further() -> None:
    rollout = rollout_of(opponents={HIGHEST: 0.5})
    for update in range(4):
        found = play(rollout, update, {}).decisions
        rows = {len(column) for column in rollout._columns.values()}
        assert len(rows) == 1
        assert max(rows) < 1.5 * 20 * 24
        assert len(found) < 20 * 24


# Who sits where.


def within(count: int, total: int, share: float) -> bool:
    """Whether ``count`` of ``total`` is no further from ``share`` than chance goes once in half a million times."""
    return abs(count - total * share) <= 5 * math.sqrt(total * share * (1 - share))


def line_up_of(opponents: dict[str, float], num_past: int = 0, **settings: Any) -> NDArray[np.int64]:
    config = small(
        opponents=opponents, games_per_update=20_000, game_options={**GAME, "num_players": 4}, **settings
    )
    game = config.make_game()
    rollout = Rollout(config, game, NetworkInputs(game))
    return rollout._line_up(0, rollout._shares([f"past:{k}" for k in range(num_past)], None))


def test_opponents_play_in_the_shares_of_the_games_that_were_asked_for_and_the_past_uniformly() -> None:
    opponents = {"random": 0.1, PAST: 0.3, "heuristic": 0.2}
    opponent = line_up_of(opponents, num_past=3).max(axis=1)
    shares = [
        0.4,
        0.1,
        0.2,
        0.1,
        0.1,
        0.1,
    ]  # the learner alone, the agents in their order, the earlier policies
    for number, share in enumerate(shares):
        assert within(int((opponent == number).sum()), 20_000, share)
    opponent = line_up_of(opponents, num_past=0).max(axis=1)
    assert within(int((opponent == 0).sum()), 20_000, 0.7), (
        "without a past, the learner plays those games alone"
    )


@pytest.mark.parametrize("learner_seats", [0, 3])
def test_the_learner_and_an_opponent_have_a_seat_each_at_least_in_shared_games(learner_seats: int) -> None:
    """Each number of the learner's seats is as likely, where none was asked for, and so is each seat."""
    own = line_up_of({"random": 0.5}, learner_seats=learner_seats) == 0
    counts = np.bincount(own.sum(axis=1), minlength=5)
    assert within(int(counts[4]), 20_000, 0.5)
    for count, chance in enumerate([0, 0, 0, 1] if learner_seats else [0, 1 / 3, 1 / 3, 1 / 3]):
        assert within(int(counts[count]), 20_000, 0.5 * chance)
    for seat in range(4):
        assert within(int((~own[:, seat]).sum()), 20_000, 0.125 if learner_seats else 0.25)


def test_a_game_is_won_by_the_mean_pay_of_a_side_and_a_tie_is_half_a_win() -> None:
    config = small(
        opponents={"random": 0.3, "heuristic": 0.3, PAST: 0.3}, game_options={**GAME, "num_players": 4}
    )
    rollout = Rollout(config, config.make_game(), NetworkInputs(config.make_game()))
    line_up = np.array([[0, 1, 1, 1], [0, 0, 2, 0], [1, 0, 0, 1], [0, 0, 0, 0], [3, 0, 3, 3], [0, 4, 0, 0]])
    # 5 against 7/3; 2 against 2.5; 2 against 2; no opponent; 1 against 0; 0 against 3
    paid = [[5, 1, 2, 4], [1, 1, 2.5, 4], [4, 2, 2, 0], [9, 0, 0, 0], [0, 1, 0, 0], [0, 3, 0, 0]]
    rollout._set_opponents(0, dict.fromkeys(["past:1", "past:2"], catbox_agents.make("random", rollout.game)))
    found = rollout._wins(line_up, np.array(paid, np.float32))
    assert {name: sums.tolist() for name, sums in found.items()} == {
        "random": [1.5, 2],
        "heuristic": [0, 1],
        "past:1": [1, 1],
        "past:2": [0, 1],
    }


def test_a_match_is_won_by_the_pay_of_all_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is the sum, not what the last round paid."""
    rollout, seen = rollout_of(opponents={"random": 0.5}), []
    wins = rollout._wins
    monkeypatch.setattr(rollout, "_wins", lambda line_up, paid: seen.append(paid) or wins(line_up, paid))
    found = play(rollout, past={})
    totals = np.array([np.sum([step.rewards for step in game], axis=0) for game in found.games])
    assert seen[0] == pytest.approx(totals, abs=1e-5)
    assert any(np.abs(step.rewards).any() for game in found.games for step in game[:-1]), (
        "rounds are paid in the middle"
    )
    assert found.decisions.wins["random"].tolist() == wins(found.line_up, totals)["random"].tolist()


# Who plays.


def test_seats_of_opponents_play_the_opponents_actions() -> None:
    _, games, _, line_up = play(rollout_of(opponents={HIGHEST: 0.5, "random": 0.3}))
    steps = [(line_up[k, step.seat], step) for k, game in enumerate(games) for step in game]
    chosen = [(player, step.action == highest(step.mask[None])[0]) for player, step in steps]
    assert all(is_highest for player, is_highest in chosen if player == 1)
    assert sum(player == 1 for player, _ in chosen) > 50
    assert sum(not is_highest for player, is_highest in chosen if player == 2) > 10


def test_an_opponent_is_made_once_but_for_ones_own_that_draws_without_the_seeds_of_its_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_of, make = [], catbox_agents.make

    def counted(spec: Any, *given: Any) -> Any:
        made_of.append(spec)
        return make(spec, *given)

    monkeypatch.setattr(catbox_agents, "make", counted)
    settings = {"opponents": {"random": 0.2, "heuristic": 0.2, SEEDED: 0.2, DRAWING: 0.3}}
    rollout = rollout_of(**settings)
    played = [key(play(rollout, update, {}).games) for update in range(3)]
    assert {spec: made_of.count(spec) for spec in made_of} == {
        "random": 1,
        "heuristic": 1,
        SEEDED: 1,
        DRAWING: 1 + 3,
    }
    assert key(play(rollout_of(**settings), 2, {}).games) == played[2], "whatever was played before"


def test_earlier_policies_play_with_the_weights_that_they_had() -> None:
    trainer = made(opponents={PAST: 0.5}, past_policies=2, past_every=2)
    kept: list[dict[str, np.ndarray]] = []
    for update in range(5):
        trainer.update(update, 0.0)
        if update in (1, 3):
            kept.append(trainer.network.arrays())
        assert [*trainer.league.past] == [f"past:{k}" for k in (2, 4)[: len(kept)]]
    for agent, arrays in zip(trainer.league.past.values(), kept, strict=True):
        np.testing.assert_equal(agent.network.arrays(), arrays)
        assert not agent.greedy
    trainer.update(5, 0.0)
    np.testing.assert_equal(trainer.league.past["past:4"].network.arrays(), kept[1])


@pytest.mark.parametrize("algorithm", ["ppo", "dmc", "exit"])
def test_the_memory_that_is_asked_for_is_about_what_is_taken(algorithm: str) -> None:
    config = small(algorithm=algorithm, games_per_update=2000, update_epochs=1, minibatch_size=4096)
    trainer: Any = algorithm_of(config)
    trainer.update(0, 0.0)
    taken = sum(column.nbytes for column in trainer.rollout._columns.values())
    kind = algorithm_class(algorithm)
    searches = (
        kind.memory_needed(config.replace(games_per_update=1), trainer.game) if algorithm == "exit" else 0
    )
    assert taken / 1.5 < kind.memory_needed(config, trainer.game) < 3 * taken + searches


# What is refused.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"opponents": {"heuristic": 0.7, PAST: 0.4}}, r"shares that add up to at most 1, not 1\.1"),
        ({"opponents": {"heuristic": 1.5}}, r"opponents = .*expected at most 1"),
        ({"opponents": "heuristic"}, r"opponents = 'heuristic': expected a mapping from opponents"),
        ({"past_policies": 0}, "past_policies = 0: expected at least 1"),
        ({"past_policies": 65}, "past_policies = 65: expected at most 64"),
        (
            {"opponents": {"random": 0.5}, "learner_seats": 3},
            "learner_seats = 3: expected 0 or 1 to 2 of the 3",
        ),
        ({"games_per_update": 1, "workers": 2}, "games_per_update = 1: expected at least one for each of 2"),
    ],
)
def test_impossible_opponents_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        small(**settings)


def test_shares_that_add_up_to_one_up_to_rounding_are_accepted() -> None:
    shares = {"heuristic": 0.1, "random": 0.2, PAST: 0.7}
    assert sum(shares.values()) > 0.9999
    assert small(opponents=shares).agents()["opponents"] == ("heuristic", "random")


def test_an_opponent_for_other_rules_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    other = checkpoint(tmp_path, "cat_in_the_box_v0", seed=1, num_players=5)
    with pytest.raises(ValueError, match=r"opponents: .*num_players"):
        train(small(opponents={other: 0.1}), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("spec", "said"), [(ILLEGAL, "chose the illegal action"), (RAISING, "raised RuntimeError: out of ideas")]
)
def test_an_opponent_that_fails_is_named_and_the_last_checkpoint_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, said: str
) -> None:
    for kind in (agents_in_training.Illegal, agents_in_training.Raising):
        monkeypatch.setattr(kind, "decisions", 0)
    config = small(**{**BRIEF, "checkpoint_every": 1}, opponents={spec: 1.0})
    with pytest.raises(ValueError, match=rf"agent '{spec}' {said}"):
        train(config, tmp_path / "run", quiet())
    folder = latest_checkpoint(tmp_path / "run")
    assert folder is not None
    assert 1 <= int(folder.name) < 5
    monkeypatch.setattr(agents_in_training, "FAILS_AFTER", 10**9)  # mended
    assert resume(tmp_path / "run", quiet(), trust=True)["training"]["decisions"] == 5 * UPDATE
