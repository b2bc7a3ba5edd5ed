"""Files that Stable-Baselines3 saved, as agents: read without running what is in them."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import pickle
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
from catbox_agents.networks.sb3_agent import SB3Agent, read_model
from catbox_agents.specs import trained_for
from catbox_env import make_game
from tests.agents.test_sb3 import SMALL, maskable, positions, small
from tests.app.table import refused, run


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
    options = make_game("cat_in_the_box_v0", **SMALL).options
    assert trained_for(str(saved)) == ("cat_in_the_box_v0", options)
    with pytest.raises(ValueError, match=r"model.zip: .*made for cat_in_the_box_v0 with .*asked to play"):
        catbox_agents.make(saved, make_game("cat_in_the_box_v0", num_players=3))
    with pytest.raises(ValueError, match="made for the game 'cat_in_the_box_v0', asked to play 'petrify_v0'"):
        catbox_agents.make(saved, make_game("petrify_v0"))
    env = gymnasium.make("catbox/CatInTheBox-v0", opponents="random", **SMALL)
    maskable(env).save(tmp_path / "single.zip")
    assert trained_for(str(tmp_path / "single.zip")) == ("cat_in_the_box_v0", options)


def test_where_the_file_does_not_say_it_the_sizes_are_checked(tmp_path: Path) -> None:
    env, path = small(), tmp_path / "model.zip"
    vars(env.observation_space).pop("catbox")
    maskable(env).save(path)
    assert trained_for(str(path)) is None
    catbox_agents.make(path, env.game)
    with pytest.raises(
        ValueError, match=r"takes observations of shape .*trained for another game or other rules"
    ):
        catbox_agents.make(path, make_game("cat_in_the_box_v0", num_players=3))


def test_the_commands_take_a_file(saved: Path) -> None:
    """The file says which game it plays."""
    ran = run("evaluate", str(saved), "random", "--deals", "10")
    assert ran.exit_code == 0, ran.output
    assert "model.zip" in ran.output


def test_without_the_extra_the_error_says_what_to_install(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "sb3_contrib" else find(name, *more)
    )
    for name in [name for name in sys.modules if name.startswith("sb3_contrib")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "catbox_agents.networks.sb3_agent")
    said = refused("evaluate", str(saved), "random", "--deals", "10")
    assert "a model of Stable-Baselines3 needs sb3_contrib, which is not installed" in said
    assert "pip install -e '.[sb3]'" in said


class OwnPolicy(MlpPolicy):
    """May compute anything."""


def test_other_models_are_refused_with_the_way_to_load_them(tmp_path: Path) -> None:
    env = small(2)

    def refused(model: Any, reason: str) -> None:
        model.save(tmp_path / "model.zip")
        with pytest.raises(ValueError, match=rf"{reason}.*SB3Agent\(MaskablePPO.load\(path\), game\)"):
            read_model(tmp_path / "model.zip")

    refused(MaskablePPO(OwnPolicy, env, n_steps=8, device="cpu"), "policy of the module 'tests.agents")
    refused(DQN("MlpPolicy", env, buffer_size=8, device="cpu"), "policy of the module 'stable_baselines3.dqn")
    refused(maskable(env, policy_kwargs={"activation_fn": torch.nn.ELU}), "activation .*ELU")

    class Halves(torch.nn.Flatten):
        features_dim = env.observation_space.shape[0]

        def __init__(self, space: Any) -> None:
            super().__init__()

    refused(maskable(env, policy_kwargs={"features_extractor_class": Halves}), "the extractor .*Halves")


def test_a_network_without_hidden_layers_plays(tmp_path: Path) -> None:
    env, path = small(2), tmp_path / "model.zip"
    model = maskable(env, policy_kwargs={"net_arch": []})
    model.save(path)
    seen, masks = positions(env.game)
    told = catbox_agents.make(path, env.game).policy_batch(seen, masks)
    assert np.allclose(told, SB3Agent(model).policy_batch(seen, masks), atol=1e-6)


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

    read_model(rewritten(saved, tmp_path / "data.zip", "data", armed))
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
    with pytest.raises(ValueError, match=r"(?s)damaged.*mkdir"):
        read_model(path)
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
        ("policy.pth", lambda content: content[:1000], ""),
        ("policy.pth", weights(lambda state: state.pop(W)), "Missing key"),
        (
            "policy.pth",
            weights(lambda state: state.update({"lstm.weight": torch.zeros(1)})),
            "Unexpected key",
        ),
        ("policy.pth", weights(lambda state: state.update({W: state[W][:, 1:]})), "size mismatch|shape"),
        ("data", lambda content: b"[" * 200_000, "recursion"),
        ("data", lambda content: b"[]", ""),
    ],
)
def test_damaged_files_are_refused(
    saved: Path, tmp_path: Path, entry: str, change: Callable[[bytes], bytes], reason: str
) -> None:
    path = rewritten(saved, tmp_path / "model.zip", entry, change)
    with pytest.raises(ValueError, match=f"(?s){path} is damaged.*({reason})"):
        catbox_agents.make(path, small(1).game)


def test_nothing_is_read_that_may_grow(saved: Path, tmp_path: Path) -> None:
    path = rewritten(saved, tmp_path / "model.zip", "data", lambda content: content, compress=True)
    with pytest.raises(ValueError, match="an entry is compressed"):
        read_model(path)


@pytest.mark.faults
def test_changed_bytes_are_refused_or_harmless(saved: Path, tmp_path: Path) -> None:
    game = small(1).game
    content, path, generator = saved.read_bytes(), tmp_path / "model.zip", np.random.default_rng(0)
    for position in generator.integers(0, len(content), 60):
        changed = bytearray(content)
        changed[position] ^= int(generator.integers(1, 256))
        path.write_bytes(bytes(changed))
        try:
            agent = catbox_agents.make(path, game)
        except ValueError:
            continue
        assert agent.game is game
