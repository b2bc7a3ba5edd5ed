"""Self-play training: what a worker collects, what a gradient is, that training learns, stops and goes on exactly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import catbox_agents
from catbox_agents.policy import latest_checkpoint
from catbox_env import make_game
from catbox_train import ppo, report
from catbox_train.config import TrainConfig, load_config
from catbox_train.metrics import read_metrics
from catbox_train.networks import ActorCritic, SharedWeights, native_precision
from catbox_train.ppo import gradient, resume, train
from catbox_train.progress import TrainingInterrupted
from catbox_train.rollout import Worker
from catbox_train.run_folder import open_run, start_run

#: A run of a second: 8 updates, a checkpoint after every third.
SMALL = {
    "game_options": {"num_players": 3, "num_ranks": 3, "copies": 4},
    "precision": "float32",
    "total_decisions": 8 * 512,
    "num_envs": 32,
    "batch_size": 512,
    "minibatch_size": 128,
    "hidden": [16],
    "checkpoint_every": 3,
    "evaluate_every": 4,
    "evaluate_deals": 4,
    "final_deals": 4,
}


def small(**settings: object) -> TrainConfig:
    return load_config(overrides={**SMALL, **settings})


def quiet() -> Console:
    return Console(quiet=True)


def worker_for(config: TrainConfig, seed: int = 0) -> Worker:
    game = config.make_game()
    weights = SharedWeights(ActorCritic(game, config))
    return Worker(game, config, weights, np.random.SeedSequence(seed))


def final_arrays(run: Path) -> dict[str, np.ndarray]:
    folder = latest_checkpoint(run)
    assert folder is not None
    with np.load(folder / "training.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def assert_same_end(run: Path, other: Path) -> None:
    """Same number of updates, and every array of the last checkpoint equal bit for bit."""
    one, two = final_arrays(run), final_arrays(other)
    assert one.keys() == two.keys()
    assert [name for name in one if not np.array_equal(one[name], two[name])] == []
    values = [json.loads((latest_checkpoint(r) / "training.json").read_text()) for r in (run, other)]
    for value in values:
        del value["seconds"]
    assert values[0] == values[1]
    policies = [(latest_checkpoint(r) / "policy.safetensors").read_bytes() for r in (run, other)]
    assert policies[0] == policies[1]
    learned = [[row["learning/policy_loss"] for row in read_metrics(r)] for r in (run, other)]
    assert learned[0] == learned[1]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped."""
    run = tmp_path_factory.mktemp("finished") / "run"
    train(small(), run, quiet())
    return run


# What is collected.


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_with_lambda_1_a_return_is_the_score_still_to_come(num_players: int) -> None:
    """Every decision of a finished game returns what its own seat was paid from then to the end of that game."""
    options = {"num_players": num_players, "rounds": 2}
    config = small(
        game_options=options, gae_lambda=1, workers=1, num_envs=8, batch_size=8 * 150, minibatch_size=8
    )
    worker = worker_for(config)
    worker.collect()
    ready = np.zeros(worker.seats.shape, bool)
    ready.flat[worker.ready] = True
    checked = 0
    for game in range(worker.seats.shape[1]):
        ends = np.flatnonzero(worker.terminated[:, game])
        assert len(ends) > 0
        for row in range(num_players, ends[-1] + 1):
            end = ends[ends >= row][0]
            seat = worker.seats[row, game]
            assert ready[row, game]
            to_come = worker.rewards[row : end + 1, game, seat].sum()
            assert worker.returns[row, game] == pytest.approx(to_come, abs=1e-4)
            checked += 1
    assert checked > 500


def test_every_decision_is_learned_from_once() -> None:
    """Over the windows, the decisions that became ready and those still carried are all that were made."""
    config = small(workers=1, batch_size=32 * 4)
    worker = worker_for(config)
    made = learned = 0
    for _ in range(25):
        worker.collect()
        made += config.batch_size
        learned += len(worker.ready)
        assert learned + (worker.open_rows >= 0).sum() == made
    assert (worker.open_rows >= 0).sum() > 32


def test_carried_decisions_keep_all_that_belongs_to_them() -> None:
    """What stands in a carried row is the decision that was open, with its seat's own observation."""
    worker = worker_for(small(workers=1, batch_size=32 * 4, privileged_critic=True))
    worker.collect()
    worker.collect()
    players, games = np.nonzero(worker.open_rows >= 0)
    rows = worker.open_rows[players, games]
    before = {name: getattr(worker, name)[rows, games].copy() for name in worker.decision}
    pay = worker.open_rewards[players, games].copy()
    worker.collect()
    assert len(players) > 0
    for name, values in before.items():
        assert np.array_equal(getattr(worker, name)[players, games], values)
    assert np.array_equal(worker.rewards[players, games, players], pay)
    assert np.array_equal(worker.seats[players, games], players)
    empty = np.ones((3, 32), bool)
    empty[players, games] = False
    assert (worker.seats[:3][empty] == -1).all()


def test_actions_are_legal_and_observed_by_the_seat_that_took_them() -> None:
    worker = worker_for(small(workers=1))
    worker.collect()
    played = worker.seats >= 0
    assert np.take_along_axis(worker.masks, worker.actions[..., None], axis=2)[played].all()
    phase_and_turn = worker.vec.game.observation_layout.unpack(worker.observations)["to_move"]
    assert (phase_and_turn[played][:, 0] == 1).all()


def test_a_privileged_critic_sees_the_state_and_the_actor_does_not() -> None:
    config = small(workers=1, privileged_critic=True)
    worker = worker_for(config)
    assert worker.networks.critic.describe()["inputs"] == worker.vec.game.state_layout.size
    assert worker.networks.actor.describe()["inputs"] == worker.vec.game.observation_layout.size
    worker.collect()
    observations, states = torch.from_numpy(worker.observations[5]), torch.from_numpy(worker.states[5])
    with torch.no_grad():
        logits, values = worker.networks(observations, states)
        other_logits, other_values = worker.networks(observations, states.roll(1, 0))
    assert torch.equal(logits, other_logits)
    assert np.allclose(values.numpy(), worker.values[5], atol=1e-5)
    assert not torch.allclose(values, other_values)


# What is learned.


def test_shares_of_a_minibatch_add_up_to_its_gradient() -> None:
    worker = worker_for(small(workers=1))
    worker.collect()
    rows = worker.ready[:200]
    whole_figures = gradient(worker, rows, clip=0.2, entropy_weight=0.1, size=200)
    whole = worker.gradient.clone()
    parts, figures = torch.zeros_like(whole), np.zeros_like(whole_figures)
    for share in (rows[:70], rows[70:]):
        figures += gradient(worker, share, clip=0.2, entropy_weight=0.1, size=200)
        parts += worker.gradient
    assert torch.allclose(whole, parts, atol=1e-6)
    assert figures == pytest.approx(whole_figures, abs=1e-5)


def test_the_first_gradient_is_the_policy_gradient() -> None:
    """Where old and new policy are the same, the ratio is 1: no divergence, nothing clipped, and the actor's gradient
    is that of -mean(advantage * log-probability) - weight * entropy, here by automatic differentiation anew."""
    worker = worker_for(small(workers=1))
    worker.collect()
    rows = worker.ready
    figures = gradient(worker, rows, clip=0.2, entropy_weight=0.01, size=len(rows))
    named = dict(zip(ppo.LEARNING_FIGURES, figures, strict=True))
    assert named["kl"] == pytest.approx(0, abs=1e-6)
    assert named["clip_fraction"] == 0
    game = worker.vec.game
    picked = {
        name: torch.from_numpy(getattr(worker, name).reshape(-1, *getattr(worker, name).shape[2:])[rows])
        for name in ("observations", "masks", "actions", "advantages", "returns")
    }
    networks = ActorCritic(game, worker.config)
    logits, values = networks(picked["observations"], None)
    distribution = torch.distributions.Categorical(logits=logits.masked_fill(~picked["masks"], -1e8))
    loss = -(picked["advantages"] * distribution.log_prob(picked["actions"])).mean()
    loss = loss - 0.01 * distribution.entropy().mean() + 0.5 * (values - picked["returns"]).square().mean()
    loss.backward()
    expected = torch.cat([p.grad.reshape(-1) for p in networks.parameters() if p.grad is not None])
    assert torch.allclose(worker.gradient, expected, atol=1e-5)
    assert named["entropy"] == pytest.approx(distribution.entropy().mean().item(), abs=1e-5)


def test_a_ratio_outside_the_clip_range_pulls_no_further() -> None:
    """A decision that has become much likelier and was good adds nothing; one that was bad still does."""
    worker = worker_for(small(workers=1))
    worker.collect()
    rows = worker.ready[:50]
    worker.log_probabilities -= 1.0  # the old policy was e times less likely to do what was done
    worker.returns[:] = worker.values
    worker.advantages[:] = 1.0
    figures = gradient(worker, rows, clip=0.2, entropy_weight=0.0, size=50)
    actor_size = sum(p.numel() for p in worker.networks.actor.parameters())
    assert figures[ppo.LEARNING_FIGURES.index("clip_fraction")] == 1.0
    assert worker.gradient[:actor_size].abs().max() == 0
    worker.advantages[:] = -1.0
    gradient(worker, rows, clip=0.2, entropy_weight=0.0, size=50)
    assert worker.gradient[:actor_size].abs().max() > 0


def test_all_workers_share_the_weights_and_none_the_gradient() -> None:
    config = small()
    weights = SharedWeights(ActorCritic(config.make_game(), config))
    (one, gradient_one), (two, gradient_two) = weights.replica(), weights.replica()
    with torch.no_grad():
        weights.vector += 1.0
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert torch.equal(torch.cat([p.reshape(-1) for p in one.parameters()]), weights.vector)
    one(torch.zeros((1, len(one.actor.input_scale)), dtype=torch.int8), None)[0].sum().backward()
    assert gradient_one[weights.actor].abs().sum() > 0
    assert gradient_one[weights.critic].abs().sum() == 0
    assert gradient_two.abs().sum() == 0


def test_training_learns(tmp_path: Path) -> None:
    """Some seconds of a small game: the policy beats random play beyond doubt."""
    config = small(
        total_decisions=60 * 4096,
        num_envs=128,
        batch_size=4096,
        minibatch_size=512,
        hidden=[64],
        learning_rate=3e-3,
        evaluate_every=1000,
        checkpoint_every=1000,
        final_deals=300,
        opponents=["random"],
    )
    results = train(config, tmp_path / "run", quiet())
    standing = next(s for s in results["matches"][0]["standings"] if s["name"] == report.POLICY)
    assert standing["margin"] > 1.0
    assert standing["margin"] - 2 * standing["margin_ci95"] > 0


# What a run leaves behind.


def test_a_run_leaves_metrics_results_picture_and_an_agent(finished: Path) -> None:
    rows = read_metrics(finished)
    assert [row["update"] for row in rows] == list(range(1, 9))
    assert rows[0]["learning/learning_rate"] == 5e-4
    assert rows[-1]["learning/learning_rate"] == pytest.approx(5e-5)
    assert rows[-1]["learning/entropy_weight"] == pytest.approx(0.002)
    for name in ("game/score", "game/paradox", "game/bid_hit", "game/bonus", "learning/explained_variance"):
        assert all(name in row for row in rows)
    assert ["evaluation/heuristic/margin" in row for row in rows] == [False, False, False, True] * 2
    results = json.loads((finished / "results.json").read_text())
    assert [[s["name"] for s in match["standings"]] for match in results["matches"]] == [
        ["policy", "random"],
        ["policy", "heuristic"],
        ["heuristic", "policy"],
    ]
    assert results["training"]["decisions"] == 8 * 512
    assert (finished / "learning.png").read_bytes().startswith(b"\x89PNG")
    assert list((finished / "tensorboard").glob("events*"))
    assert sorted(path.name for path in (finished / "checkpoints").iterdir()) == ["00000006", "00000008"]
    game = small().make_game()
    state = game.new_initial_state(seed=1)
    agent = catbox_agents.make(str(finished), game)
    assert agent.act(state.observation(0), state.action_mask()) in state.legal_actions()


def test_the_same_configuration_gives_the_same_run(finished: Path, tmp_path: Path) -> None:
    train(small(), tmp_path / "again", quiet())
    assert_same_end(finished, tmp_path / "again")
    train(small(seed=2), tmp_path / "other", quiet())
    assert not np.array_equal(final_arrays(finished)["weights"], final_arrays(tmp_path / "other")["weights"])


# Stopping and going on.

KILLED = """
import os, signal, sys
import numpy as np
from rich.console import Console
from catbox_train import ppo, checkpoint
from catbox_train.run_folder import open_run

run, moment = sys.argv[1:]
calls = 0

def killing(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == 2 and moment == "writing":  # the second checkpoint, with half a file on disk
            args[0].write(b"half")
            args[0].flush()
        if calls == (2 if moment == "writing" else 5):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return call

if moment == "writing":
    checkpoint.np.savez = killing(np.savez)
else:
    ppo.gradient = killing(ppo.gradient) if moment == "before" else ppo.gradient
    ppo.Trainer.learn = killing(ppo.Trainer.learn) if moment == "learning" else ppo.Trainer.learn
ppo.resume(run, Console(quiet=True))
"""


@pytest.mark.parametrize(
    ("moment", "found"),
    [("before", None), ("learning", "00000003"), ("writing", "00000003")],
)
def test_a_killed_run_goes_on_exactly(finished: Path, tmp_path: Path, moment: str, found: str | None) -> None:
    """Killed before its first checkpoint, in the fifth update, and while it writes its second checkpoint: resumed, the
    run ends with the same weights, games and generators, bit for bit, as the one that was never stopped."""
    run = tmp_path / "run"
    start_run(run, small())
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(run), moment],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    latest = latest_checkpoint(run)
    assert (latest.name if latest else None) == found
    resume(run, quiet())
    assert_same_end(finished, run)
    assert [row["update"] for row in read_metrics(run)] == list(range(1, 9))
    assert not list((run / "checkpoints").glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """The signal comes in the fourth update: it is finished and saved, though no checkpoint was due."""
    handler = signal.getsignal(number)
    run, learn, calls = tmp_path / "run", ppo.Trainer.learn, []

    def learn_and_signal(trainer: ppo.Trainer, *args: float) -> dict[str, float]:
        calls.append(1)
        if len(calls) == 4:
            os.kill(os.getpid(), number)
        return learn(trainer, *args)

    monkeypatch.setattr(ppo.Trainer, "learn", learn_and_signal)
    with pytest.raises(TrainingInterrupted, match=f"2,048 decisions.*--resume --output {run}"):
        train(small(), run, quiet())
    assert signal.getsignal(number) is handler
    assert latest_checkpoint(run).name == "00000004"
    assert not (run / "results.json").exists()
    resume(run, quiet())
    assert_same_end(finished, run)


def test_a_run_in_bfloat16_goes_on_exactly_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = small(precision="bfloat16", total_decisions=4 * 512, evaluate_every=100)
    train(config, tmp_path / "whole", quiet())
    learn, calls = ppo.Trainer.learn, []

    def learn_and_signal(trainer: ppo.Trainer, *args: float) -> dict[str, float]:
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return learn(trainer, *args)

    monkeypatch.setattr(ppo.Trainer, "learn", learn_and_signal)
    with pytest.raises(TrainingInterrupted):
        train(config, tmp_path / "stopped", quiet())
    resume(tmp_path / "stopped", quiet())
    assert_same_end(tmp_path / "whole", tmp_path / "stopped")


def test_resuming_a_finished_run_changes_nothing_but_the_report(finished: Path) -> None:
    before = final_arrays(finished)
    (finished / "results.json").unlink()
    results = resume(finished, quiet())
    assert results["training"]["decisions"] == 8 * 512
    assert (finished / "results.json").exists()
    assert all(np.array_equal(array, before[name]) for name, array in final_arrays(finished).items())


def test_the_precision_is_settled_when_a_run_begins(tmp_path: Path) -> None:
    train(small(precision="auto", total_decisions=512), tmp_path / "run", quiet())
    assert open_run(tmp_path / "run").precision == native_precision()


def test_other_settings_on_resume_are_refused(finished: Path) -> None:
    file = finished / "config.yaml"
    before = file.read_text()
    try:
        file.write_text(before.replace("clip: 0.15", "clip: 0.3"))
        with pytest.raises(ValueError, match=r"clip: 0\.15 -> 0\.3.*put them back"):
            resume(finished, quiet())
    finally:
        file.write_text(before)


@pytest.mark.parametrize("name", ["training.npz", "training.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other"])
def test_a_damaged_training_state_is_refused_by_name(
    tmp_path: Path, finished: Path, name: str, damage: str
) -> None:
    run = tmp_path / "run"
    folder = run / "checkpoints" / "00000003"
    folder.mkdir(parents=True)
    (run / "config.yaml").write_bytes((finished / "config.yaml").read_bytes())
    for file in latest_checkpoint(finished).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    data = (folder / name).read_bytes()
    if damage == "missing":
        (folder / name).unlink()
    elif damage == "other":
        with open(folder / "training.npz", "wb") as file:
            np.savez(file, weights=np.zeros(3, np.float32))
        (folder / "training.json").write_text(data.decode() if name == "training.json" else '{"format": "x"}')
    else:
        (folder / name).write_bytes(data[: 0 if damage == "empty" else -40])
    with pytest.raises(ValueError, match=r"checkpoint .*00000003 (is|does not fit).*(delete|resume)"):
        resume(run, quiet())


# What is refused before anything is written.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "cat_in_the_bag_v0"}, "unknown game"),
        ({"game_options": {"num_players": 6}}, "num_players=6"),
        ({"game_options": {"players": 3}}, "unknown option 'players'"),
        ({"opponents": ["grandmaster"]}, "unknown agent 'grandmaster'"),
    ],
)
def test_impossible_runs_are_refused_before_anything_is_written(
    tmp_path: Path, settings: dict, message: str
) -> None:
    config = TrainConfig(**{**small().as_dict(), **settings})
    with pytest.raises(ValueError, match=message):
        train(config, tmp_path / "run", quiet())
    assert list(tmp_path.iterdir()) == []


def test_tiny_rules_train_too(tmp_path: Path) -> None:
    """Two players, hyperbolic tangents, a privileged critic, one worker, a batch that windows do not divide."""
    tiny = make_game("cat_in_the_box_v0", rules=type(make_game("cat_in_the_box_v0").rules).tiny())
    config = small(
        game_options=tiny.options, activation="tanh", privileged_critic=True, workers=1, total_decisions=700
    )
    results = train(config, tmp_path / "run", quiet())
    assert results["training"]["decisions"] == 1024
    assert len(results["matches"]) == 2
