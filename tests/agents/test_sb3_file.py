"""Files that Stable-Baselines3 saved, as agents: read without running what is in them."""

from __future__ import annotations

import base64
import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.ppo_mask.policies import MlpPolicy
from stable_baselines3 import A2C, DQN, PPO

import catbox_agents
from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.networks.sb3_file import read_sb3_model
from catbox_agents.sb3 import SB3Agent, VecEnv
from catbox_env import make_game
from tests.agents.test_sb3 import SMALL, maskable, positions, small


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a MaskablePPO for `SMALL`."""
    path = tmp_path_factory.mktemp("model") / "model.zip"
    maskable(small()).save(path)
    return path


@pytest.mark.parametrize(
    ("kind", "activation"), [(MaskablePPO, torch.nn.Tanh), (PPO, torch.nn.ReLU), (A2C, torch.nn.Tanh)]
)
def test_a_file_plays_like_its_model(kind: type, activation: type, tmp_path: Path) -> None:
    env = small(4, features=activation is torch.nn.ReLU)
    settings: dict[str, Any] = {
        "policy_kwargs": {"activation_fn": activation, "net_arch": {"pi": [24, 16], "vf": [8]}}
    }
    if activation is torch.nn.Tanh:  # what SB3 takes where nothing is said
        settings = {}
    model = kind("MlpPolicy", env, n_steps=16, device="cpu", **settings)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save(tmp_path / "model.zip")
    agent = catbox_agents.make(tmp_path / "model.zip", env.game)
    seen, masks = positions(env.game)
    assert np.allclose(agent.policy_batch(seen, masks), SB3Agent(model).policy_batch(seen, masks), atol=1e-5)


def test_a_file_says_what_it_was_trained_for(saved: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(saved)
    assert checkpoint.game_id == "cat_in_the_box_v0"
    assert checkpoint.options == make_game("cat_in_the_box_v0", **SMALL).options
    with pytest.raises(ValueError, match=r"was trained for cat_in_the_box_v0 with .*asked to play"):
        catbox_agents.make(saved, make_game("cat_in_the_box_v0", num_players=3))
    with pytest.raises(
        ValueError, match="was trained for the game 'cat_in_the_box_v0', asked to play 'petrify_v0'"
    ):
        catbox_agents.make(saved, make_game("petrify_v0"))
    env = gymnasium.make("catbox/CatInTheBox-v0", opponents="random", **SMALL)
    maskable(env).save(tmp_path / "single.zip")
    assert load_checkpoint(tmp_path / "single.zip").options == checkpoint.options


def test_where_the_file_does_not_say_it_the_sizes_are_checked(tmp_path: Path) -> None:
    env = small()
    vars(env.observation_space).pop("catbox")
    maskable(env).save(tmp_path / "model.zip")
    assert load_checkpoint(tmp_path / "model.zip").game_id is None
    catbox_agents.make(tmp_path / "model.zip", env.game)
    with pytest.raises(ValueError, match=r"has \d+ inputs .*trained for another game or other rules"):
        catbox_agents.make(tmp_path / "model.zip", make_game("cat_in_the_box_v0", num_players=3))


@pytest.mark.slow
def test_a_file_plays_without_torch_and_stable_baselines(saved: Path) -> None:
    program = f"""
import sys
sys.modules |= dict.fromkeys(["torch", "stable_baselines3", "sb3_contrib"])
import catbox_agents, catbox_env
game = catbox_env.make_game("cat_in_the_box_v0", **{SMALL})
agent = catbox_agents.make({str(saved)!r}, game)
print(len(catbox_agents.evaluate(game, [agent, "random"], 10, seed=0).standings))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2", done.stderr


class OwnPolicy(MlpPolicy):
    """May compute anything."""


def test_other_models_are_refused_with_the_way_to_load_them(tmp_path: Path) -> None:
    env = small(2)

    def refused(model: Any, reason: str) -> None:
        model.save(tmp_path / "model.zip")
        with pytest.raises(ValueError, match=rf"{reason}.*SB3Agent\(MaskablePPO.load\(path\), game\)"):
            load_checkpoint(tmp_path / "model.zip")

    refused(MaskablePPO(OwnPolicy, env, n_steps=8, device="cpu"), "policy of the module 'tests.agents")
    refused(DQN("MlpPolicy", env, buffer_size=8, device="cpu"), "policy of the module 'stable_baselines3.dqn")
    refused(maskable(env, policy_kwargs={"activation_fn": torch.nn.ELU}), "activation .*ELU")

    class Halves(torch.nn.Flatten):
        features_dim = env.observation_space.shape[0]

        def __init__(self, space: Any) -> None:
            super().__init__()

    refused(maskable(env, policy_kwargs={"features_extractor_class": Halves}), "the extractor .*Halves")
    path = tmp_path / "model.zip"
    maskable(env, policy_kwargs={"net_arch": []}).save(path)
    with pytest.raises(ValueError, match="0 hidden layers"):
        load_checkpoint(path)


def rewritten(
    saved: Path, path: Path, entry: str, change: Callable[[bytes], bytes], compress: bool = False
) -> Path:
    """A copy of the archive in which one entry is another."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            kind = zipfile.ZIP_DEFLATED if compress and name == entry else zipfile.ZIP_STORED
            new.writestr(name, change(content) if name == entry else content, compress_type=kind)
    return path


class Bomb:
    """Its pickle makes a folder where it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self.folder),)


def test_no_code_of_a_file_is_run(saved: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    bomb = base64.b64encode(pickle.dumps(Bomb(trace))).decode()

    def armed(content: bytes) -> bytes:
        data = json.loads(content)
        for value in data.values():
            if isinstance(value, dict) and ":serialized:" in value:
                value[":serialized:"] = bomb
        return json.dumps(data).encode()

    load_checkpoint(rewritten(saved, tmp_path / "data.zip", "data", armed))
    assert not trace.exists()
    with pytest.raises(Exception):  # noqa: B017, PT011  (whatever SB3 raises, it has loaded the pickle by then)
        MaskablePPO.load(tmp_path / "data.zip")
    assert trace.exists()
    trace.rmdir()

    def armed_weights(content: bytes) -> bytes:
        into = io.BytesIO()
        torch.save({"action_net.weight": Bomb(trace)}, into)
        return into.getvalue()

    path = rewritten(saved, tmp_path / "weights.zip", "policy.pth", armed_weights)
    with pytest.raises(ValueError, match=r"damaged \(policy.pth names \w+.mkdir, which no weights"):
        load_checkpoint(path)
    assert not trace.exists()


def weights(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Changes the state of the policy in an entry that torch saved."""

    def apply(content: bytes) -> bytes:
        state, into = torch.load(io.BytesIO(content), weights_only=True), io.BytesIO()
        change(state)
        torch.save(state, into)
        return into.getvalue()

    return apply


W = "mlp_extractor.policy_net.0.weight"


@pytest.mark.parametrize(
    ("entry", "change", "reason"),
    [
        ("policy.pth", lambda content: content[:1000], "not a zip file"),
        ("policy.pth", weights(lambda state: state.update({W: state[W].double()})), "torch.DoubleStorage"),
        ("policy.pth", weights(lambda state: state.update({W: state[W].t()})), "strides"),
        ("policy.pth", weights(lambda state: state.pop(W)), "lacks a layer"),
        (
            "policy.pth",
            weights(lambda state: state.update({"lstm.weight": torch.zeros(1)})),
            "which no MlpPolicy has",
        ),
        ("data", lambda content: b"[" * 200_000, "damaged"),
    ],
)
def test_damaged_files_are_refused(
    saved: Path, tmp_path: Path, entry: str, change: Callable[[bytes], bytes], reason: str
) -> None:
    path = rewritten(saved, tmp_path / "model.zip", entry, change)
    with pytest.raises(ValueError, match=f"{path} is damaged.*use another checkpoint") as refused:
        load_checkpoint(path)
    assert reason in str(refused.value)


def test_nothing_is_read_that_may_grow(saved: Path, tmp_path: Path) -> None:
    path = rewritten(saved, tmp_path / "model.zip", "data", lambda content: content, compress=True)
    with pytest.raises(ValueError, match="data is compressed"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (b"\x80\x02}r\xff\xff\xff\x7f.", "the memo index 2147483647"),  # LONG_BINPUT
        (b"\x80\x05\x96" + (1 << 46).to_bytes(8, "little") + b".", "bytes in a bytearray8"),
    ],
)
def test_weights_that_claim_more_memory_than_the_file_has_are_refused(
    saved: Path, tmp_path: Path, program: bytes, reason: str
) -> None:
    def change(content: bytes) -> bytes:
        path = tmp_path / "policy.pth"
        path.write_bytes(content)
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        return rewritten(path, tmp_path / "changed.pth", name, lambda _: program).read_bytes()

    path = rewritten(saved, tmp_path / "model.zip", "policy.pth", change)
    with pytest.raises(ValueError, match=rf"is damaged \(.*({reason})"):
        load_checkpoint(path)


@pytest.mark.faults
def test_changed_bytes_are_refused_or_harmless(saved: Path, tmp_path: Path) -> None:
    content, path, generator = saved.read_bytes(), tmp_path / "model.zip", np.random.default_rng(0)
    for position in generator.integers(0, len(content), 60):
        changed = bytearray(content)
        changed[position] ^= int(generator.integers(1, 256))
        path.write_bytes(bytes(changed))
        try:
            network = read_sb3_model(path).network
        except ValueError:
            continue
        assert network.num_outputs == small(1).game.num_actions


def test_training_begins_with_a_file(tmp_path: Path) -> None:
    """PPO takes the network where its settings are the same."""
    from catbox_train import load_config
    from catbox_train.runs.loop import check_run

    env = VecEnv("cat_in_the_box_v0", 2, opponents="random", **SMALL)
    maskable(env).save(tmp_path / "model.zip")
    settings = {"hidden": [64, 64], "activation": "tanh", "features": False, "action_features": False}
    small_run = {"num_envs": 4, "batch_size": 64, "minibatch_size": 64, "workers": 1, "device": "cpu"}
    config = load_config(
        overrides={"game_options": SMALL, "start_from": str(tmp_path / "model.zip"), **settings, **small_run}
    )
    resolved, game = check_run(config)
    from catbox_train.algorithms.ppo.ppo import PPO as CatboxPPO

    algorithm = CatboxPPO(resolved, game)
    try:
        expected = load_checkpoint(tmp_path / "model.zip").network.arrays()
        found = algorithm.policy().arrays()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
    finally:
        algorithm.close()
