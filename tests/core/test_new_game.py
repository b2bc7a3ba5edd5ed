"""What docs/new_game.md claims: a game is one folder, one module, one registry line, and every interface serves it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

import catbox_env
from catbox_agents import Agent
from catbox_agents.arena import evaluate
from catbox_agents.gymnasium import LearnerEnv
from catbox_app.cli import app
from catbox_env.adapters.aec import AECGame
from catbox_env.core.conformance import check_game
from catbox_env.core.game import Game
from catbox_env.core.kernels import CORE_PARAMS, REWARDS, Kernels, core_state_fields, record_dtype
from catbox_env.core.layout import Layout, Part

PACKAGE = Path(catbox_env.__file__).parent


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_only_its_folder_its_module_and_the_registry_know_a_game(game_id: str) -> None:
    name = game_id.rpartition("_v")[0]
    folder, module = PACKAGE / "games" / name, PACKAGE / f"{game_id}.py"
    assert folder.is_dir()
    assert module.is_file()
    knowing = {path for path in PACKAGE.rglob("*.py") if name in path.read_text(encoding="utf-8")}
    outside = {path for path in knowing if folder not in path.parents and path != module}
    assert outside <= {PACKAGE / "core" / "registry.py", PACKAGE / "__init__.py"}
    lines = (PACKAGE / "core" / "registry.py").read_text(encoding="utf-8").splitlines()
    assert sum(name in line for line in lines) == 1
    assert {path.stem for path in folder.glob("*.py")} >= {
        "rules",
        "state",
        "kernels",
        "observation",
        "text",
        "game",
    }


# Nim: take one to three from the heap; who takes the last one wins. A small game that the core accepts.

STATE = record_dtype([*core_state_fields(2, 1), ("heap", np.int8)])
PARAMS = record_dtype([*CORE_PARAMS, ("heap", np.int64)])


@numba.njit
def deal(params, generator, state):  # type: ignore[no-untyped-def]
    state.heap = params.heap
    state.current_player = 0


@numba.njit
def apply(params, generator, state, action):  # type: ignore[no-untyped-def]
    seat = int(state.current_player)
    state.heap -= action + 1
    state.current_player = 1 - seat
    if state.heap == 0:
        for other in range(2):
            state.rewards[other] = 1.0 if other == seat else -1.0
            state.win_shares[other] = 1.0 if other == seat else 0.0
            state.info[0, other] = 1 if other == seat else 0
        state.round_ended = 1
        state.terminated = 1
        state.current_player = -1


@numba.njit
def write_mask(params, state, mask):  # type: ignore[no-untyped-def]
    for action in range(3):
        mask[action] = state.current_player >= 0 and action < state.heap


@numba.njit
def write_observation(params, state, seat, out):  # type: ignore[no-untyped-def]
    out[0] = state.heap
    out[1] = seat
    out[2] = state.current_player == seat


@numba.njit
def shown_action(params, state, action):  # type: ignore[no-untyped-def]
    return action


@numba.njit
def sample(params, observation, generators, states):  # type: ignore[no-untyped-def]
    if observation[0] == 0:
        return 1
    for i in range(len(states)):
        states[i].heap = observation[0]
        states[i].current_player = observation[1] if observation[2] else 1 - observation[1]
    return 0


@numba.njit
def check_state(params, state):  # type: ignore[no-untyped-def]
    taken = params.heap - int(state.heap)
    return 0 <= taken <= params.heap and state.num_moves <= taken and (state.heap == 0) == state.terminated


@dataclass(frozen=True)
class NimRules:
    num_players: int = 2
    heap: int = 11


class Nim(Game):
    id = "nim_v0"
    kernels = Kernels(
        deal, apply, write_mask, write_observation, write_observation, shown_action, sample, check_state
    )
    rules_class = NimRules
    state_dtype = STATE
    info_names = ("won",)

    def set_up(self) -> None:
        self.num_players, self.num_actions = 2, 3
        self.observation_layout = self.state_layout = Layout(
            [
                Part("heap", (1,), "what is left", 0, self.rules.heap),
                Part("seat", (1,), "the observer"),
                Part("to_move", (1,), "1: the observer is to move"),
            ]
        )
        self.history_length = self.rules.heap
        self.min_utility, self.max_utility = -1.0, 1.0
        self.params = np.zeros(1, PARAMS)
        record = self.params[0]
        record.num_players, record.num_actions = 2, 3
        record.reward_mode = REWARDS.index(self.reward)
        record.heap = self.rules.heap

    def action_to_string(self, action: int) -> str:
        return f"take {self.check_action_id(action) + 1}"

    def why_illegal(self, state: np.record, action: int) -> str:
        return f"only {state.heap} are left"

    def set_deal(self, state: np.record, deal: Any) -> None:
        raise ValueError(f"deal={deal!r}: Nim has no deal")

    def describe_actions(self) -> list[tuple[int, int, str]]:
        return [(0, 2, "take 1..3")]

    def draw_text(self, state: np.record, seat: int | None) -> list[tuple[str, str]]:
        return [(f"{state.heap} left\n", "")]

    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"won": info["won"].astype(float)}


def test_every_interface_serves_a_game_that_is_only_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catbox_env.GAMES, "nim_v0", f"{__name__}:Nim")
    game = catbox_env.make_game("nim_v0")
    check_game(game, num_games=3)

    vec = catbox_env.make_vec("nim_v0", num_envs=4, seed=0, heap=7)
    vec.step_random(20, seed=1)
    assert (vec.observation[:, 0] > 0).all()

    aec = AECGame("nim_v0", render_mode="ansi")
    aec.reset(seed=0)
    aec.step(2)
    assert aec.render() == "8 left\n"

    _, info = (env := LearnerEnv("nim_v0", opponents="random", learner_seat=1)).reset(seed=0)
    assert info["action_mask"].sum() == 3
    assert env.step(0)[1] == 0

    class LeavesFours(Agent):
        """Leaves a multiple of four where it can, which wins."""

        def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
            return max(int(observation[0]) % 4 - 1, 0)

    result = evaluate(game, [LeavesFours(game), "random"], num_deals=200, names=["winner", "random"])
    assert result["winner"].margin > 1.5


def test_the_command_line_and_training_serve_a_game_that_is_only_registered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nim has no heuristic and no preset: neither is needed."""
    monkeypatch.setitem(catbox_env.GAMES, "nim_v0", f"{__name__}:Nim")
    monkeypatch.chdir(tmp_path)

    def catbox(*arguments: str, typed: str = "") -> str:
        done = CliRunner().invoke(app, [*arguments, "--game", "nim_v0"], input=typed)
        assert done.exit_code == 0, done.output + repr(done.exception)
        return done.output

    assert "take 1..3" in catbox("info")
    assert "random" in catbox("evaluate", "random", "random", "--deals", "10")
    assert "0 left" in catbox("watch", "--delay", "0", "--seed", "0", "--rule", "heap=9")
    assert 'in full ("take 1"), shortened to what tells it apart ("1")' in catbox(
        "play", typed="help\nquit\n"
    )
    small = ["total_decisions=2048", "batch_size=1024", "num_envs=64", "minibatch_size=256", "hidden=[8]"]
    catbox("train", *(word for setting in [*small, "final_deals=10"] for word in ("--set", setting)))
    assert "10 deals x 2 rotations" in catbox("evaluate", "runs/nim", "random", "--deals", "10")
