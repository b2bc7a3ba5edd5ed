"""Self-play on a GPU: where games are played, and in Numba's simulator what is noted of them and learned from it.

The simulator needs another Python process, in which nothing is compiled: this file is also its script.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numba import cuda
from numpy.typing import NDArray

import catbox_agents
from catbox_agents.networks.inputs import NetworkInputs
from catbox_train import device_rollout, self_play_config
from catbox_train.device_learner import DeviceLearner
from catbox_train.graphs import Graph
from catbox_train.learner import Learner
from catbox_train.registry import algorithm_class
from catbox_train.rollout import Decisions
from catbox_train.runs.loop import own_torch_settings
from catbox_train.self_play_config import PAST, why_on_cpu
from tests.toolkits.running import run_in_the_simulator
from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_reference import ReferenceUpdate
from tests.train.ppo_runs import GAME, made, small

#: Two rounds, and paid after each of them. A bid is no decision.
MATCH = {**GAME, "rounds": 2, "bids": [1]}
TABLES = {"heuristic": 0.25, "random": 0.25, PAST: 0.25}
#: Games of an update: four for each opponent, two for each earlier policy.
NUMBER = 16
SETTINGS: dict[str, Any] = {
    "game_options": MATCH,
    "games_per_update": NUMBER,
    "opponents": TABLES,
    "past_every": 1,
    "past_policies": 2,
}
#: What the algorithms may be made of.
KINDS: dict[str, dict[str, Any]] = {
    "ppo": {"algorithm": "ppo"},
    "plain": {"algorithm": "ppo", "action_features": False},
    "dmc": {"algorithm": "dmc", "epsilon": 0.3},
    "cat_te": {"game": "cat_te_v0", "game_options": {}},
    "petrify": {"game": "petrify_v0", "game_options": {}},
}


# Where games are played.


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a GPU, and the extra ``gpu``."""
    monkeypatch.setattr(self_play_config, "find_spec", lambda name: name == "numba_cuda")
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "gpus", [0, 1])


def on(device: str, **settings: Any) -> Any:
    """Settings for a device that is perhaps not here."""
    return small(**settings).replace(device=device)


@pytest.mark.parametrize(
    ("device", "settings", "reason"),
    [
        ("cuda:0", {}, None),
        ("cuda:1", {"algorithm": "dmc", "opponents": {"random": 0.1, "heuristic:3": 0.2, PAST: 0.1}}, None),
        ("cpu", {}, "device = 'cpu'"),
        ("cuda:0", {"algorithm": "exit"}, "as always with exit"),
        ("cuda:0", {"workers": 2}, None),
        ("cuda:0", {"workers": 3}, "workers = 3, with fewer GPUs"),
        ("cuda:0", {"opponents": {"heuristic": 0.1, "pimc": 0.1}}, "not 'pimc'"),
        ("cuda:0", {"opponents": {HIGHEST: 0.1}}, "random and heuristic alone play on a GPU, not 'tests.train"),
    ],
)  # fmt: skip
def test_games_are_played_on_a_cuda_gpu_among_opponents_that_can_play_there(
    device: str, settings: dict[str, Any], reason: str | None, gpu: None
) -> None:
    config = on(device, **settings)
    game = config.make_game()
    found = why_on_cpu(config, game)
    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)


def test_without_numba_cuda_or_its_driver_the_games_are_played_on_the_cpu(
    gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = on("cuda:0")
    game = config.make_game()
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert "cannot use the driver" in str(why_on_cpu(config, game))
    monkeypatch.setattr(self_play_config, "find_spec", lambda name: None)
    assert "pip install -e '.[gpu]'" in str(why_on_cpu(config, game))


def test_the_memory_of_games_on_a_gpu_is_that_of_all_their_steps(gpu: None) -> None:
    config = on("cuda:0", games_per_update=1000, game_options=MATCH)
    game = config.make_game()
    needed = algorithm_class("ppo").memory_needed(config, game)
    inputs = NetworkInputs(game, True, True)
    row = inputs.size + game.num_actions * (1 + inputs.action_size)
    assert game.max_game_length >= 24
    assert 1 < needed / (1000 * game.max_game_length * row) < 1.6


def test_the_gpu_of_a_run_is_torchs_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As kernels of games on it need."""
    entered: list[Any] = []

    @contextmanager
    def current(gpu: Any) -> Iterator[None]:
        entered.append(gpu)
        yield

    monkeypatch.setattr(torch.cuda, "device", current)
    for device in ("cuda:1", "cpu"):
        with own_torch_settings(device):
            pass
    assert entered == [1, -1]


# CUDA graphs on a CPU.


def test_without_cuda_a_graph_calls_its_function() -> None:
    calls: list[int] = []
    graph = Graph(lambda: calls.append(1), torch.device("cpu"), [torch.Generator()])
    for _ in range(6):
        graph()
    assert len(calls) == 6


def device_learner(**settings: Any) -> DeviceLearner:
    """One for a network of a weight, on the CPU."""
    network = torch.nn.Linear(1, 1, bias=False)
    return DeviceLearner(network, small(**settings))


def test_recorded_steps_are_those_of_a_learner_whatever_their_size() -> None:
    """The same weights and metrics, with columns that are made anew in every update, and other numbers."""
    settings = {"max_grad_norm": 1e9, "learning_rate": 0.1, "minibatch_size": 2, "update_epochs": 1}
    seen: list[list[float]] = []

    def loss(batch: Any, factor: Any) -> Any:
        seen.append(batch["x"].tolist())
        error = (networks[-1].weight * batch["x"]).mean() * factor
        return error.square(), {"error": error.detach()}

    networks: list[torch.nn.Linear] = []
    results: list[Any] = []
    for kind in (DeviceLearner, Learner):
        torch.manual_seed(1)
        networks.append(torch.nn.Linear(1, 1, bias=False))
        learner = kind(networks[-1], small(**settings))
        found = []
        for update, factor in enumerate((1.0, 0.5)):
            columns = {"x": torch.arange(5.0) + update}
            for minibatch in learner.minibatches(columns, torch.arange(5), update):
                learner.step(loss, minibatch, factor)
            found.append(learner.metrics() | {"weight": networks[-1].weight.item()})
        assert found[0] != found[1]
        results.append(found)
    assert results[0] == results[1]
    half = len(seen) // 2
    assert seen[:half] == seen[half:]
    assert sorted(x for step in seen[: half // 2] for x in step) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("count", "steps"), [(79, 8), (80, 8), (85, 8), (89, 8), (90, 9)])
def test_equal_minibatches_leave_out_less_than_one_if_there_are_enough(count: int, steps: int) -> None:
    learner = device_learner(minibatch_size=10, update_epochs=2)
    given = torch.arange(count) * 3
    found = [part.rows.tolist() for part in learner.minibatches({}, given, 0) if part.total == len(part.rows)]
    assert len(found) == 2 * steps
    assert {len(rows) for rows in found} == ({9, 10} if count == 79 else {10})
    for epoch in (found[:steps], found[steps:]):
        rows = [row for each in epoch for row in each]
        assert len(rows) == len(set(rows)) == (79 if count == 79 else 10 * steps)
        assert set(rows) <= set(given.tolist())
    assert found[:steps] != found[steps:]


# In the simulator.


class Move(NamedTuple):
    """A step of all games, recorded from outside: (N, ...)."""

    seats: NDArray[np.int8]  # -1: the game is over
    seen: NDArray[np.int8]
    masks: NDArray[np.bool_]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]


def simulate() -> None:
    """Let all games of training be played in the simulator."""
    from catbox_env.adapters import device

    assert device.SIMULATED
    patch = pytest.MonkeyPatch()
    patch.setattr(device, "check_device", lambda name: torch)
    patch.setattr(device_rollout, "why_on_cpu", lambda config, game, own_gpus: None)


def trainer_of(kind: str, **settings: Any) -> Any:
    trainer = made(**SETTINGS | KINDS[kind] | settings)
    assert type(trainer.rollout).__name__ == "DeviceRollout"
    return trainer


def recorded(trainer: Any, update: int) -> tuple[Decisions, list[Move]]:
    """The games of ``update``, played among the earlier policies that there are."""
    own, moves = trainer.rollout, []
    step = own.vec.step

    def record(actions: torch.Tensor, rows: torch.Tensor) -> None:
        vec = own.vec
        before = [
            array.numpy().copy() for array in (vec.current_player, vec.observation, vec.action_mask, actions)
        ]
        assert np.array_equal(before[0] >= 0, rows.numpy())
        step(actions, rows)
        moves.append(Move(*before, vec.rewards.numpy().copy()))

    own.vec.step = record
    decisions = trainer.play(update, 0.0)
    del own.vec.step
    return decisions, moves


def line_up_of(trainer: Any, update: int, past: int = 2) -> NDArray[np.int64]:
    """Who has each seat (N, P), with so many earlier policies."""
    own = trainer.rollout
    line_up: NDArray[np.int64] = own._line_up(update, own._shares([f"past:{k}" for k in range(past)], None))
    return line_up


def check_what_is_noted(kind: str) -> None:
    """Every decision of the learner is noted once, in order, with its pay; and each seat plays as it should."""
    trainer = trainer_of(kind)
    number, players = NUMBER, trainer.game.num_players
    for update in range(2):
        trainer.update(update, 0.0)
    found, moves = recorded(trainer, 2)
    line_up = line_up_of(trainer, 2)
    columns = {name: column.numpy() for name, column in found.columns.items()}
    decided = {  # (game, seat) -> steps
        (game, seat): [
            k
            for k, move in enumerate(moves)
            if move.seats[game] == seat and line_up[game, seat] == 0 and move.masks[game].sum() > 1
        ]
        for game in range(number)
        for seat in range(players)
    }
    assert found.rows.tolist() == sorted(
        k * number + game for (game, _), steps in decided.items() for k in steps
    )
    assert [slice(k * number, (k + 1) * number) for k in range(len(moves))] == found.steps
    assert found.played == sum((move.seats >= 0).sum() for move in moves) == number * 24
    assert found.rounds == 2 * number
    forced = np.array([(move.seats >= 0) & (move.masks.sum(axis=1) == 1) for move in moves])
    assert forced.sum() >= number * 2 * players
    paid = np.sum([move.rewards for move in moves], axis=0)
    for (game, seat), steps in decided.items():
        rows = [k * number + game for k in steps]
        for k, row, until in zip(steps, rows, [*steps[1:], len(moves)], strict=False):
            move = moves[k]
            assert np.array_equal(columns["inputs"][row, : len(move.seen[game])], move.seen[game])
            assert np.array_equal(columns["masks"][row], move.masks[game])
            assert columns["actions"][row] == move.actions[game]
            rewards = sum(float(later.rewards[game, seat]) for later in moves[k:until])
            assert float(found.rewards[row]) == pytest.approx(rewards, abs=1e-5)
        assert found.next_rows[rows].tolist() == [*rows, -1][1:] if rows else True
        first = steps[0] if steps else len(moves)
        early = sum(float(move.rewards[game, seat]) for move in moves[:first])
        total = early + float(found.rewards[rows].sum())
        assert total == pytest.approx(float(paid[game, seat]), abs=1e-4)
    idle = np.setdiff1d(np.arange(len(found.rewards)), found.rows.numpy())
    assert (found.rewards[idle] == 0).all()
    assert (found.next_rows[idle] == -1).all()
    for move in moves:
        running = move.seats >= 0
        assert move.masks[np.arange(number), move.actions][running].all()
    own = line_up == 0
    for sums, count in found.statistics.values():
        assert (count, np.isfinite(sums)) == (own.sum(), True)
    check_inputs(trainer, found)
    check_opponents(trainer, moves, line_up)


def check_inputs(trainer: Any, found: Decisions) -> None:
    rows, size = found.rows, trainer.game.observation_layout.size
    inputs, masks = found.columns["inputs"][rows].numpy(), found.columns["masks"][rows].numpy()
    expected = trainer.rollout.inputs.compute(np.ascontiguousarray(inputs[:, :size]), masks)
    assert np.array_equal(inputs, expected[0])
    assert np.array_equal(found.columns["action_features"][rows].numpy(), expected[1])


def check_opponents(trainer: Any, moves: list[Move], line_up: NDArray[np.int64]) -> None:
    """Heuristics, and earlier policies that take their best action, play what they would play anyway."""
    past = [*trainer.league.past.values()]
    assert line_up.max() == 4
    heuristic = catbox_agents.make("heuristic", trainer.game, 0)
    agents = {1: heuristic, **({3: past[0], 4: past[1]} if past[0].greedy else {})}
    asked = dict.fromkeys(range(1, 5), 0)
    lowest = dict(asked)
    for move in moves:
        player = np.where(move.seats >= 0, line_up[np.arange(len(line_up)), move.seats], -1)
        choice = move.masks.sum(axis=1) > 1
        for k in asked:
            games = np.flatnonzero((player == k) & choice)
            asked[k] += len(games)
            lowest[k] += int((move.masks[games].argmax(axis=1) == move.actions[games]).sum())
            if k in agents and len(games):
                expected = agents[k].act_batch(move.seen[games], move.masks[games])
                assert np.array_equal(move.actions[games], expected)
    assert all(count > 10 for count in asked.values())
    assert all(0 < count < asked[k] for k, count in lowest.items() if k not in agents)


def check_shares(kind: str) -> None:
    """Every opponent has exactly its share of the games, the earlier policies as many each, always the same games."""
    shares = {"heuristic": 0.1, "random": 0.25, PAST: 0.35}
    trainer = trainer_of(kind, opponents=shares, games_per_update=40, learner_seats=1)
    counts = {0: [26, 4, 10, 0, 0], 1: [12, 4, 10, 14, 0], 2: [12, 4, 10, 7, 7]}
    for num_past, expected in counts.items():
        found = [line_up_of(trainer, update, num_past) for update in range(3)]
        for line_up in found:
            opponent = line_up.max(axis=1)
            assert np.bincount(opponent, minlength=5).tolist() == expected
            assert ((line_up == 0).sum(axis=1)[opponent > 0] == 1).all()
            assert np.array_equal(opponent, found[0].max(axis=1))
        assert not np.array_equal(found[0], found[1])
    wins = recorded(trainer, 0)[0].wins
    assert {name: count for name, (_, count) in wins.items()} == {"heuristic": 4, "random": 10}
    thirds = line_up_of(trainer_of(kind, opponents={"heuristic": 1 / 3, "random": 2 / 3}), 0, 0)
    assert np.bincount(thirds.max(axis=1)).tolist() == [0, 5, 11]


def check_repeated(kind: str) -> None:
    """The games of an update depend on the seed and its number, not on what was played before."""
    # A deck in which no two games are alike by chance.
    deck = {"game_options": {**MATCH, "num_ranks": 5, "copies": 3}}
    once, again, other = (trainer_of(kind, **deck, seed=seed) for seed in (1, 1, 2))
    recorded(again, 0)
    (decisions, moves), (repeated, same_moves) = recorded(once, 1), recorded(again, 1)
    np.testing.assert_equal(same_moves, moves)
    assert all(
        torch.equal(repeated.columns[name][repeated.rows], decisions.columns[name][decisions.rows])
        for name in decisions.columns
    )
    assert torch.equal(repeated.rewards, decisions.rewards)
    games = games_of(moves)
    assert len(games) == NUMBER
    assert not games & games_of(recorded(other, 1)[1])
    assert not games & games_of(recorded(once, 2)[1])


def games_of(moves: list[Move]) -> set[bytes]:
    """All that was seen in each game."""
    return {b"".join(move.seen[game].tobytes() for move in moves) for game in range(NUMBER)}


def check_restored(kind: str) -> None:
    """A run restored from its state learns the same bits as one that went on."""
    going, restored = trainer_of(kind), trainer_of(kind)
    for update in range(3):
        going.update(update, 0.1 * update)
    restored.restore(going.state())
    for update in (3, 4):
        expected, found = (each.update(update, 0.1 * update) for each in (going, restored))
        assert found == expected
        assert 0 < expected[1]["learning/idle_rows"] < 1
    np.testing.assert_equal(restored.state(), going.state())


def check_learned(kind: str) -> None:
    """A step of PPO is that of the reference, which knows of decisions alone."""
    settings = {"max_grad_norm": 1e9, "update_epochs": 2, "minibatch_size": 10**6, "ent_coef": 0.3}
    trainer = trainer_of(kind, learning_rate=2e-3, **settings)
    weights = trainer.learner.weights.detach()
    weights += 0.1 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(1))
    trainer.update(0, 0.0)
    before, play = weights.clone(), trainer.rollout.play
    held: list[ReferenceUpdate] = []

    def play_and_compare(*given: Any) -> Decisions:
        decisions: Decisions = play(*given)
        held.append(ReferenceUpdate(trainer, decisions))
        return decisions

    trainer.rollout.play = play_and_compare
    _, metrics = trainer.update(1, 0.0)
    (expected,) = held
    expected.learn(2e-3, 0.3)
    wanted = expected.weights.detach()
    assert (weights - wanted).norm() < 1e-3 * (before - wanted).norm() > 0
    for name, value in expected.metrics.items():
        assert metrics[f"learning/{name}"] == pytest.approx(value, rel=1e-3, abs=1e-5), name


CHECKS = {
    "noted": check_what_is_noted,
    "shares": check_shares,
    "repeated": check_repeated,
    "restored": check_restored,
    "learned": check_learned,
}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="the extra gpu is not installed")
@pytest.mark.parametrize(
    ("check", "kind"),
    [
        ("noted", "ppo"),
        ("noted", "dmc"),
        ("shares", "ppo"),
        ("learned", "plain"),
        ("repeated", "dmc"),
        ("restored", "petrify"),
    ],
)
def test_the_simulator(check: str, kind: str) -> None:
    """What each check says."""
    run_in_the_simulator("tests.train.test_device_rollout", check, kind)


if __name__ == "__main__":
    simulate()
    CHECKS[sys.argv[1]](sys.argv[2])
