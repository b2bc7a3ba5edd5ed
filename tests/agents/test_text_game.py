"""A game in words: whole games, answers that are none, and that nothing hidden is told."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent
from catbox_agents.arena.match import Match
from catbox_agents.text import TextGame, text_game, text_observation
from catbox_env import Game, GameState
from tests.agents.hidden_pairs import hidden_pairs

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 2}),
    ("cat_in_the_box_v0", {"num_players": 5, "reward": "margin"}),
    ("cat_te_v0", {"num_players": 3, "side_pot": 1, "rounds": 2}),
    ("petrify_v0", {"num_players": 3, "size": 5, "teleports": 3, "zeros": 1}),
]
FORMS = ("delta", "state", "full")


def legal_in(text: str) -> list[str]:
    """The legal actions that a prompt lists."""
    return re.findall(r"^Legal actions: (.*)\.$", text, re.MULTILINE)[-1].split(", ")


def play(
    table: TextGame, seed: int, choose: Callable[[list[str]], str], **where: int
) -> tuple[list[str], float]:
    """All texts of a game whose prompts list the legal actions, and the last reward."""
    texts = [table.reset(seed, **where)]
    reward, done = 0.0, False
    while not done:
        assert reward == 0.0
        text, reward, done = table.step(f'{{"action": "{choose(legal_in(texts[-1]))}"}}')
        texts.append(text)
    return texts, reward


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_a_whole_game_pays_what_the_game_pays(game_id: str, options: dict[str, Any], form: str) -> None:
    game = catbox_env.make_game(game_id, **options)
    table = TextGame(game, "random", form=form, list_actions=True)
    rng = np.random.default_rng(0)
    for seed in range(4):
        texts, reward = play(table, seed, lambda names: str(rng.choice(names)))
        record = table.record()
        state = game.new_initial_state(seed=np.random.SeedSequence(seed).spawn(1)[0])
        decisions = 0
        for action in record["actions"]:
            decisions += state.current_player == table.seat
            state.apply_action(action)
        assert state.is_terminal()
        assert table.points == state.returns()[table.seat] == record["returns"][table.seat]
        low, high = game.min_utility, game.max_utility
        assert reward == (table.points - low) / (high - low)
        assert 0 <= reward <= 1
        assert table.done
        assert texts[-1].endswith(f"The game is over. Your result: {table.points:g}.")
        assert len(texts) == decisions + 1
        assert {kind: number for kind, number in table.counts.items() if number} == {"first_try": decisions}
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            table.step("")


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("petrify_v0", {"num_players": 4}),
        ("cat_te_v0", {"num_players": 4, "rounds": 7}),
        ("cat_te_v0", {"num_players": 6}),
    ],
)
def test_the_best_and_the_worst_result_pay_exactly_one_and_zero(
    game_id: str, options: dict[str, Any]
) -> None:
    """Also where they are thirds or fifths, which rewards round to float32, and so past the bounds of the game."""
    game = catbox_env.make_game(game_id, reward="margin", **options)
    for bound, reward in ((game.min_utility, 0.0), (game.max_utility, 1.0)):
        assert bound == float(Fraction(bound).limit_denominator(60))
        beyond = float(np.nextafter(np.float32(bound), np.float32(2 * bound)))
        assert text_game.reward_of(game, bound) == text_game.reward_of(game, beyond) == reward


def test_the_forms_of_later_prompts() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2)
    told = {}
    for form in FORMS:
        told[form], _ = play(TextGame(game, form=form, seat=1, list_actions=True), 7, min)
    rules = game.describe_rules()[0]
    assert told["delta"][0] == told["full"][0]
    assert [rules in text for text in told["full"]] == [True] * (len(told["full"]) - 1) + [False]
    for form in ("delta", "state"):
        assert [rules in text for text in told[form]] == [True] + [False] * (len(told[form]) - 1)
    assert all("hand of player_1" in text for text in told["state"][:-1])
    # What has happened is told in full; the position only when a hand is new.
    (again,) = [k for k, text in enumerate(told["delta"]) if k and "hand of player_1:" in text]
    assert "round 2 of 2 begins" in told["delta"][again]
    assert re.fullmatch(
        r"player_1 puts a \d aside\.\nplayer_2 puts a card aside\.\nplayer_0 bids \d\.\nIt is your turn\. End your "
        r"answer with .*\nLegal actions: bid 1, bid 2, bid 3, bid 4\.",
        told["delta"][1],
    ), told["delta"][1]
    lengths = {form: sum(map(len, texts)) for form, texts in told.items()}
    assert lengths["delta"] < lengths["full"] / 3


def test_the_same_seed_and_answers_give_the_same_texts_and_every_seat_the_same_deal() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    tables = [TextGame(game, ["random", "heuristic", "random"], list_actions=True) for _ in range(2)]
    for seed in range(3):
        assert play(tables[0], seed, max) == play(tables[1], seed, max)
        deals = []
        for seat in range(4):
            play(tables[0], seed, max, seat=seat)
            assert tables[0].seat == seat
            deals.append(tables[0].record()["deals"])
        assert deals == deals[:1] * 4
    assert tables[0].reset(1) != tables[0].reset(2)
    assert len({(tables[0].reset(), tables[0].seed)[1] for _ in range(5)}) == 5
    assert len({(tables[0].reset(seed), tables[0].seat)[1] for seed in range(30)}) == 4


def test_opponents_sit_clockwise_from_the_model() -> None:
    game = catbox_env.make_game("cat_te_v0", num_players=4)
    table = TextGame(game, ["random", "heuristic", "easy"], seat=2)
    table.reset(1)
    assert table.record()["agents"] == ["heuristic", "easy", "you", "random"]


# Answers that are none ------------------------------------------------------------------------------------------


def test_a_bad_answer_is_told_what_is_wrong_and_asked_again() -> None:
    table = TextGame(catbox_env.make_game("cat_in_the_box_v0", num_players=3), seat=0, retries=3)
    table.reset(1)
    text, reward, done = table.step("Well, let me see")
    assert text.startswith("Unparsable: ")
    assert text.endswith("\nAnswer again; tries left: 3.")
    assert (reward, done) == (0.0, False)
    assert table.step('{"action": "discard 77"}')[0].startswith("Unknown: unknown action 'discard 77'")
    text, reward, done = table.step('{"action": "bid 1"}')
    assert text == "Illegal: bid 1: this is the time to discard, not to bid.\nAnswer again; tries left: 1."
    assert not done
    assert table.record()["actions"] == []
    hand = re.findall(r"hand of player_0: (\d)", table.reset(1))[0]
    assert sum(table.counts.values()) == 0
    table.step("?")
    text, _, _ = table.step(f"discard {hand}")
    assert text.startswith(f"player_0 puts a {hand} aside.")
    table.step("bid 1")
    counted = {"first_try": 1, "repaired": 1, "fallen_back": 0, "unparsable": 1, "unknown": 0, "illegal": 0}
    assert table.counts == counted


@pytest.mark.parametrize("retries", [0, 2])
def test_when_no_tries_are_left_the_game_is_lost(retries: int) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    table = TextGame(game, seat=0, retries=retries)
    table.reset(1)
    for _ in range(retries):
        assert table.step("no")[1:] == (0.0, False)
    text, reward, done = table.step("no")
    assert (reward, done, table.points) == (0.0, True, game.min_utility)
    assert "No tries are left.\nThe game is over." in text
    assert (table.counts["fallen_back"], table.counts["unparsable"]) == (1, retries + 1)


def test_or_a_random_legal_action_is_played() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    games = []
    for _ in range(2):
        table = TextGame(game, seat=0, retries=1, fallback="random_legal")
        table.reset(3)
        done, texts = False, []
        while not done:
            text, _, done = table.step("{}")
            texts.append(text)
        decisions = table.counts["fallen_back"]
        assert table.counts["unparsable"] == 2 * decisions == len(texts)
        assert all("random legal action was played: " in text for text in texts[1::2])
        games.append(table.record())
    assert games[0] == games[1]
    kinds = {tuple(table.record()["actions"]) for seed in range(5) if play_badly(table, seed)}
    assert len(kinds) == 5


def play_badly(table: TextGame, seed: int) -> bool:
    """A game without a legal answer."""
    table.reset(seed)
    while not table.step(None)[2]:
        pass
    return table.done


def test_a_deal_that_is_over_before_the_first_decision_is_replaced() -> None:
    """Player 0 shows an instant win at once."""
    game = catbox_env.make_game("cat_te_v0", num_players=2, dealer=1, instant_wins=True)
    show = game.string_to_action("show")
    seeds = range(20_000)
    starts = ((seed, game.new_initial_state(seed=np.random.SeedSequence(seed).spawn(1)[0])) for seed in seeds)
    seed = next(seed for seed, state in starts if show in state.legal_actions())
    table = TextGame(game, "heuristic", seat=1)
    assert "It is your turn" in table.reset(seed)
    assert table.skipped == 1
    table.reset(seed + 1)
    assert table.skipped == 0


def test_arguments_that_fit_no_game_are_refused() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    for arguments, message in (
        ({"opponents": ["random"]}, "1 agents for 2 other seats"),
        ({"seat": 3}, "seat=3: expected a seat"),
        ({"form": "long"}, "form='long': expected"),
        ({"retries": -1}, "retries=-1: expected an integer of 0 or more"),
        ({"fallback": "raise"}, "fallback='raise': expected"),
    ):
        with pytest.raises(ValueError, match=message):
            TextGame(game, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        TextGame(game).step("discard 1")
    with pytest.raises(ValueError, match="seed=-1: expected"):
        TextGame(game).reset(-1)


# Secrecy --------------------------------------------------------------------------------------------------------


class Scripted(Agent):
    """Plays these actions, one after the other."""

    def __init__(self, game: Game, actions: list[int]) -> None:
        super().__init__(game)
        self.left = list(actions)

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return self.left.pop(0) if self.left else int(np.flatnonzero(action_mask)[0])


def texts_of(state: GameState, deal: Any, seat: int, form: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that ``seat`` is told in the game that led to ``state`` from ``deal``, in which it is to move."""
    game, movers = state.game, state._log[: int(state.record.num_moves), 0].tolist()
    own = {
        other: [action for mover, action in zip(movers, state.history(), strict=True) if mover == other]
        for other in range(game.num_players)
    }
    others = [(seat + turn) % game.num_players for turn in range(1, game.num_players)]
    monkeypatch.setattr(text_game, "Match", functools.partial(Match, deal=deal))
    table = TextGame(game, [Scripted(game, own[other]) for other in others], form=form, list_actions=True)
    texts = [table.reset(5, seat=seat)]
    for action in own[seat]:
        text, _, done = table.step(game.action_to_string(action))
        assert not done
        texts.append(text)
    texts.append(table.step("play nothing")[0])
    assert table.record()["actions"] == state.history()
    return texts


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0"])
def test_games_that_differ_only_in_what_is_hidden_from_the_seat_are_told_alike(
    game_id: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = catbox_env.make_game(game_id, num_players=3)
    for seat, (state, deal), (world, other) in hidden_pairs(game):
        texts = texts_of(state, deal, seat, form, monkeypatch)
        assert texts == texts_of(world, other, seat, form, monkeypatch)
        if form != "delta":
            assert text_observation(state, form="short", list_actions=True).split("\n", 1)[1] in texts[-2]
