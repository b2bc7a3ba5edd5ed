"""What a researcher replaces: the network, the critic, the opponents over time, the algorithm, the features."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_agents.arena.fingerprints import agent_fingerprint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.network import TorchPlayingNetwork
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game, GameState, Vec, make_game
from catbox_train import ILLEGAL, Network, load_config
from catbox_train.best_responses import _among_copies
from catbox_train.config import TrainConfig
from catbox_train.networks import make_network
from catbox_train.rollout import Rollout
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import resume, train
from catbox_train.self_play_config import PAST
from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_runs import BRIEF, GAME, algorithm_of, assert_same_end, made, quiet, small, stop
from tests.train.test_rollout import choose

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests.train.test_replaceable"
NETWORK = {
    "network": "examples.own_network:RankTransformer",
    "network_options": {"width": 8, "layers": 1, "heads": 2},
}
FEATURES = {"features": "examples.own_features:make_features"}
SCHEDULE = {
    "opponents": {PAST: 0.5, "random": 0.2},
    "past_every": 1,
    "past_policies": 2,
    "opponent_schedule": "examples.fictitious_self_play:prioritised",
}
#: Each part replaced, in a run.
PARTS: dict[str, dict[str, Any]] = {
    "network": {**NETWORK, "opponents": {PAST: 0.3}, "past_every": 1},
    "network of dmc": {**NETWORK, "algorithm": "dmc"},
    "features": FEATURES,
    "network and features": NETWORK | FEATURES,
    "opponents": SCHEDULE,
    "critic": {"algorithm": "examples.mappo:MAPPO"},
    "algorithm": {"algorithm": "examples.mirror_descent:MirrorDescent"},
}


@pytest.mark.parametrize("part", ["network", "opponents", "critic", "algorithm"])
def test_a_run_with_a_part_replaced_is_resumed_exactly(
    part: str, finished_run: Callable[[TrainConfig], Path], tmp_path: Path
) -> None:
    config = small(**{**BRIEF, **PARTS[part]})
    stop(config, tmp_path / "run", 3)
    with pytest.raises(ValueError, match="If you trust it, add --trust"):
        open_run(tmp_path / "run")
    resume(tmp_path / "run", quiet(), trust=True)
    assert_same_end(finished_run(config), tmp_path / "run")


@pytest.mark.parametrize(
    "name", ["own_network", "own_features", "mappo", "mirror_descent", "fictitious_self_play"]
)
def test_an_example_is_short_and_has_its_section(name: str) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text().splitlines()) <= 120
    page = (ROOT / "docs" / "own_parts.md").read_text()
    assert re.search(rf"^## .*\n(?:(?!^## ).*\n)*?.*examples/{name}\.py", page, re.MULTILINE)


# Networks and features: saved, and played by whoever names their code.


@pytest.mark.parametrize("part", ["network", "network of dmc", "features", "network and features"])
def test_a_saved_policy_plays_as_in_training_for_whoever_names_its_code(part: str, tmp_path: Path) -> None:
    trainer = made(**PARTS[part])
    trainer.update(0, 0.0)
    trainer.policy().save(tmp_path / "policy")
    with pytest.raises(ValueError, match=r"that are code, .* if you trust it, write") as refused:
        catbox_agents.make(str(tmp_path / "policy"), trainer.game)
    spec = re.findall(r"write (\S+)$", str(refused.value))[0]
    assert spec.endswith(f"@{tmp_path}/policy/policy.safetensors")
    vec = Vec(trainer.game, 200, seed=5)
    vec.step_random(7, seed=1)
    found: Any = catbox_agents.make(spec, trainer.game)
    expected = trainer.policy().act_batch(vec.observation, vec.action_mask)
    assert (found.act_batch(vec.observation, vec.action_mask) == expected).all()
    assert catbox_agents.make(f"examples@{tmp_path}/policy", trainer.game), (
        "a package is trusted with its modules"
    )
    with pytest.raises(ValueError, match="if you trust it, write"):
        catbox_agents.make(f"tests@{tmp_path}/policy", trainer.game)
    assert isinstance(found.network, TorchPlayingNetwork) == ("network" in PARTS[part])


def test_a_policy_whose_module_is_not_there_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = made(**NETWORK)
    trainer.policy().save(tmp_path / "policy")
    monkeypatch.setitem(sys.modules, "examples.own_network", None)
    with pytest.raises(
        ValueError,
        match=r"policy.safetensors cannot be loaded: .* neither installed nor in the working directory",
    ):
        catbox_agents.make(f"examples.own_network@{tmp_path}/policy", trainer.game)


@pytest.mark.slow
def test_a_policy_with_a_network_of_ones_own_plays_in_an_arena_of_two_processes_and_in_a_search(
    tmp_path: Path,
) -> None:
    config = small(**{**BRIEF, **NETWORK})
    train(config, tmp_path / "run", quiet())
    game, spec = config.make_game(), f"examples.own_network@{tmp_path}/run"
    one, two = (
        catbox_agents.run_arena(game, [spec, "random"], num_deals=20, processes=number) for number in (1, 2)
    )
    assert np.array_equal(one.margins, two.margins)
    search = catbox_agents.make(f"search:worlds=4,beta=0,policy={spec}", game, 0)
    state = game.new_initial_state(3)
    assert state.action_mask()[search.act(state.observation(state.current_player), state.action_mask())]
    again = small(**{**BRIEF, **NETWORK}, start_from=spec)
    assert np.array_equal(
        make_network(again, game, 1).arrays()["score"],
        catbox_agents.make(spec, game).network.arrays()["score"],  # type: ignore[attr-defined]
    )


def no_features(game: Game) -> None:
    """Makes none."""


class Unmasked(Network):
    """Forgets the masks."""

    def __init__(self, inputs: NetworkInputs, num_values: int = 0, **options: Any) -> None:
        super().__init__(inputs, num_values, **options)
        self.layer = torch.nn.Linear(inputs.size, inputs.game.num_actions + num_values)

    def forward(self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor) -> Any:
        logits, values = self.layer(vectors.float()).split([masks.shape[1], self.num_values], 1)
        return logits, values


class Masked(Unmasked):
    """Draws its weights anew."""

    def forward(self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor) -> Any:
        logits, values = super().forward(vectors, action_features, masks)
        return logits.masked_fill(~masks, float(ILLEGAL)), values


class Dropping(Masked):
    """Depends on random numbers."""

    def forward(self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor) -> Any:
        logits, values = super().forward(vectors, action_features, masks)
        return logits, values + torch.rand(values.shape, device=values.device)


class Normalising(Masked):
    """Counts what it has seen."""

    def __init__(self, inputs: NetworkInputs, num_values: int = 0, **options: Any) -> None:
        super().__init__(inputs, num_values, **options)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor) -> Any:
        self.count += len(vectors)
        return super().forward(vectors, action_features, masks)


class Forgetful(Masked):
    """Does not pass its options on."""

    def __init__(self, inputs: NetworkInputs, num_values: int = 0, scale: float = 1.0) -> None:
        super().__init__(inputs, num_values)
        assert scale == 2.0


class OneValue(Masked):
    """Gives its value without an axis."""

    def forward(self, vectors: torch.Tensor, action_features: torch.Tensor, masks: torch.Tensor) -> Any:
        logits, values = super().forward(vectors, action_features, masks)
        return logits, values[:, 0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"network": f"{HERE}:Unmasked"}, r"gave logits of illegal actions: expected logits\.masked_fill"),
        ({"network": f"{HERE}:OneValue"}, r"forward gave \[\(3, \d+\), \(3,\)\]: expected float32 tensors of shapes"),
        ({"network": f"{HERE}:PolicyAgent"}, "expected a subclass of catbox_train.Network"),
        ({"network": f"{HERE}:Nothing"}, "has no class 'Nothing'"),
        ({"network": "nowhere.at:All"}, "network 'nowhere.at:All' does not exist"),
        ({"network": "transformer"}, "network = 'transformer': expected 'mlp' or package.module:Name"),
        ({**NETWORK, "network_options": {"depth": 3}}, "with the options {'depth': 3}: .*unexpected keyword"),
        ({"network_options": {"depth": 3}}, "network_options = .*: expected none with mlp; set hidden"),
        ({"features": "examples.own_features:nothing"}, "has no 'nothing'"),
        ({"features": f"{HERE}:no_features"}, "expected a function that takes the game and returns its Features"),
        ({"opponent_schedule": "uniform"}, "opponent_schedule = 'uniform': expected package.module:Name"),
        ({"opponent_schedule": f"{HERE}:nothing"}, "has no 'nothing'"),
        ({"opponent_schedule": f"{HERE}:of_three"}, r"expected a function that takes \(update, progress, "),
        ({"opponent_schedule": f"{HERE}:wrong"}, "expected a mapping"),
        ({"network": f"{HERE}:Dropping"}, "gave other numbers for the same positions.*expected neither dropout"),
        ({"network": f"{HERE}:Normalising"}, "or changed a buffer"),
        ({**NETWORK, "network_options": {"width": 8, "heads": 3}}, "network = .*RankTransformer.*AssertionError"),
        ({**NETWORK, "game": "petrify_v0", "game_options": {}}, "network = .*RankTransformer.*KeyError: 'hand'"),
        ({"features": NETWORK["network"]}, "features from .*RankTransformer"),
    ],
)  # fmt: skip
def test_a_part_that_does_not_fit_is_refused_before_anything_is_written(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        train(small(**settings), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()


def test_weights_of_a_network_of_ones_own_follow_from_the_seed_alone() -> None:
    state, networks = torch.get_rng_state(), []
    for seed in (1, 1, 2):
        config = small(network=f"{HERE}:Masked", seed=seed)
        networks.append(make_network(config, config.make_game(), 1).arrays()["layer.weight"])
    assert np.array_equal(networks[0], networks[1])
    assert not np.array_equal(networks[0], networks[2])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_part_of_features_of_ones_own_stands_behind_the_others_and_reaches_the_network() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    inputs = NetworkInputs(game, True, True, FEATURES["features"])
    vec = Vec(game, 300, seed=2)
    vec.step_random(22, seed=3)
    found, of_actions = inputs.compute(vec.observation, vec.action_mask)
    expected, expected_of_actions = NetworkInputs(game, True, True).compute(vec.observation, vec.action_mask)
    where, part = inputs.parts()["features.only_red"]
    assert where == slice(inputs.size - 6, inputs.size)
    assert part.shape == (6,)
    assert np.array_equal(found[:, : inputs.size - 6], expected)
    assert np.array_equal(of_actions, expected_of_actions)
    seen = [game.observation_layout.unpack(row) for row in vec.observation]
    for row, parts in zip(found[:, where], seen, strict=True):
        may = (parts["board"].sum(axis=2) == 0) & (parts["x_tokens"][0] == 1)[:, None]
        assert row.tolist() == np.where(may[1:].any(axis=0), 0, parts["hand"]).tolist()
    assert found[:, where].any()


# A critic that sees everything.


def test_states_of_decisions_are_those_of_their_games(monkeypatch: pytest.MonkeyPatch) -> None:
    config = small(opponents={"random": 0.5})
    game = config.make_game()
    rollout = Rollout(config, game, NetworkInputs(game), state=True)
    seen: list[tuple[int, GameState]] = []

    def watch(first: int, games: np.ndarray, line_up: np.ndarray) -> None:
        seen.extend((first + k, rollout.vec.get_state(row)) for k, row in enumerate(games.tolist()))

    found = rollout.play(0, make_network(config, game), choose, watch=watch)
    assert len(seen) == len(found)
    for row, state in seen:
        player = state.current_player
        assert found.seat[row] == player
        expected = game.state_layout.unpack(found.columns["states"][row].numpy())
        relative = [(player + k) % 3 for k in range(3)]
        hands = [game.observation_layout.unpack(state.observation(seat))["hand"] for seat in relative]
        assert np.array_equal(np.ravel(expected["hand"]), np.ravel(hands))


def test_a_critic_that_sees_everything_explains_more_than_one_that_does_not() -> None:
    """It learns only from what both are paid, in self-play of the same size."""
    trainer = algorithm_of(small(algorithm="examples.mappo:MAPPO", games_per_update=64, hidden=[64]))
    losses = [trainer.update(update, 0.0)[1]["learning/value_loss"] for update in range(12)]
    assert np.mean(losses[-3:]) < 0.8 * losses[0]


# Opponents over time.


def schedule(
    update: int, progress: float, shares: dict[str, float], won: Mapping[str, float]
) -> dict[str, float]:
    """Notes what it is called with; heuristics alone, then earlier policies alone."""
    CALLS.append((update, progress, dict(shares), dict(won)))
    return {"random": 1.0} if update < 2 else {name: 0.5 if name == "past:2" else 0.0 for name in shares}


def wrong(update: int, progress: float, shares: dict[str, float], won: Mapping[str, float]) -> Any:
    return WRONG[0] if WRONG else None


CALLS: list[Any] = []
WRONG: list[Any] = []


def test_a_schedule_is_shown_the_opponents_in_the_order_of_the_settings() -> None:
    """Whatever the order of a set of names, which differs from process to process."""
    CALLS.clear()
    opponents = {"random": 0.2, HIGHEST: 0.2, "heuristic": 0.2, PAST: 0.3}
    trainer = made(
        **{**SCHEDULE, "opponents": opponents, "opponent_schedule": f"{HERE}:noting"}, games_per_update=60
    )
    for update in range(3):
        trainer.update(update, 0.0)
    assert [[*won] for *_, won in CALLS[1:]] == [
        ["random", HIGHEST, "heuristic"],
        ["random", HIGHEST, "heuristic", "past:1"],
    ]


def noting(
    update: int, progress: float, shares: dict[str, float], won: Mapping[str, float]
) -> dict[str, float]:
    """Changes nothing."""
    CALLS.append((update, progress, dict(shares), dict(won)))
    return shares


def of_three(update: int, progress: float, shares: dict[str, float]) -> dict[str, float]:
    """Takes too little."""
    return shares


def test_a_schedule_sets_who_meets_the_learner_and_is_shown_who_beats_it() -> None:
    CALLS.clear()
    settings = {**SCHEDULE, "opponent_schedule": f"{HERE}:schedule", "games_per_update": 40}
    trainer = made(**settings)
    metrics = [trainer.update(update, 0.1 * update)[1] for update in range(4)]
    assert [call[:2] for call in CALLS] == [(0, 0.0), (1, 0.1), (2, 0.2), (3, pytest.approx(0.3))]
    assert [call[2] for call in CALLS] == [
        {"random": 0.2},
        {"random": 0.2, "past:1": 0.5},
        {"random": 0.2, "past:1": 0.25, "past:2": 0.25},
        {"random": 0.2, "past:2": 0.25, "past:3": 0.25},
    ]
    won = [call[3] for call in CALLS]
    first, second = (found["learning/beats_random"] for found in metrics[:2])
    assert won[0] == {}
    assert won[1] == {"random": pytest.approx(first)}
    assert won[2] == {"random": pytest.approx((0.95 * first + second) / 1.95)}, (
        "the games of a past update count less"
    )
    assert won[3].keys() == {"random", "past:2"}
    assert won[3]["past:2"] == pytest.approx(metrics[2]["learning/beats_past"])
    assert "learning/beats_random" not in metrics[2]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({"heuristic": 0.5}, r"shares of \['heuristic'\]: expected some of the opponents random"),
        ({"random": 1.5}, "the share of random=1.5: expected a number from 0 to 1"),
        ({"random": "half"}, "the share of random='half': expected a number from 0 to 1"),
        ([0.5], r"shares \[0.5\]: expected a mapping from names to numbers"),
    ],
)
def test_a_schedule_with_wrong_shares_is_named(shares: Any, said: str) -> None:
    WRONG[:] = [shares]
    trainer = made(**{**SCHEDULE, "opponent_schedule": f"{HERE}:wrong"})
    with pytest.raises(ValueError, match=rf"opponent_schedule = '{HERE}:wrong': {said}"):
        trainer.update(0, 0.0)


def test_prioritised_opponents_get_more_games_the_harder_they_are_to_beat() -> None:
    from examples.fictitious_self_play import prioritised

    shares = {"random": 0.2, "past:1": 0.3, "past:2": 0.3}
    found = prioritised(5, 0.5, shares, {"random": 0.9, "past:1": 0.2})
    assert sum(found.values()) == pytest.approx(0.8)
    assert found["past:1"] / found["random"] == pytest.approx(64)
    assert found["past:1"] > found["past:2"] > found["random"]
    assert prioritised(5, 0.5, shares, dict.fromkeys(shares, 1.0)) == shares


# An algorithm.


def test_the_magnet_follows_the_policy_slowly_and_holds_it_back() -> None:
    free, held = (made(algorithm="examples.mirror_descent:MirrorDescent", magnet_coef=c) for c in (0.0, 50.0))
    start = free.network.arrays()
    for trainer in (free, held):
        for update in range(4):
            trainer.update(update, 0.0)

    def moved(network: Any) -> float:
        return float(sum(np.square(network.arrays()[name] - start[name]).sum() for name in start))

    assert moved(held.network) < 0.5 * moved(free.network)
    assert 0 < moved(free.magnet) < 0.5 * moved(free.network)


def test_the_options_of_a_network_are_saved_whatever_it_does_with_them(tmp_path: Path) -> None:
    trainer = made(network=f"{HERE}:Forgetful", network_options={"scale": 2.0})
    trainer.policy().save(tmp_path)
    assert catbox_agents.make(f"{HERE}@{tmp_path}", trainer.game)


def test_a_best_response_to_a_policy_with_a_network_of_ones_own_starts_from_it(tmp_path: Path) -> None:
    trainer = made(**NETWORK)
    trainer.policy().save(tmp_path)
    target = f"examples.own_network@{tmp_path}"
    found = _among_copies(target, small(), seed=1, from_scratch=False)
    assert (found.network, found.network_options) == (NETWORK["network"], {**NETWORK["network_options"]})
    assert found.start_from == target


def test_the_arena_knows_another_policy_by_its_weights(tmp_path: Path) -> None:
    prints = []
    for seed in (1, 2):
        trainer = made(**NETWORK, seed=seed)
        trainer.policy().save(tmp_path)
        spec = f"examples.own_network@{tmp_path}"
        prints.append(agent_fingerprint(spec, catbox_agents.make(spec, trainer.game), trainer.game))
    assert prints[0] != prints[1]


@pytest.mark.parametrize("setting", ["network", "features", "opponent_schedule"])
def test_a_module_with_the_name_of_an_agent_is_code_too(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zoo.py").write_text("raise SystemExit('code of a stranger ran')")
    monkeypatch.chdir(tmp_path)
    for name in ("zoo:f", "heuristic:f"):
        Path("settings.yaml").write_text(f"{setting}: {name}\n")
        with pytest.raises(ValueError, match=f"names code that would run.*{setting}: {name}"):
            load_config(file="settings.yaml")


def test_settings_that_name_code_come_from_a_trusted_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    for name, value in {**NETWORK, **FEATURES, "opponent_schedule": f"{HERE}:schedule"}.items():
        if name != "network_options":
            file.write_text(f"{name}: {value}\n")
            with pytest.raises(ValueError, match=rf"names code that would run.*{name}: {value}"):
                load_config(file=file)
            assert getattr(load_config(file=file, trust=True), name) == value
    file.write_text("start_from: examples.own_network@runs/x\n")
    with pytest.raises(ValueError, match="names code that would run"):
        load_config(file=file)


@pytest.mark.parametrize(
    "algorithm", ["ppo", "dmc", "exit", "examples.reinforce:Reinforce", "examples.mappo:MAPPO"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_update_in_which_the_learner_decides_nothing_or_little_is_made(algorithm: str, seed: int) -> None:
    """Petrify for four, one game, one seat of the learner: an opponent may be paid before it decides, or end it."""
    config = small(
        algorithm=algorithm,
        game="petrify_v0", game_options={"num_players": 4}, games_per_update=1, opponents={"random": 1.0},
        learner_seats=1, seed=seed, eval_opponents=["random"],
    )  # fmt: skip
    trainer: Any = algorithm_of(config)
    decisions, play = [], trainer.rollout.play
    trainer.rollout.play = lambda *given, **how: decisions.append(play(*given, **how)) or decisions[-1]
    for update in range(20):
        played, metrics = trainer.update(update, 0.0)
        assert played > 0
        assert all(np.isfinite(value) for value in metrics.values())
    counts = [len(found) for found in decisions]
    assert min(counts) < 5
    assert max(counts) > 0


def test_the_policy_agent_of_a_network_keeps_the_weights_it_was_made_with() -> None:
    trainer = made(**NETWORK)
    agent = PolicyAgent(trainer.network, trainer.game)
    before = agent.network.arrays()
    trainer.update(0, 0.0)
    after = agent.network.arrays()
    assert all(np.array_equal(after[name], array) for name, array in before.items())
    assert any(not np.array_equal(trainer.network.arrays()[name], array) for name, array in before.items())
    assert GAME
