"""What the pages of environments are made of: the docstrings of modules and options, what parts are said to hold."""

import importlib
import pickle
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import catbox_env
from catbox_app.rules import described
from tests.core.game_cases import CASES

ROOT = Path(__file__).resolve().parents[2]
#: Games whose module is a file with a specification.
SPECIFIED = [game_id for game_id in catbox_env.GAMES if find_spec(f"catbox_env.{game_id}")]


@pytest.mark.parametrize("game_id", SPECIFIED)
def test_a_module_says_where_the_tables_of_its_environment_are(game_id: str) -> None:
    said = importlib.import_module(f"catbox_env.{game_id}").__doc__
    assert f"``docs/{game_id}.md``" in said
    assert (ROOT / "docs" / f"{game_id}.md").is_file()
    game = catbox_env.make_game(game_id)
    tables = re.findall(r"``(game(?:\.\w+)?)\.(\w+)\(\)``", said)
    assert len(tables) == 2
    for made, table in tables:
        assert getattr(game.observation_layout if made.endswith("layout") else game, table)()


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_the_functions_of_a_module_describe_the_options_that_every_environment_has(game_id: str) -> None:
    module = getattr(catbox_env, game_id)
    shared = {"rules": module.Rules(), "reward": "win", "render_mode": "ansi", "history": True}
    assert described(module.env.__doc__, "Options").keys() == shared.keys()
    for make in (module.env, module.raw_env):
        env = make(**shared)
        env.reset(seed=0)
        assert "history" in env.last()[0]
        assert env.unwrapped.game == catbox_env.make_game(game_id, reward="win")


@pytest.mark.parametrize("game_id", SPECIFIED)
def test_the_functions_of_a_module_can_be_sent_to_other_processes(game_id: str) -> None:
    module = importlib.import_module(f"catbox_env.{game_id}")
    for function in (module.env, module.raw_env):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("game_id", SPECIFIED)
def test_parts_of_an_observation_say_under_which_rules_they_are_there(game_id: str) -> None:
    """In the words of ``conditions``, checked under rules of all kinds, some of which have every part."""
    games = [catbox_env.make_game(game_id, **options) for options in CASES[game_id].options_to_compare()]
    told = {name: part.doc for game in games for name, part in game.observation_layout.items()}
    assert told.keys() == {*games[0].observation_layout.names}
    for game in games:
        said = [
            name
            for name in game.observation_layout.names
            if all(
                CASES[game_id].conditions[condition](game.rules)
                for condition in re.findall(r"\(only [^)]*\)", told[name])
            )
        ]
        assert said == list(game.observation_layout), game.rules


def test_what_docstrings_name_in_the_core_exists() -> None:
    named = {
        name
        for path in Path(catbox_env.__file__).parent.rglob("*.py")
        for name in re.findall(r"`(?:catbox_env\.)?core\.([a-z_]+\.\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 7
    for name in named:
        module, attribute = name.split(".")
        assert hasattr(importlib.import_module(f"catbox_env.core.{module}"), attribute), name
