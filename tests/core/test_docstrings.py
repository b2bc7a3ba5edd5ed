"""The docstring of each game's module: its tables of actions and of observation parts say what the code does."""

import importlib
import inspect
import re
from importlib.util import find_spec

import pytest

import catbox_env
from catbox_env.core.game import Game
from tests.core.game_cases import CASES

#: Games whose module is a file with a specification.
SPECIFIED = [game_id for game_id in catbox_env.GAMES if find_spec(f"catbox_env.{game_id}")]
NUMBERS = {"five": 5, "four": 4, "three": 3, "two": 2}


def docstring(game_id: str) -> str:
    return str(inspect.getdoc(importlib.import_module(f"catbox_env.{game_id}")))


def rows_of_table(text: str, first_column: str) -> list[list[str]]:
    """The rows, without the two of the head, of the table whose first column has that head."""
    lines = text.splitlines()
    (start,) = [i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |")]
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def letters(game: Game) -> dict[str, int]:
    """The sizes that the docstring calls by a letter."""
    sizes = {letter: size(game.rules) for letter, size in CASES[game.id].letters.items()}
    return {"P": game.num_players, **sizes}


def value(formula: str, game: Game) -> int:
    """What a formula such as ``R+B+CR-1`` or ``N*N`` comes to: letters side by side are multiplied."""
    product = re.sub(r"(?<=[A-Z])(?=[A-Z])", "*", formula.strip())
    assert re.fullmatch(r"[A-Z0-9*+-]+", product), formula
    return int(eval(product, {}, letters(game)))


@pytest.mark.parametrize("game_id", SPECIFIED)
def test_the_table_of_the_observation_names_its_parts_in_order_with_their_shapes(game_id: str) -> None:
    """Under rules of all kinds, some of which have every part."""
    rows, met = rows_of_table(docstring(game_id), "part"), set()
    for options in CASES[game_id].options_to_compare():
        game = catbox_env.make_game(game_id, **options)
        documented = []
        for name, shape, meaning in rows:
            conditions = re.findall(r"\(only [^)]*\)", meaning)
            if all(CASES[game_id].conditions[condition](game.rules) for condition in conditions):
                documented.append((name.strip("`"), tuple(value(size, game) for size in shape.split(","))))
        assert documented == [(part.name, part.shape) for part in game.observation_layout.values()], options
        met |= {name for name, _ in documented}
    assert met == {name.strip("`") for name, *_ in rows}


@pytest.mark.parametrize("game_id", SPECIFIED)
def test_the_table_of_actions_covers_every_action_once_and_as_the_game_describes_it(game_id: str) -> None:
    for options in CASES[game_id].options_to_compare():
        game = catbox_env.make_game(game_id, **options)
        ranges = []
        for ids, meaning in rows_of_table(docstring(game_id), "ids"):
            ends = [value(end, game) for end in ids.strip("`").split("..")]
            ranges.append((ends[0], ends[-1], meaning))
        covered = [action for first, last, _ in ranges for action in range(first, last + 1)]
        assert covered == list(range(game.num_actions))
        for first, last, what in game.describe_actions():
            (meaning,) = [text for low, high, text in ranges if low <= first and last <= high]
            assert same_verb(meaning, what), (meaning, what)


def same_verb(one: str, other: str) -> bool:
    """Whether two descriptions begin with the same word, or say "move to" and "end the walk on" a cell."""
    first = {text.split()[0].strip(":").lower() for text in (one, other)}
    return len(first) == 1 or first == {"end", "move"}


@pytest.mark.parametrize(("count", "players"), NUMBERS.items())
def test_the_module_of_cat_in_the_box_says_how_many_actions_there_are(count: str, players: int) -> None:
    text = " ".join(docstring("cat_in_the_box_v0").split())
    (stated,) = re.findall(rf"(\d+) for {count}\b", text)
    assert int(stated) == catbox_env.make_game("cat_in_the_box_v0", num_players=players).num_actions
