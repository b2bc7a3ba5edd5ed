"""`catbox play`: what a person sees and types, and that no typing breaks it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import catbox_env
from catbox_agents import read_record
from catbox_agents.arena.match import Match
from catbox_app.rules import as_player, parse_action, place_in_words
from catbox_app.terminal import CARDS
from catbox_app.web.table import CATS
from catbox_env.core.state import styled_text
from tests.app.table import CATBOX, ENVIRONMENT, TINY, refused, run, whole_game
from tests.cat_in_the_box.positions import play, start

RUBBISH = """help

?
list
hint
table
rules
undo
play
play purple 3
paradox
#99
-1
7e5
☃
[bold]
discard
"""


@pytest.mark.parametrize("options", [[], ["--rounds", "2"], ["--seat", "1"], ["--hint"]])
def test_a_person_can_play_to_the_end_whatever_they_type(options: list[str]) -> None:
    typed = RUBBISH + whole_game(2, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(0, 1),
                                 revealed_cards=0, rounds=2)  # fmt: skip
    ran = run("play", "random", *TINY, "--seed", "3", *options, typed=typed)
    assert ran.exit_code == 0
    assert "Traceback" not in ran.output
    assert re.search(r" wins? with | share the win with ", ran.stdout)
    assert "left the game" not in ran.stdout
    assert "Type what you want to do" in ran.stdout


def test_the_seed_is_shown_with_the_command_that_plays_the_same_deal_again() -> None:
    ran = run("play", "random", *TINY, "--rounds", "2", "--seat", "1", typed=whole_game(2) + "quit\n")
    lines = [line for line in ran.stdout.splitlines() if line.startswith("Seed ")]
    assert len(lines) == 2
    assert lines[0] == lines[1]
    again = shlex.split(lines[0].partition("again: ")[2])
    assert again[:2] == ["catbox", "play"]
    two, three = (run(*again[1:], typed=whole_game(2)) for _ in range(2))
    assert two.stdout == three.stdout == ran.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--game", "cat_te_v0", "--region", "khmer", "--side-pot", "2", "--instant-wins", "no"],
        ["--game", "petrify_v0", "--size", "5", "--move-rule", "up_to"],
        ["-p", "2", "--rounds", "match", "--rule", "reward=score", "--bids", "1,3"],
        ["-p", "5", "--bids", ""],
    ],
)
def test_the_command_that_is_shown_has_the_rules(options: list[str]) -> None:
    ran = run("play", "random", *options, "--seed", "9", typed="quit\n")
    again = shlex.split(ran.stdout.splitlines()[1].partition("again: ")[2])
    assert run(*again[1:], typed="quit\n").stdout == ran.stdout


def played(game_id: str, opponent: str) -> tuple[Match, str]:
    """A game of two in which a person takes the first legal action each time, and what the command says of it."""
    match = Match(catbox_env.make_game(game_id, num_players=2, reward="margin"), [None, opponent], 4)
    typed = ""
    while not match.is_over:
        if match.waits_for_person:
            typed += f"#{match.state.legal_actions()[0]}\n"
            match.play(0, match.state.legal_actions()[0])
        else:
            match.play_agent()
    options = ["--game", game_id, "--players", "2", "--seed", "4"]
    return match, run("play", opponent, *options, typed=typed).stdout


def test_every_action_is_told() -> None:
    match, said = played("cat_in_the_box_v0", "heuristic")
    assert "Luna puts a card aside" in said
    assert "player_" not in said
    for events in match.events(0):
        for event in events:
            assert as_player(event.text, 0, CATS).partition(" ")[2] in said


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0", "petrify_v0"])
def test_the_last_position_stands_above_the_result(game_id: str) -> None:
    match, text = played(game_id, "random")
    said = text.splitlines()
    events = [event for told in match.events(0, len(match.actions) - 1) for event in told]
    kinds = [event.kind for event in events]
    ends = min(kinds.index(kind) for kind in ("round_end", "game_end") if kind in kinds)
    first_of_board = as_player(match.game.render_text(match.state).splitlines()[0], 0, CATS)
    told = [as_player(event.text, 0, CATS).partition(" ")[2] for event in events]
    at = [max(k for k, line in enumerate(said) if line.endswith(words)) for words in told]
    assert max([0, *at[:ends]]) < said.index(first_of_board) < at[ends]


def test_a_paradox_is_told_before_it_is_typed_and_enter_is_enough() -> None:
    """Found by playing the lowest legal card again and again."""
    ran = run("play", "random", "--players", "3", "--seed", "3", typed=whole_game(3).replace("#34\n", "\n"))
    assert ran.exit_code == 0
    before, _, after = ran.stdout.partition("Your only legal action: paradox (press Enter)")
    assert "You have no legal declaration left and must declare a paradox" in before
    assert "You cause a paradox, and the round ends" in after


def test_an_illegal_move_is_answered_with_the_rule() -> None:
    ran = run("play", "random", *TINY, "--seed", "3", typed="play red 1\nr1\n1 2 3\nquit\n")
    refused = "not legal now: play red 1: this is the time to discard, not to play"
    assert ran.stdout.count(refused) == 2
    assert "'1 2 3' is not understood: type an action, such as discard" in ran.stdout
    assert ran.stdout.count("your move>") == 4


def test_bytes_that_are_no_text_are_asked_again() -> None:
    program = [sys.executable, *CATBOX, "play", "random", *TINY, "--seed", "3"]
    env = {**ENVIRONMENT, "PYTHONIOENCODING": "utf-8:strict"}
    ran = subprocess.run(program, input=b"\xff\xfe\nquit\n", capture_output=True, env=env, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count(b"your move>") == 2


@pytest.mark.parametrize("typed", ["", "quit\n", "discard", "hint\n", "undo\nq\n"])
def test_leaving_is_polite(typed: str) -> None:
    ran = run("play", "random", *TINY, "--seed", "3", typed=typed)
    assert ran.exit_code == 0
    assert "Bye!" in ran.stdout


def test_a_person_sees_no_hidden_cards() -> None:
    ran = run("play", "heuristic", "--players", "3", "--seat", "2", "--seed", "1", typed="quit\n")
    assert len(re.findall(r"(Mochi|Luna) puts a card aside", ran.stdout)) == 2
    assert ran.stdout.count("your hand:") == 1
    assert "hand of" not in ran.stdout


def test_the_opponents_are_named_and_the_strongest_where_none_are() -> None:
    for options, opponents in (
        (
            ["random", "heuristic", "--players", "4", "--seat", "1"],
            "Mochi (random), Tom and Nala (heuristic)",
        ),
        (["--players", "3"], "Luna and Tom (zoo:cat_in_the_box-3p)"),
        (["--players", "3", "--rounds", "match"], "Luna and Tom (zoo:cat_in_the_box-3p)"),
        (["--players", "3", "--rule", "num_ranks=7"], "Luna and Tom (zoo:cat_in_the_box-3p-7ranks)"),
        (["--players", "3", "--rule", "num_ranks=5"], "Luna and Tom (heuristic)"),
    ):
        assert f", against {opponents}. Type help" in run("play", *options, typed="quit\n").stdout


def test_an_action_is_taken_back() -> None:
    ran = run("play", "random", "--players", "3", "--seed", "2", typed="undo\n#1\nundo\n#2\nquit\n")
    assert "there is nothing to take back: you have not acted yet" in ran.stdout
    assert "Taken back: 3 actions." in ran.stdout
    first, _, second = ran.stdout.partition("Taken back")
    assert "You put a 2 aside" in first
    assert "You put a 3 aside" in second


def test_a_hint_speaks_of_points_and_of_the_risk_of_a_paradox() -> None:
    ran = run("play", "random", "--players", "3", "--seed", "2", typed="hint\nquit\n")
    assert "means over 400 worlds consistent with what you see" in ran.stdout
    header = next(line for line in ran.stdout.splitlines() if line.startswith("┃"))
    for word in ("points", "lead", "paradox", "bid hit"):
        assert word in header
    assert ran.stdout.count("%") >= 4


def test_the_hint_before_each_action_is_short_and_has_the_best_of_the_table() -> None:
    ran = run("play", "random", "--players", "3", "--seed", "2", "--hint", typed="hint\nquit\n")
    before, _, after = ran.stdout.partition("your move>")
    assert "┃" not in before, "no table"
    best = re.findall(r"^  (\S.*?) +([+-]\S+ ± \S+)$", before, re.MULTILINE)
    table = [line.split("│") for line in after.splitlines() if line.startswith("│")]
    assert best == [(row[1].strip(), row[3].strip()) for row in table[:3]]


def test_the_game_is_saved_also_when_the_person_leaves(tmp_path: Path) -> None:
    for typed, over in (("#1\nquit\n", False), (whole_game(2), True), ("#1\n", False)):
        path = tmp_path / f"{len(typed)}.jsonl"
        ran = run("play", "random", "--players", "2", "--seed", "2", "--save", str(path), typed=typed)
        assert f"Saved to {path}; catbox replay shows it." in ran.stdout
        record = read_record(path)
        assert record.agents == ["you", "random"]
        assert (record.returns is not None) == over
        assert record.actions[0] == (1 if not over else record.actions[0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("> player_1  RBYG", "> 1 you     RBYG"),
        ("  player_2  on c1 (3)", "  2 Tom     on c1 (3)"),
        ("trick 1 of 8, player_1 leads, player_1 to move", "trick 1 of 8, you lead, you to move"),
        ("player_1's paradox ends the round", "your paradox ends the round"),
        ("player_1 does not follow red, and loses it", "you do not follow red, and lose it"),
        ("player_0 does not follow red, and loses it", "Mochi does not follow red, and loses it"),
        ("player_1 is on a teleport and stays there", "you are on a teleport and stay there"),
        ("red 2 is taken by a token of seat 1", "red 2 is taken by your token"),
        ("[0]: the pawn of player_0", "[0]: the pawn of Mochi"),
        ("hand of player_1: ", "your hand: "),
        ("the last cards are shown: player_1 JS, player_3 QS", "the last cards are shown: you JS, Nala QS"),
    ],
)
def test_a_player_reads_you_and_the_names_of_cats(text: str, told: str) -> None:
    assert as_player(text, 1, CATS) == told


def test_own_cells_and_those_that_are_legal_stand_out() -> None:
    state = play(position(), "blue 1, blue 2, blue 3, blue 6")
    for viewer, colors in ((3, ["blue", "yellow", "green"]), (1, [])):  # seat 3 leads, not red, with 3 and 7
        drawn = styled_text(state, viewer)
        assert [text for text, style in drawn if style == "bold blue reverse"] == [str(viewer)]
        free = [style for text, style in drawn if text == "." and style != "dim"]
        assert free == [f"bold {color}" for color in colors for _ in range(1 if color == "blue" else 2)]


def test_colours_and_suits_stand_out() -> None:
    found = [match.lastgroup for match in re.finditer(CARDS, "play red 1, blue 2, AS 10H 4C, not 11S or JSX")]
    assert found == ["red", "blue", "magenta", "red", "green"]


def test_a_file_that_is_there_or_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text("kept")
    for command in ("play", "watch"):
        assert "already exists" in refused(command, "random", "--save", str(tmp_path / "games.jsonl"))
        assert "cannot write" in refused(command, "random", "--save", str(tmp_path / "missing" / "x"))
    assert (tmp_path / "games.jsonl").read_text() == "kept"


# What is typed -----------------------------------------------------------------------------------------------------


def position() -> catbox_env.GameState:
    """Four players; seat 0 leads, with 1, 5 and 7 in hand, and red may not be led."""
    hands = [[1, 5, 7, 8], [2, 3, 4, 5], [1, 2, 3, 4], [3, 6, 7, 8]]
    return play(start(hands), "discard 8, discard 5, discard 4, discard 8, bid 1, bid 1, bid 1, bid 1")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("play yellow 5", "play yellow 5"),
        ("  PLAY  Yellow 5 ", "play yellow 5"),
        ("y5", "play yellow 5"),
        ("pl y 5", "play yellow 5"),
        ("yel 5", "play yellow 5"),
        ("id 30", "play yellow 5"),
        ("#30", "play yellow 5"),
    ],
)
def test_actions_may_be_shortened(typed: str, meant: str) -> None:
    state = position()
    assert state.game.action_to_string(parse_action(state, typed)) == meant


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("y", "'y' could be: play yellow 1, play yellow 5, play yellow 7; say more"),
        ("play", "'play' could be: play blue 1, play blue 5, .*, ...; say more"),
        ("x9", "'x9' is not understood: type an action, such as play blue 1 or"),
        ("", "'' is not understood"),
        ("32", "32 alone is unclear: type #32 for play yellow 7, its id"),
        ("99", "'99' is not understood"),
        ("bid 2", "not legal now: bid 2: this is the time to play, not to bid"),
        ("r5", "not legal now: play red 5: red cannot be led before trump is broken"),
        (
            "2",
            "not legal now:\n  play red 2: player_0 has no 2\n  play blue 2: .*\n  play green 2: .*$",
        ),
        ("discard", "not legal now:\n  discard 1: this is the time to play.*\n  discard 8: .*$"),
        ("#70", "0 to 42"),
    ],
)
def test_what_cannot_be_done_is_answered(typed: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){said}"):
        parse_action(position(), typed)


def test_a_number_is_not_the_beginning_of_another() -> None:
    game = catbox_env.make_game("cat_te_v0")
    states = (game.new_initial_state(seed=seed) for seed in range(99))
    state, ten = next(
        (state, name)
        for state in states
        for name in map(game.action_to_string, state.legal_actions())
        if re.fullmatch(r"play 10.", name)
    )
    assert game.action_to_string(parse_action(state, ten.removeprefix("play "))) == ten
    with pytest.raises(ValueError, match="not understood"):
        parse_action(state, ten.removeprefix("play ").replace("0", ""))


def test_what_one_may_do_stands_in_a_line_and_the_end_says_ones_place() -> None:
    ran = run("play", "random", "--players", "3", "--seed", "3", typed=whole_game(3))
    assert ran.exit_code == 0
    assert re.search(r"^You may: discard \d( \d)+$", ran.stdout, re.MULTILINE)
    assert re.search(r"^You may: play [a-z]+ \d.*, [a-z]+ \d", ran.stdout, re.MULTILINE)
    assert re.search(r"^You (win|share|finish|lose) ?.*\.\nSeed 3\. ", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([1, 2, 3], "You win"),
        ([1, 1, 3], "You share the win"),
        ([3, 1, 2], "You finish 3rd"),
        ([2, 1], "You lose"),
        ([2, 1, 2], "You share 2nd place"),
        ([3, 1, 2, 3], "You share 3rd place"),
        ([4, 1, 2, 3], "You finish 4th"),
    ],
)
def test_places_in_words(places: list[int], said: str) -> None:
    assert place_in_words(0, places) == said
