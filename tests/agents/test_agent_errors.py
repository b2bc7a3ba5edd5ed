"""An error in the code of a user's agent: the agent is named, and its own traceback is kept and shown."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import catbox_agents
from catbox_agents import Agent, AgentError
from catbox_agents.arena.match import Match
from catbox_agents.errors import portable
from catbox_agents.learners.gymnasium import LearnerEnv
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_app.cli import app
from catbox_env.core.vec import Vec
from tests.small_games import game_for

BROKEN = """
from catbox_agents import Agent

class Broken(Agent):
    def act(self, observation, action_mask, history=None):
        return self.divide(int(observation[0]))

    def divide(self, phase):
        return phase // 0

class Loose(Agent):
    def act(self, observation, action_mask, history=None):
        raise RuntimeError("\\udc80 \\xe9")

class Unmade(Agent):
    def __init__(self, game, seed):
        raise RuntimeError("no weights")

    def act(self, observation, action_mask, history=None):
        return 0
"""


@pytest.fixture
def users_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The name of a user's module in the working directory."""
    name = "agents_of_a_user"
    (tmp_path / f"{name}.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def evaluated(spec: str) -> object:
    return catbox_agents.evaluate(game_for(), [spec, "random"], 10)


def watched(spec: str) -> object:
    match = Match(game_for(), [spec] * 3, 1)
    while not match.is_over:
        match.play_agent()
    return match


def played_out(spec: str) -> object:
    return catbox_agents.play_out(Vec(game_for(), 3, seed=1), spec)


def opposed(spec: str) -> object:
    return LearnerEnv("cat_in_the_box_v0", opponents=spec, learner_seat=2).reset(seed=0)


@pytest.mark.parametrize("use", [evaluated, watched, played_out, opposed])
def test_an_error_of_an_agent_names_it_and_keeps_its_cause(
    users_module: str, use: Callable[[str], object]
) -> None:
    spec = f"{users_module}:Broken"
    with pytest.raises(AgentError, match=f"agent '{spec}' raised ZeroDivisionError: .* by zero") as raised:
        use(spec)
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    shown = raised.value.agent_traceback()
    assert "return phase // 0" in shown
    assert shown.index("in act") < shown.index("in divide")
    for ours in ("decisions.py", "play_out.py", "evaluation.py", "agent.py", "play.py"):
        assert ours not in shown


def test_whatever_an_agent_says_can_be_written(users_module: str) -> None:
    with pytest.raises(AgentError, match=r"raised RuntimeError: \\udc80 é$") as caught:
        evaluated(f"{users_module}:Loose")
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert error.agent_traceback().encode().endswith(b"RuntimeError: \\udc80 \xc3\xa9\n")
        assert str(error).encode()


@pytest.mark.parametrize("use", [evaluated, opposed])
def test_an_error_while_an_agent_is_made_names_it_too(
    users_module: str, use: Callable[[str], object]
) -> None:
    with pytest.raises(AgentError, match=f"agent '{users_module}:Unmade' raised RuntimeError: no weights"):
        use(f"{users_module}:Unmade")


def test_the_command_line_shows_the_agents_part_of_the_traceback(users_module: str) -> None:
    ran = CliRunner().invoke(app, ["evaluate", f"{users_module}:Broken", "random"])
    assert ran.exit_code == 2
    *traceback, message = ran.stderr.splitlines()
    assert message.startswith(f"catbox: agent '{users_module}:Broken' raised ZeroDivisionError")
    assert traceback[0] == "Traceback (most recent call last):"
    assert f'{users_module}.py", line 6, in act' in traceback[1]
    assert "ZeroDivisionError" in traceback[-1]


@pytest.mark.parametrize("answer", [1.9, None, np.float32(1)])
def test_an_answer_that_is_not_an_integer_is_refused_and_not_rounded(answer: Any) -> None:
    class One(Agent):
        def act(self, observation: Any, action_mask: Any, history: Any = None) -> Any:
            return answer

    class Many(Agent):
        def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
            return [answer] * len(observations)

    game = game_for()
    state = game.new_initial_state(seed=0)
    with pytest.raises(AgentError, match=r"agent 'One' raised TypeError: One chose .*: expected an integer"):
        catbox_agents.play_out(Vec(game, 3, seed=1), One(game))
    with pytest.raises(TypeError, match=r"Many chose .*: expected an integer"):
        Many(game).act(state.observation(0), state.action_mask())


def test_ctrl_c_in_an_agent_is_not_reported_as_its_error() -> None:
    class Interrupted(Agent):
        def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catbox_agents.play_out(Vec(game_for(), 3, seed=1), Interrupted(game_for()))


# Other processes -------------------------------------------------------------------------------------------------


class TwoWords(ValueError):
    """An error that another process cannot be given as it is: it is made anew from its text alone."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


class WithoutText(OSError):
    """One that cannot even be shown."""

    def __reduce__(self) -> Any:
        raise TypeError

    def __str__(self) -> str:
        raise RecursionError


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (KeyError("x"), KeyError, "'x'"),
        (TwoWords("two", "words"), ValueError, "two words"),
        (WithoutText(), RuntimeError, ".*WithoutText: <exception str.. failed>"),
    ],
)
def test_every_error_can_be_given_to_another_process(
    error: Exception, kind: type[Exception], text: str
) -> None:
    error.add_note("where it was")
    found = pickle.loads(pickle.dumps(portable(error)))
    assert type(found) is kind
    assert re.fullmatch(text, str(found))
    assert found.__notes__ == ["where it was"]


def test_the_error_of_an_agent_keeps_its_text_and_traceback_there() -> None:
    error = TwoWords("two", "words")

    class Failing(Agent):
        def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
            raise error

    with pytest.raises(AgentError) as raised:
        catbox_agents.play_out(Vec(game_for(), 3, seed=1), Failing(game_for()))
    raised.value.add_note("where it was")
    found = pickle.loads(pickle.dumps(raised.value))
    assert type(found) is AgentError
    assert str(found) == str(raised.value)
    assert f"raised {type(error).__name__}: " in str(found)
    assert found.label == raised.value.label
    assert found.__notes__ == ["where it was"]
    assert "in act" in found.agent_traceback()
    assert found.agent_traceback() == raised.value.agent_traceback()


# Trained policies ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "greedy"), [("infinite", True), ("not a number", False)])
def test_weights_that_overflow_are_refused_by_name(tmp_path: Path, kind: str, greedy: bool) -> None:
    game = game_for()
    network = MLP(NetworkInputs(game), 0, (16, 8), "relu").initialise(torch.Generator(), 1.0)
    with torch.no_grad():  # all numbers are finite, as in a checkpoint they have to be
        first, middle, last = network.linear_layers()
        first.bias[:] = 100.0
        middle.weight[:2] = 3e38
        last.weight[3, 0] = 1.0
        last.weight[3, 1] = 1.0 if kind == "infinite" else -1.0
    path = tmp_path / "overflowing.safetensors"
    save_checkpoint(path, network, game)
    agent = PolicyAgent.load(path, game, seed=0, greedy=greedy)
    state = game.new_initial_state(seed=0)
    with pytest.raises(
        ValueError, match=r"overflowing\.safetensors: its network gives logits that are not finite"
    ):
        agent.act(state.observation(0), state.action_mask())
    with pytest.raises(AgentError, match=r"agent '.*overflowing\.safetensors' raised ValueError") as raised:
        catbox_agents.evaluate(game, [str(path), "random"], 10)
    assert raised.value.agent_traceback() == ""  # catbox's own lines help no one
    assert np.isfinite(network.linear_layers()[-1].weight.numpy(force=True)).all()
