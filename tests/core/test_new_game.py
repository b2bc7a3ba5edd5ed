"""What docs/new_game.md says: a game is a folder and a registry line, and every interface serves it."""

import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import catbox_env
import catbox_env.games
from catbox_agents import Agent
from catbox_agents.arena import evaluate
from catbox_agents.learners.gymnasium import LearnerEnv
from catbox_app.cli import app
from catbox_app.rules import rule_fields
from catbox_env import registry
from tests.core import fuzz, test_bad_input, test_serialize, test_worlds
from tests.core.bad_values import check_refusals
from tests.core.game_cases import CASES, accepted_players, default_cases
from tests.core.playthrough import playthrough

PACKAGE = Path(catbox_env.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "new_game.md").read_text(encoding="utf-8")
#: File -> content: the code blocks of the page.
FILES = dict(re.findall(r"^```python (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_only_its_folder_its_module_and_the_registry_know_a_game(game_id: str) -> None:
    name = game_id.rpartition("_v")[0]
    folder, module = PACKAGE / "games" / name, PACKAGE / f"{game_id}.py"
    knowing = {path for path in PACKAGE.rglob("*.py") if name in path.read_text(encoding="utf-8")}
    outside = {path for path in knowing if folder not in path.parents and path != module}
    pictures = set((PACKAGE / "pictures").glob(f"{name}*.py"))
    assert outside <= {PACKAGE / "registry.py", PACKAGE / "__init__.py", *pictures}
    lines = (PACKAGE / "registry.py").read_text(encoding="utf-8").splitlines()
    assert sum(name in line for line in lines) == 1


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_the_cases_of_a_game_have_every_number_of_players_that_it_accepts(game_id: str) -> None:
    assert CASES[game_id].values["num_players"] == accepted_players(game_id)


def test_a_game_of_this_page_is_small() -> None:
    assert len(FILES) + 1 <= 6, "and an empty __init__.py"
    assert sum(content.count("\n") for content in FILES.values()) <= 120


@pytest.fixture
def nim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The game of the page, written into files and registered; the folder of its tests."""
    for name, code in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
        os.utime(
            path, (1_700_000_000, 1_700_000_000)
        )  # its compiled code is kept: it was not edited just now
    (tmp_path / "catbox_env/games/nim/__init__.py").touch()
    for package, folder in ((catbox_env, "catbox_env"), (catbox_env.games, "catbox_env/games")):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    game_id, place = re.search(r'^"(nim_v0)": "(\S+)",$', PAGE, re.MULTILINE).groups()
    monkeypatch.setitem(catbox_env.GAMES, game_id, place)
    monkeypatch.setitem(CASES, game_id, default_cases(game_id))
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "tests" / "nim"
    for name in [name for name in sys.modules if "nim" in re.split(r"[._]", name)]:
        del sys.modules[name]
    vars(catbox_env.games).pop("nim", None)


def test_the_example_of_the_page_passes_its_own_test(nim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(nim)
    module = importlib.import_module("test_conformance")
    del sys.modules["test_conformance"]
    (cases,) = module.test_nim_keeps_the_contract_of_every_game.pytestmark
    for options in cases.args[1]:
        module.test_nim_keeps_the_contract_of_every_game(options)


def test_the_example_of_the_page_passes_the_tests_of_every_game(nim: Path) -> None:
    for name, function, accepted in test_bad_input.rules_of("nim_v0") + test_bad_input.deals_of("nim_v0"):
        check_refusals(name, function, accepted, bytes)
    test_serialize.test_no_byte_of_a_serialised_state_can_change("nim_v0")
    test_worlds.test_worlds_agree_with_the_observation_and_differ_in_what_is_hidden("nim_v0")
    test_worlds.test_a_row_plays_on_as_the_state_that_was_put_there("nim_v0")
    assert all(rule.help for rule in rule_fields("nim_v0").values())
    assert "take 1" in playthrough(catbox_env.make_game("nim_v0"), seed=0)
    for kind, check in fuzz.CHECKS.items():
        rng = np.random.default_rng(0)
        assert sum(check(fuzz.random_game("nim_v0", rng), rng) for _ in range(30)) > 3, kind


def test_every_interface_serves_a_game_that_is_only_registered(nim: Path) -> None:
    game = catbox_env.make_game("nim_v0")
    vec = catbox_env.make_vec("nim_v0", num_envs=4, seed=0, heap=7)
    vec.step_random(20, seed=1)
    assert (vec.observation[:, 0] > 0).all()

    aec = catbox_env.nim_v0.env(render_mode="ansi")
    aec.reset(seed=0)
    aec.step(2)
    assert aec.render() == "Nim: player_1 to move\nheap: 8\nseat: 1\nto_move: 1\n"
    with pytest.raises(ValueError, match=r"take 2.*legal actions: 'take 1'"):
        catbox_env.make_game("nim_v0", heap=1).new_initial_state().apply_action(1)
    aec = catbox_env.nim_v0.raw_env(render_mode="rgb_array")
    aec.reset(seed=0)
    assert aec.render().shape[1:] == (640, 3)

    _, info = (env := LearnerEnv("nim_v0", opponents="random", learner_seat=1)).reset(seed=0)
    assert info["action_mask"].sum() == 3
    assert env.step(0)[1] == 0

    class LeavesFours(Agent):
        """Leaves a multiple of four where it can, which wins."""

        def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
            return max(int(observation[0]) % 4 - 1, 0)

    result = evaluate(game, [LeavesFours(game), "random"], num_deals=200, names=["winner", "random"])
    assert result["winner"].margin > 1.5
    assert result["winner"].statistics["won"] > 0.8


def test_the_command_line_and_training_serve_a_game_that_is_only_registered(nim: Path) -> None:
    """Nim has no heuristic and no preset: neither is needed."""

    def catbox(*arguments: str, typed: str = "") -> str:
        done = CliRunner().invoke(app, [*arguments, "--game", "nim_v0"], input=typed)
        assert done.exit_code == 0, done.output + repr(done.exception)
        return done.output

    assert "take 3" in catbox("info")
    assert "random" in catbox("evaluate", "random", "random", "--deals", "10")
    assert "heap: 0" in catbox("watch", "--delay", "0", "--seed", "0", "--rule", "heap=9")
    assert 'in full ("take 1"), abbreviated' in catbox("play", typed="help\nquit\n")
    small = ["total_decisions=2048", "games_per_update=64", "minibatch_size=256", "hidden=[8]"]
    catbox("train", *(word for setting in [*small, "final_deals=10"] for word in ("--set", setting)))
    assert "10 deals x 2 rotations" in catbox("evaluate", "runs/nim", "random", "--deals", "10")


def test_a_game_has_at_most_128_actions(nim: Path) -> None:
    game_class = registry.game_class("nim_v0")

    class Large(game_class):  # type: ignore[valid-type, misc]  # a class that the page defines
        def _set_up(self) -> None:
            super()._set_up()
            self.num_actions = self.rules.heap + 90

    assert Large(heap=38).num_actions == 128
    with pytest.raises(ValueError, match=r"^num_actions of nim_v0=129: expected an integer from 1 to 128"):
        Large(heap=39)
