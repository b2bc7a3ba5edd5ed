"""Opponents in training: who sits where, what is learned from, the pool of earlier policies, and what is refused."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from catbox_train.algorithms.ppo.options import PPOOptions
from catbox_train.opponents import DECAY, PAST, TABLES_EACH, Pool, Tables
from numpy.typing import NDArray
from torch.nn.utils import vector_to_parameters

import catbox_env
from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_env import Vec
from catbox_train.runs.loop import resume, train
from tests.agents.policies import checkpoint
from tests.train import agents_in_training
from tests.train.agents_in_training import HIGHEST, ILLEGAL, RAISING, highest
from tests.train.ppo_runs import BRIEF, quiet, small, trainer_of

GAME = catbox_env.make_game("cat_in_the_box_v0", num_players=4)


def tables_of(shares: dict[str, float], num_games: int, **settings: Any) -> Tables:
    """Tables at which the players sit; earlier policies may be drawn later."""
    tables = Tables(
        PPOOptions(opponents_in_training=shares, **settings), GAME, num_games, np.random.SeedSequence(3)
    )
    if PAST not in shares:
        tables.begin_update(0, np.zeros(0), [])
    return tables


def within(count: int, total: int, share: float) -> bool:
    """Whether ``count`` of ``total`` is no further from ``share`` than chance goes once in half a million times."""
    return abs(count - total * share) <= 5 * math.sqrt(total * share * (1 - share))


# Who sits where.


def test_opponents_play_at_the_shares_of_the_tables_that_were_asked_for() -> None:
    total = 40_000
    tables = tables_of({"random": 0.1, PAST: 0.3, "heuristic": 0.2}, total)
    tables.begin_update(0, np.array([0.25, 0.75]), cast(Any, [object(), object()]))
    opponent = tables.line_up.max(axis=1)
    for number, share in ((0, 0.4), (1, 0.1), (2, 0.2)):  # the learner alone; the agents in the order given
        assert within(int((opponent == number).sum()), total, share)
    assert within(int((opponent > 2).sum()), total, 0.3)


@pytest.mark.parametrize("learner_seats", [0, 3])
def test_the_learner_and_an_opponent_have_a_seat_each_at_least_at_shared_tables(learner_seats: int) -> None:
    """Each number of the learner's seats is as likely, where none was asked for, and so is each seat."""
    total = 30_000
    own = tables_of({"random": 0.5}, total, learner_seats=learner_seats).line_up == 0
    counts = np.bincount(own.sum(axis=1), minlength=5)
    assert within(int(counts[4]), total, 0.5)
    for count, chance in enumerate([0, 0, 0, 1] if learner_seats else [0, 1 / 3, 1 / 3, 1 / 3]):
        assert within(int(counts[count]), total, 0.5 * chance)
    for seat in range(4):
        assert within(int((~own[:, seat]).sum()), total, 0.125 if learner_seats else 0.25)


def test_earlier_policies_are_drawn_by_their_chances_a_few_for_each_update() -> None:
    """64 tables for each that is drawn: with 128 tables two are drawn for an update, and shared evenly."""
    chances, updates = np.array([0.5, 0.0, 0.125, 0.375]), 500
    tables = tables_of({PAST: 1.0}, 2 * TABLES_EACH, past_policies=4)
    counts, drawn = np.zeros(4), np.zeros(4, int)
    for update in range(updates):
        tables.begin_update(update, chances, cast(Any, [object()] * 4))
        tables.seat(np.arange(2 * TABLES_EACH))
        met = np.bincount(tables.line_up.max(axis=1) - 1, minlength=4)
        assert 1 <= (met > 0).sum() <= 2
        counts += met
        drawn += met > 0
    assert counts[1] == 0
    # Means over updates: two draws each, so about as exact as 2 * updates draws.
    for share, chance in zip(counts / counts.sum(), chances, strict=True):
        assert abs(share - chance) <= 5 * math.sqrt(0.25 / (2 * updates))
    assert drawn[0] > drawn[3] > drawn[2] > 0


# What opponents do, and what is learned from.


def test_seats_of_opponents_play_the_opponents_actions_and_are_not_learned_from() -> None:
    by_highest = by_others = 0
    with trainer_of(
        small(opponents_in_training={HIGHEST: 0.5, "random": 0.2}, privileged_critic=True)
    ) as trainer:
        for _ in range(3):
            trainer.update(0.0)
            buffer = trainer.buffer
            assert buffer.learns.reshape(-1)[trainer.ready].all()
            assert (buffer.seats.reshape(-1)[trainer.ready] >= 0).all()
            line_ups = np.concatenate([worker.tables.line_up for worker in trainer.workers if worker.tables])
            seats, games = np.nonzero(trainer.pending_rows >= 0)
            assert buffer.learns[trainer.pending_rows[seats, games], games].all()
            assert (line_ups[games, seats] == 0).all()
            for game, line_up in enumerate(line_ups):
                # The rows of the game that is under way, which began after the last end of one.
                rows = slice(np.flatnonzero(np.append(True, buffer.terminated[:, game])).max(), None)
                rows = slice(max(rows.start, trainer.game.num_players), None)
                players = line_up[buffer.seats[rows, game]]
                assert (buffer.learns[rows, game] == (players == 0)).all()
                chosen = buffer.actions[rows, game] == highest(buffer.masks[rows, game])
                assert chosen[players == 1].all()
                by_highest += int((players == 1).sum())
                by_others += int((~chosen[players != 1]).sum())
    assert by_highest > 50
    assert by_others > 50


def test_games_are_won_by_the_mean_pay_of_a_side_and_a_tie_is_half_a_win() -> None:
    tables = tables_of({"random": 0.5, "heuristic": 0.5}, 5)
    tables.line_up[:] = [[0, 1, 1, 1], [0, 0, 2, 0], [1, 0, 0, 1], [0, 0, 0, 0], [2, 0, 2, 2]]

    def step(rewards: list[list[float]], terminated: list[bool]) -> None:
        paid = SimpleNamespace(rewards=np.array(rewards, np.float32), terminated=np.array(terminated))
        tables.after_step(cast(Vec, paid))

    none = [0.0] * 4
    step([[3, 1, 2, 4], [1, 1, 0, 4], [5, 2, 2, -1], none, none], [False] * 5)
    assert tables.tally.tolist() == [[0, 0], [0, 0]]
    # 5 against 7/3; 2 against 2.5; 2 against 2; no opponent; still under way
    step([[2, 0, 0, 0], [0, 0, 2.5, 0], none, [9, 0, 0, 0], none], [True] * 4 + [False])
    assert tables.tally.tolist() == [[1.5, 2], [0, 1]]
    assert (tables.paid[:4] == 0).all()
    tables.begin_update(1, np.zeros(0), [])
    assert tables.tally.tolist() == [[0, 0], [0, 0]]


# The pool.


def test_earlier_policies_play_with_the_weights_that_they_had() -> None:
    with trainer_of(
        small(opponents_in_training={PAST: 0.5}, past_policies=2, past_every=2, workers=1)
    ) as trainer:
        actor = trainer.parts["actor"]
        kept: list[NDArray[np.float32]] = []
        for update in range(1, 6):
            trainer.update(0.0)
            now = trainer.weights.detach()[actor].numpy().copy()
            if update in (2, 4):
                kept.append(now)
            assert trainer.pool.count == len(kept)
            assert np.array_equal(trainer.pool.vectors[: len(kept)], np.reshape(kept, (len(kept), len(now))))
        trainer.collect(1.0)
        tables = trainer.workers[0].tables
        assert tables is not None
        assert len(tables.agents) == 2
        for agent, vector in zip(cast(Any, tables.agents), kept, strict=True):
            then = copy.deepcopy(trainer.actor)
            vector_to_parameters(torch.from_numpy(vector.copy()), then.parameters())
            arrays = agent.network.arrays()
            assert all(np.array_equal(arrays[name], array) for name, array in then.arrays().items())
            assert not np.array_equal(vector, now)
            assert not agent.greedy


def pool_of(size: int, every: int) -> Pool:
    options = PPOOptions(opponents_in_training={PAST: 0.5}, past_policies=size, past_every=every)
    return Pool(options, np.zeros((size, 2), np.float32))


def test_a_policy_is_kept_every_so_many_updates_in_place_of_the_one_that_is_beaten_most_often() -> None:
    pool, counts = pool_of(3, every=4), []
    for update in range(1, 18):
        tally = np.array([[1.0, 4], [9, 10], [3, 10]]) * (update == 16)
        pool.end_update(update, [tally, tally], np.full(2, update, np.float32))
        counts.append(pool.count)
    assert counts == [0] * 3 + [1] * 4 + [2] * 4 + [3] * 6
    assert pool.vectors[:, 0].tolist() == [4, 16, 12]
    assert pool.wins == pytest.approx([DECAY * 2, 0, DECAY * 6])
    assert pool.games == pytest.approx([DECAY * 8, 0, DECAY * 20]), "games of earlier updates count less"


def test_policies_that_the_learner_does_not_beat_are_chosen_more_often() -> None:
    pool = pool_of(3, every=100)
    pool.count = 3
    pool.end_update(1, [np.array([[0.0, 0], [98, 98], [0, 8]])], np.zeros(2, np.float32))
    weights = np.array([0.5, 0.01, 0.9]) ** 2
    assert pool.chances() == pytest.approx(weights / weights.sum())


# What is refused.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"opponents_in_training": {"heuristic": 0.7, PAST: 0.4}},
            r"shares that add up to at most 1, not 1\.1",
        ),
        (
            {"opponents_in_training": {"heuristic": 1.5}},
            r"opponents_in_training = .*expected .*a number from 0 to 1",
        ),
        ({"opponents_in_training": {7: 0.1}}, r"opponents_in_training = .*expected a mapping"),
        ({"opponents_in_training": "heuristic"}, r"opponents_in_training = 'heuristic': expected a mapping"),
        ({"past_policies": 0}, "past_policies = 0: expected an integer from 1"),
        ({"past_policies": 65}, "past_policies = 65: expected an integer from 1"),
        ({"past_every": 0}, "past_every = 0: expected an integer from 1"),
        (
            {"opponents_in_training": {"random": 0.5}, "learner_seats": 3},
            "learner_seats = 3: expected 0 or 1 to 2 of the 3 seats of a table",
        ),
    ],
)
def test_impossible_opponents_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        small(**settings)


def test_shares_that_add_up_to_one_up_to_rounding_are_accepted() -> None:
    shares = {"heuristic": 0.1, "random": 0.2, PAST: 0.7}
    assert sum(shares.values()) > 0.9999
    options = cast(PPOOptions, small(opponents_in_training=shares).algorithm_options)
    assert options.agents_by_setting() == {"opponents_in_training": ("heuristic", "random")}


def test_an_opponent_for_other_rules_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    other = checkpoint(tmp_path, "cat_in_the_box_v0", seed=1, num_players=5)
    with pytest.raises(ValueError, match=r"opponents_in_training: .*num_players"):
        train(small(opponents_in_training={other: 0.1}), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("spec", "said"), [(ILLEGAL, "chose the illegal action"), (RAISING, "raised RuntimeError: out of ideas")]
)
def test_an_opponent_that_fails_is_named_and_the_last_checkpoint_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, said: str
) -> None:
    for kind in (agents_in_training.Illegal, agents_in_training.Raising):
        monkeypatch.setattr(kind, "decisions", 0)
    config = small(**{**BRIEF, "checkpoint_every": 1}, opponents_in_training={spec: 0.8})
    with pytest.raises(ValueError, match=rf"agent '{spec}' {said}"):
        train(config, tmp_path / "run", quiet())
    folder = latest_checkpoint(tmp_path / "run")
    assert folder is not None
    assert 1 <= int(folder.name) < 5
    monkeypatch.setattr(agents_in_training, "FAILS_AFTER", 10**9)  # mended
    assert resume(tmp_path / "run", quiet(), trust=True)["training"]["decisions"] == 5 * 512
