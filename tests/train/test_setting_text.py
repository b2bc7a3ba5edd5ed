"""One text means one value, in --set, in --rule and in a file of settings; and what a file may not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from catbox_app.chosen_game import add_pairs
from catbox_train.config import load_config


def read(**sources: object) -> object:
    """The settings, or the reason why they are refused."""
    try:
        return load_config(**sources)
    except ValueError as error:
        return str(error)


def read_file(tmp_path: Path, text: str) -> object:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    return read(file=file)


TEXTS = [
    *("7", "010", "0x10", "-3", "2_000_000", "5e-4", "1.0e+400", ".inf", "nan"),
    *("1:30", "2001-01-01", "true", "Yes", "off", "~", "None", "="),
    *("", "1,3,4", "[1, 3, 4]", "1,", "[]", "(1,3)", "[on, 010, '7']", "[[1], [2]]", "{a: 010, b: [1, '2']}"),
    *("'7'", "'on'", "'1,3'", "laos", "it's", "random, runs/x"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_option_of_the_game_is_the_same_wherever_it_is_written(tmp_path: Path, text: str) -> None:
    for name in ("bids", "rounds"):
        typed = read(overrides={f"game_options.{name}": text})
        rule: dict[str, object] = {}
        add_pairs(rule, [f"game_options.{name}={text}"], "--rule")
        assert not isinstance(typed, str)
        assert repr(typed) == repr(read(overrides=rule))  # not a number is not equal to itself
        assert repr(typed) == repr(read_file(tmp_path, f"game_options:\n  {name}: {text}\n"))
        assert repr(typed) == repr(read_file(tmp_path, f"game_options.{name}: {text}\n"))


NAMES = ["seed", "clip", "privileged_critic", "hidden", "opponents", "game"]
MORE = ["cat_te_v0", "'cat_te_v0'", "relu", "'relu'", "00000120", "'64'", "[64, '64']"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", TEXTS + MORE)
def test_a_setting_is_the_same_wherever_it_is_written(tmp_path: Path, name: str, text: str) -> None:
    typed, written = read(overrides={name: text}), read_file(tmp_path, f"{name}: {text}\n")
    if isinstance(typed, str) or _is_structure_where_a_text_is_expected(name, text):
        assert isinstance(written, str)
    else:
        assert typed == written


def _is_structure_where_a_text_is_expected(name: str, text: str) -> bool:
    """YAML sees a list or a mapping there, the command line a text with brackets. No name has any."""
    return text.startswith(
        {"game": ("[", "{"), "activation": ("[", "{"), "opponents": ("[[", "{")}.get(name, ())
    )


def test_what_a_file_means() -> None:
    """Some values, so that the tests above do not compare one mistake with itself."""
    written = {"a": "010", "b": "1:30", "c": "~", "d": "'7'", "e": "yes", "f": "[1, '2']", "g": ""}
    meant = {"a": "010", "b": "1:30", "c": "~", "d": "7", "e": True, "f": [1, "2"], "g": []}
    config = load_config(overrides={f"game_options.{name}": text for name, text in written.items()})
    assert config.game_options == meant
    assert load_config(overrides={"game_options": "{a: '7', b: 7}"}).game_options == {"a": "7", "b": 7}
    assert load_config(overrides={"opponents": "00000120, '3'"}).opponents == ("00000120", "3")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "seed: [\n",
            "line 2: not valid YAML, while parsing a flow node, expected the node content, but found",
        ),
        ("seed: \0", " is not valid YAML: "),
        ("seed: 1\nclip: 0.1\nseed: 2\n", "line 3: 'seed' was given before; give it once"),
        ("game_options: {bids: 1}\ngame_options.bids: 2", "game_options.bids in "),
        ("hidden: &a [8]\nopponents: *a", "line 2: aliases (*name) are not supported: write out"),
        ("seed: !!str 7", "line 1: tags (tag:yaml.org,2002:str) are not supported: leave it out"),
        ("[seed]: 7", "line 1: the name of a setting is a list or a mapping; expected a text"),
    ],
)
def test_a_file_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    refusal = read_file(tmp_path, text)
    assert isinstance(refusal, str)
    assert said in refusal
    assert "\n" not in refusal
    assert "mine.yaml" in refusal
