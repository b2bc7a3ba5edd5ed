"""`catbox advise`: a game that is played elsewhere, typed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catbox_env import make_game
from tests.app.real_game import told
from tests.app.table import refused, run

HAND = ["--players", "3", "--hand", "1,1,2,2,3,3,4,5,6,6"]
#: What happens up to the second trick, as it may be typed.
BEGINNING = ["discard 1", "bid 2", "2", "3", "blue 4", "red 5", "blue 5"]


def test_the_own_actions_come_with_estimates_and_those_of_others_do_not() -> None:
    ran = run("advise", *HAND, typed="\n".join([*BEGINNING, "quit"]) + "\n")
    assert ran.exit_code == 0
    assert ran.stdout.count("± ") == 9, "the best three, before three actions"
    assert ran.stdout.count("Hint: ") == 3  # before own decisions: discard, bid, lead
    assert "player_1 wins trick 1: red 5 is the only red card" in ran.stdout
    assert "hand of player_0: 1 2 2 3 3 5 6 6   discarded 1" in ran.stdout
    assert "player_1 may: " in ran.stdout
    assert ran.stdout.endswith("Bye!\n")


def test_a_file_holds_what_happened_so_far(tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_text("\n".join(BEGINNING))
    ran = run("advise", str(tmp_path / "game.txt"), *HAND, typed="undo\n")
    assert ran.exit_code == 0
    assert ran.stdout.count("Cat in the Box: trick 2 of 8") == 1
    assert ran.stdout.count("Cat in the Box: trick 1 of 8") == 1  # after undo
    assert "± " not in ran.stdout


def test_a_line_that_the_rules_forbid_is_named(tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_text("\n".join([*BEGINNING, "blue 5"]))
    ran = run("advise", str(tmp_path / "game.txt"), *HAND)
    assert ran.exit_code == 2
    assert "game.txt: line 8, 'blue 5': player_1 cannot do this: play blue 5: blue 5 is taken" in ran.output


def test_what_can_only_be_face_down_is_not_asked_for() -> None:
    ran = run("advise", *HAND, typed="discard 1\nundo\nundo\nquit\n")
    assert "player_2 puts a card aside" in ran.stdout
    assert ran.stdout.count("your move>") == 4  # the discard, the bid, the discard again, and again
    assert "nothing has happened yet" in ran.stdout


@pytest.mark.parametrize("typed", ["purple", "blue 4", "#99", "hint", "-1", "[bold]", "undo"])
def test_no_typing_breaks_it(typed: str) -> None:
    ran = run(
        "advise", *HAND, typed="\n".join([*BEGINNING[:5], typed, typed, "help", "rules", "table"]) + "\n"
    )
    assert ran.exit_code == 0
    assert "Traceback" not in ran.output


def test_a_match_asks_for_the_cards_of_each_round() -> None:
    first, lines, _ = told(make_game("cat_te_v0", num_players=2, rounds=2), 0, 4, min)
    ran = run("advise", "--game", "cat_te_v0", "--players", "2", "--rounds", "2", "--hand", first.strip("/"),
              typed="\n".join(lines) + "\n")  # fmt: skip
    assert ran.exit_code == 0
    assert ran.stdout.count("The round is over.") == 1
    assert ran.stdout.endswith("The game is over.\n")
    assert ran.stdout.count("  player_1 chooses a card, face down") == 2, "the last of each round"


def test_cards_that_make_no_deal_are_asked_for_again_and_the_end_of_a_round_can_be_taken_back() -> None:
    game = make_game("cat_te_v0", num_players=2, rounds=2)
    deal, lines, _ = told(game, 0, 4, min)
    end = next(k for k, line in enumerate(lines) if line and not line.startswith("#"))
    typed = [*lines[: end + 1], "2C,3C", "undo", *lines[end - 1 :]]
    ran = run("advise", "--game", "cat_te_v0", "--players", "2", "--rounds", "2", "--hand", deal.strip("/"),
              typed="\n".join(typed) + "\n")  # fmt: skip
    assert "enter your 6 cards: these are 2" in ran.stdout
    assert ran.stdout.count("The round is over.") == 1
    assert ran.stdout.endswith("The game is over.\n")


def test_a_paradox_of_another_is_taken_as_typed_however_rare_it_is() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    found = 0
    for seed in range(30):
        true, lines = game.new_initial_state(seed=seed), []
        hand = ",".join(map(str, game.deal_of(true)["hands"][0]))
        while not true.is_terminal():
            mover, action = true.current_player, true.legal_actions()[-1]
            true.apply_action(action)
            public = true._log[int(true.record.num_moves) - 1][2]
            if mover == 0 or public >= 0:
                lines.append(game.action_to_string(action))
        if action != game.rules.paradox or mover == 0:
            continue
        found += 1
        ran = run("advise", "--players", "3", "--hand", hand, typed="\n".join(lines) + "\n")
        assert ran.exit_code == 0
        assert ran.stdout.endswith("The game is over.\n"), seed
        if found == 3:
            return
    pytest.fail("no paradox of another seat")


def test_nothing_typed_for_the_own_move_is_asked_again() -> None:
    ran = run("advise", *HAND, typed="\n\ndiscard 1\nquit\n")
    assert "player_0 puts a 1 aside" in ran.stdout
    assert "expected 0 to" not in ran.stdout


def test_petrify_takes_its_board_from_a_file(tmp_path: Path) -> None:
    game = make_game("petrify_v0")
    state = game.new_initial_state(seed=2)
    (tmp_path / "board.json").write_text(json.dumps(game.deal_of(state)))
    first = game.action_to_string(state.legal_actions()[0])
    ran = run("advise", "--game", "petrify_v0", "--seat", "1", "--deal", str(tmp_path / "board.json"),
              typed=first + "\n")  # fmt: skip
    assert ran.exit_code == 0
    assert "± " in ran.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--players", "3"], "give your cards: --hand"),
        ([*HAND[:3], "1,1,1,1,1,1,2,2,2,2"], "rank 1 occurs 6 times"),
        ([*HAND[:3], "1,2"], "enter your 10 cards: these are 2"),
        ([*HAND, "--seat", "3"], "--seat"),
        ([*HAND, "--start-player", "random"], "say who starts"),
        (["--game", "petrify_v0"], "--deal FILE"),
        (["--game", "cat_te_v0", "--players", "2", "--hand", "1,2,3,4,5,banana"], "banana"),
    ],
)
def test_what_is_missing_or_wrong_is_said(options: list[str], words: str) -> None:
    assert words in refused("advise", *options)
