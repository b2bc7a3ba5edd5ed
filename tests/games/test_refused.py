"""What the games refuse, and that it is said by name, value and bound; and what lies on the bound."""

import dataclasses
import json
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import GameState, make_game
from catbox_env.games.cat_te.rules import Rules as CatTeRules
from catbox_env.games.petrify.rules import Deal as Board
from catbox_env.games.petrify.rules import Rules as PetrifyRules
from tests.cat_in_the_box import positions as citb
from tests.cat_te import positions as cat_te
from tests.core.fuzz import check_vector, random_game
from tests.games.rule_sets import RULES
from tests.petrify import positions as petrify

CAT_IN_THE_BOX, CAT_TE, PETRIFY = "cat_in_the_box_v0", "cat_te_v0", "petrify_v0"

#: Options with the lowest and the highest number that the default rules take.
BOUNDS = [
    (CAT_IN_THE_BOX, "num_players", 2, 5),
    (CAT_IN_THE_BOX, "num_ranks", 1, 9),
    (CAT_IN_THE_BOX, "num_colors", 2, 4),
    (CAT_IN_THE_BOX, "copies", 1, 5),
    (CAT_IN_THE_BOX, "rounds", 1, 127),
    (CAT_IN_THE_BOX, "start_player", 0, 3),
    (CAT_TE, "num_players", 2, 6),
    (CAT_TE, "side_pot", 0, 100),
    (CAT_TE, "rounds", 1, 127),
    (CAT_TE, "dealer", -1, 3),
    (PETRIFY, "num_players", 2, 4),
    (PETRIFY, "size", 3, 8),
    (PETRIFY, "walls", 0, 4),
]


@pytest.mark.parametrize(("game_id", "option", "low", "high"), BOUNDS)
def test_an_option_out_of_its_bounds_is_refused(game_id: str, option: str, low: int, high: int) -> None:
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"{option}={value}: expected an integer from {low} to {high}"):
            make_game(game_id, **{option: value})
    assert getattr(make_game(game_id, **{option: high}).rules, option) in (
        high,
        -1,
    )  # -1: the last seat deals


REFUSED_RULES: list[tuple[str, dict[str, Any], str]] = [
    (CAT_IN_THE_BOX, {"hand_size": 2}, "hand_size=2: .* from 3"),
    (CAT_IN_THE_BOX, {"num_players": 4, "hand_size": 11}, "hand_size=11: .* 40"),
    (CAT_IN_THE_BOX, {"num_players": 2, "hand_size": 13, "revealed_cards": 0}, "hand_size=13: .* 25"),
    (CAT_IN_THE_BOX, {"num_players": 5, "num_ranks": 2}, "hand_size=2"),
    (CAT_IN_THE_BOX, {"num_players": 2, "num_ranks": 2}, "hand_size=2"),  # ten cards, of which five are kept back
    (CAT_IN_THE_BOX, {"num_players": 2, "hand_size": 12}, "revealed_cards=3: only 1 of 25"),
    (CAT_IN_THE_BOX, {"revealed_cards": -1}, "revealed_cards=-1: .* 0 or more"),
    (CAT_IN_THE_BOX, {"num_players": 2, "revealed_cards": 6}, "revealed_cards=6: only 5 of 25"),
    (CAT_IN_THE_BOX, {"bids": (2, 1)}, r"bids=\(2, 1\): expected an ascending"),
    (CAT_IN_THE_BOX, {"bids": (1, 1)}, r"bids=\(1, 1\): expected an ascending"),
    (CAT_IN_THE_BOX, {"bids": (-1, 1)}, "bids=.*-1.* from 0 to 8"),
    (CAT_IN_THE_BOX, {"num_players": 3, "bids": (1, 9)}, "bids=.*9.* from 0 to 8"),
    (CAT_IN_THE_BOX, {"num_players": 2, "hand_size": 11, "num_ranks": 9, "bids": tuple(range(10))}, "at most 9"),
    (CAT_IN_THE_BOX, {"bids": (1.5,)}, "bids=.*1.5"),
    (CAT_IN_THE_BOX, {"bids": "12"}, "bids='12'"),
    (CAT_IN_THE_BOX, {"bonus_max_tricks": -1}, "bonus_max_tricks=-1: .* from 0"),
    (CAT_TE, {"region": "thai"}, "region='thai': expected one of 'khmer', 'laos', 'vietnamese'"),
    (PETRIFY, {"move_rule": "at_most"}, "move_rule='at_most': expected one of 'exact', 'up_to'"),
    (PETRIFY, {"wildcards": 17}, "leave 16 of 16 cells for wildcards=17 and number cards.*; give fewer"),
    (PETRIFY, {"wildcards": 10, "zeros": 7}, "zeros=7: they leave 9 of 16 cells for wildcards=10"),
    (PETRIFY, {"teleports": 8, "zeros": 7}, "teleports=8, .* leave 1 of 16 cells .* num_players=2 begin"),
    (PETRIFY, {"num_players": 4, "size": 3, "walls": 3, "teleports": 3}, "leave 3 of 9 cells .* num_players=4 begin"),
    (PETRIFY, {"num_player": 3}, "unknown option 'num_player' of petrify_v0.*did you mean 'num_players'"),
    (PETRIFY, {"reward": "points"}, "reward='points': expected one of 'score', 'margin', 'win'"),
    (PETRIFY, {"rules": CatTeRules()}, "petrify_v0 expected a catbox_env.games.petrify.rules.Rules"),
    (PETRIFY, {"rules": {"sise": 4}}, "unknown option 'sise' of petrify_v0.*did you mean 'size'"),
    (PETRIFY, {"rules": {"size": 9}}, "size=9: expected an integer from 3 to 8"),
    (PETRIFY, {"rules": PetrifyRules.full(), "size": 4}, "rules and size were both given"),
]  # fmt: skip


@pytest.mark.parametrize(("game_id", "options", "said"), REFUSED_RULES, ids=str)
def test_rules_that_cannot_be_played_are_refused(game_id: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_game(game_id, **options)


@pytest.mark.parametrize("game_id", RULES)
@settings(max_examples=20)
@given(data=st.data())
def test_rules_as_a_mapping_make_the_same_game(game_id: str, data: st.DataObject) -> None:
    """What the specification of a Gymnasium environment makes of them, by way of JSON too."""
    rules = data.draw(RULES[game_id])
    for fields in (dataclasses.asdict(rules), json.loads(json.dumps(dataclasses.asdict(rules)))):
        game = make_game(game_id, rules=fields, reward="win")
        assert game == make_game(game_id, rules=rules, reward="win") == make_game(game_id, **game.options)


def test_rules_are_frozen_and_replaced_ones_are_checked_again() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PetrifyRules().size = 5  # type: ignore[misc]  # on purpose
    with pytest.raises(ValueError, match="walls=5"):
        dataclasses.replace(PetrifyRules.full(), size=4, walls=5)


def ranks(*hands: list[Any], revealed: Any = (3, 3, 4), **more: Any) -> dict[str, Any]:
    return {"hands": list(hands), "revealed": list(revealed), **more}


def cards(*hands: str, **more: Any) -> dict[str, Any]:
    return {"hands": [hand.split() for hand in hands], **more}


def board(cell: int = -1, name: Any = None, places: Any = (0, 8)) -> Board:
    """Nine number cards, of which ``cell`` has another name."""
    tiles: list[Any] = ["1.1", "2.2", "3.3", "1.4", "2.3", "3.2", "1.3", "2.4", "1.2"]
    if cell >= 0:
        tiles[cell] = name
    return Board([tiles[:3], tiles[3:6], tiles[6:]], places)


SPADES, HEARTS = "AS KS QS JS 10S 8S", "AH KH QH JH 10H 8H"
TILES = board().tiles
REFUSED_DEALS: list[tuple[str, Any, str]] = [
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3]), r"hands of \[4\] cards; expected 2 hands of 4"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3], [5, 5, 5]), r"hands of \[4, 3\] cards"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3], [5, 5, 5, 6]), "6 is not a card; expected integers from 1 to 5"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 0], [5, 5, 5, 4]), "0 is not a card; expected"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, [2]], [5, 5, 5, 4]), r"\[2\] is not a card; expected"),
    (CAT_IN_THE_BOX, ranks([1.0, 1, 2, 3], [5, 5, 5, 4]), "1.0 is not a card; expected"),
    (CAT_IN_THE_BOX, ranks([True, 1, 2, 3], [5, 5, 5, 4]), "True is not a card; expected"),
    (CAT_IN_THE_BOX, ranks([1, 1, 1, 1], [1, 1, 5, 4]), "rank 1 occurs 6 times; there are 5 copies"),
    (CAT_IN_THE_BOX, ranks([3, 3, 3, 1], [1, 1, 5, 4], revealed=[3, 3, 3]), "rank 3 occurs 6 times"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3], [5, 5, 5, 4], revealed=[3, 3]), "2 revealed cards; expected 3"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3], [5, 5, 5, 4], start_player=2), "start_player=2"),
    (CAT_IN_THE_BOX, ranks([1, 1, 2, 3], [5, 5, 5, 4], start_player=1), "start_player=1, but the rules say 0"),
    (CAT_IN_THE_BOX, {"hands": "112"}, "deal: '112' in hands; expected a sequence"),
    (CAT_TE, cards(SPADES), r"hands of \[6\] cards; expected 2 hands of 6"),
    (CAT_TE, cards(SPADES, "AH KH QH JH 10H"), r"hands of \[6, 5\] cards"),
    (CAT_TE, cards(SPADES, SPADES), "10S, 8S, AS.* more than once"),
    (CAT_TE, cards(SPADES, "AH KH QH JH 10H 1H"), "card '1H'; expected a rank"),
    (CAT_TE, {"hands": [SPADES.split(), [0, 1, 2, 3, 4, 52]]}, "card 52"),
    (CAT_TE, cards(SPADES, HEARTS, upturned="2C"), "upturned='2C'; expected no upturned card"),
    (CAT_TE, cards(SPADES, HEARTS, leader=1), "dict with these keys"),
    (CAT_TE, {"hands": [SPADES.split(), None]}, "deal: None in hands; expected a sequence of cards"),
    (CAT_TE, "AS", "deal='AS'"),
    (PETRIFY, Board(TILES[:2], [0, 8]), r"rows of \[3, 3\] tiles; expected 3 rows of 3"),
    (PETRIFY, Board([row[:2] for row in TILES], [0, 8]), r"rows of \[2, 2, 2\] tiles"),
    (PETRIFY, board(4, "5.1"), "tile '5.1'; expected a number card such as '2.3'"),
    (PETRIFY, board(4, "2.0"), "tile '2.0'"),
    (PETRIFY, board(4, "T5"), "tile 'T5'.*'T0' .. 'T4'"),
    (PETRIFY, board(4, 0), "tile 0; expected"),
    (PETRIFY, board(4, "W"), r"special tiles \['W'\]; the rules have \[\]: change the tiles, or"),
    (PETRIFY, board(places=[0]), r"positions \[0\]; expected 2 different cells"),
    (PETRIFY, board(places=[0, 1, 2]), r"positions \[0, 1, 2\]; expected 2 different cells"),
    (PETRIFY, board(places=[0, 9]), r"positions \[0, 9\]; expected .* \[0, 1, 2, 3, 4, 5, 6, 7, 8\]"),
    (PETRIFY, board(places=[-1, 8]), r"positions \[-1, 8\]; expected"),
    (PETRIFY, board(places=[4, 4]), r"positions \[4, 4\]; expected 2 different cells"),
    (PETRIFY, board(places=[[4], 4]), r"positions \[\[4\], 4\]; expected"),
    (PETRIFY, {"tiles": TILES}, r"expected Deal\(tiles, positions\) or a dict with these keys"),
    (PETRIFY, {"tiles": TILES, "positions": [0, 8], "seat": 0}, "expected Deal"),
]  # fmt: skip

#: The rules that these deals are for.
OPTIONS: dict[str, dict[str, int]] = {
    CAT_IN_THE_BOX: {"num_players": 2, "num_ranks": 5, "hand_size": 4},
    CAT_TE: {"num_players": 2},
    PETRIFY: {"size": 3},
}


@pytest.mark.parametrize(("game_id", "deal", "said"), REFUSED_DEALS, ids=str)
def test_a_deal_that_cannot_come_up_is_refused(game_id: str, deal: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_game(game_id, **OPTIONS[game_id]).new_initial_state(deal=deal)


@pytest.mark.parametrize(
    ("options", "tiles", "places", "said"),
    [
        ({"teleports": 1, "wildcards": 1}, "T0 2.2 * 1.4 2.3 3.2 1.3 2.4 1.2", [0, 8], r"expected .* \[1, 2, 3,"),
        ({"walls": 2}, "1.1 W 3.3 W 2.3 3.2 1.3 2.4 1.2", [8, 0], "player_1 has no legal end cell"),
    ],
)  # fmt: skip
def test_players_begin_on_numbers_and_wildcards_from_which_they_can_move(
    options: dict[str, int], tiles: str, places: list[int], said: str
) -> None:
    names = tiles.split()
    with pytest.raises(ValueError, match=said):
        make_game(PETRIFY, size=3, **options).new_initial_state(
            deal=Board([names[:3], names[3:6], names[6:]], places)
        )


EVERY_RANK = [[1, 2, 3, 4, 5, 6]] * 3
DISCARDS = ["discard 1"] * 3
NO_BIDS: dict[str, Any] = {"bids": ()}
#: Hands that win at once, hands that follow each other's suits, and hands for the fifth trick.
FLUSHES = [SPADES, HEARTS]
PLAIN = ["AS KS QH JC 10S 8S", "AH KH 2S JD 10H 8H"]
LATE = ["AS KS QS 2C 3C 4C", "AD 2S 3S 4S AC KC"]
BOARD = ["2.1 W 1.3 1.1", "T1 4.2 2.1 T0", "1.2 1.4 1.3 4.4", "3.1 3.1 3.1 3.1"]
POT = {"side_pot": 1, "upturned": "10C"}
TELEPORT = [(2, 0), (3, 0), (1, 0)]
PAWNS = {"places": [(0, 0), (3, 3)]}

#: What is dealt, options, moves, an action that is illegal then, and what is said.
ILLEGAL: list[tuple[Any, list[Any], dict[str, Any], list[Any], Any, str]] = [
    (citb, EVERY_RANK, {}, [], "blue 2", "this is the time to discard, not to play"),
    (citb, EVERY_RANK, NO_BIDS, DISCARDS, "blue 1", "player_0 has no 1"),
    (citb, EVERY_RANK, NO_BIDS, DISCARDS, "red 6", "red cannot be led before trump is broken"),
    (citb, EVERY_RANK, NO_BIDS, DISCARDS, "paradox", "a paradox is the last resort"),
    (citb, EVERY_RANK, NO_BIDS, [*DISCARDS, "yellow 6"], "yellow 6", "is taken on .* by a token of seat 0"),
    (citb, EVERY_RANK, NO_BIDS, [*DISCARDS, "yellow 6, green 5, yellow 5, yellow 4"], "yellow 3", "given up"),
    (cat_te, FLUSHES, {}, [], "2C", "player_0 has no 2C"),
    (cat_te, FLUSHES, {}, [], "fold AS", "the leader of a trick plays face up"),
    (cat_te, FLUSHES, {}, ["AS"], "AS", "player_1 has no AS"),
    (cat_te, FLUSHES, {"offsuit_faceup": False}, ["AS"], "AH", r"without spades .*\(offsuit_faceup=False"),
    (cat_te, PLAIN, {}, ["AS"], "AH", "has to follow suit: play spades or fold"),
    (cat_te, LATE, {}, ["AS, 2S", "KS, 3S", "QS, 4S", "2C, KC", "AD"], "fold 4C", "so none can be folded"),
    (cat_te, FLUSHES, {}, [], "claim", r"no side pot \(side_pot=0\)"),
    (cat_te, FLUSHES, POT, [], "claim", "takes JC, next above the upturned 10C"),
    (cat_te, FLUSHES, {"side_pot": 1, "upturned": "AC"}, [], "claim", "no card is above an ace"),
    (cat_te, PLAIN, POT, ["claim"], "claim", "seat 0 has claimed"),
    (cat_te, FLUSHES, {"instant_wins": False}, [], "show", "no instant wins"),
    (cat_te, FLUSHES, {}, ["AS, fold AH"], "show", "only be shown on the first turn"),
    (cat_te, PLAIN, {}, [], "show", "the hand is no instant win"),
    (petrify, BOARD, PAWNS, [], (0, 0), "is taken by player_0"),
    (petrify, BOARD, PAWNS, [], (3, 3), "is taken by player_1"),
    (petrify, BOARD, PAWNS, [], (0, 1), "b1 is a wall"),
    (petrify, BOARD, PAWNS, [], (1, 0), "no path of exactly 2 steps over free cells ends on a2"),
    (petrify, BOARD, PAWNS, [], (0, 3), "no path of exactly 2 steps over free cells ends on d1"),
    (petrify, BOARD, PAWNS, [(1, 1), (3, 0)], (0, 0), "a1 is closed"),
    (petrify, BOARD, PAWNS, TELEPORT, (1, 3), "d2 is a teleport, and .* not lead to another"),
    (petrify, BOARD, PAWNS, TELEPORT, (0, 2), "the teleport has colour 1 and c1 has colour 3"),
    (petrify, BOARD, PAWNS, TELEPORT, (2, 0), "a3 is closed"),
]


@pytest.mark.nojit
@pytest.mark.parametrize(("positions", "dealt", "options", "before", "action", "said"), ILLEGAL)
def test_an_illegal_action_is_refused_with_the_rule_that_forbids_it(
    positions: Any, dealt: list[Any], options: dict[str, Any], before: list[Any], action: Any, said: str
) -> None:
    state = positions.play(positions.start(dealt, **options), *before)
    saved = state.serialize()
    with pytest.raises(ValueError, match=f"illegal action .*{said}"):
        positions.play(state, action)
    assert state.serialize() == saved


@pytest.mark.parametrize("game_id", OPTIONS)
def test_what_is_seen_after_the_end_gives_no_state(game_id: str) -> None:
    game = make_game(game_id)
    state = game.new_initial_state(seed=0)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="before the end"):
        game.sample_state(state.observation(0))


def cat_in_the_box(phase: int, moves: int) -> GameState:
    """The first round of a match of four, so many moves into a phase: 0 discard, 1 bid, 2 play."""
    state = make_game(CAT_IN_THE_BOX, rounds="match", start_player=1).new_initial_state(seed=3)
    rng = np.random.default_rng(3)
    while state.record.phase < phase:
        state.apply_action(int(rng.choice(state.legal_actions())))
    for _ in range(moves):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def cat_te_position() -> GameState:
    """In the third trick, before the turn of seat 3; seat 1 has claimed in the second trick and folded three cards."""
    hands = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H", "2D 3D 4D 5D 6D 7H", "2S 3S 9C 10C 9D 6H"]
    options: dict[str, Any] = {"upturned": "4S", "side_pot": 2, "rounds": 3, "instant_wins": False}
    tricks = "AS, fold 2C, 2D, 2S", "KS, claim, fold 3C, fold 3D, 3S", "QS, fold 4C, fold 4D"
    return cat_te.play(cat_te.start(hands, **options), *tricks)


#: Positions, and what their seat to move cannot see there: elements of a part, and what they become.
UNSEEN: list[tuple[GameState, list[tuple[str, Any, Any]]]] = [
    (
        cat_in_the_box(0, 2),
        [
            ("phase", ..., 0), ("phase", ..., [0, 1, 0]), ("hand", 0, 5), ("discarded", 0, 1), ("to_move", ..., 0),
            ("tricks_left", 0, 7), ("leader", ..., [1, 0, 0, 0]), ("bids", (0, 1), 1), ("scores", 1, 41),
        ],
    ),
    (cat_in_the_box(1, 2), [("phase", ..., [0, 0, 1]), ("bids", (0, 1), 1), ("discarded", ..., 0), ("bids", 2, 0)]),
    (
        cat_in_the_box(2, 0),
        [
            ("led", 1, 1), ("discarded", ..., 0), ("bids", 2, 0), ("tricks_won", 1, 1), ("trick", (0, 1, 0), 1),
            ("scores", 1, 1), ("scores", 1, -1), ("may_hold", 0, 0), ("may_hold", (slice(1, 3), 0), 0),
        ],
    ),
    (cat_in_the_box(2, 1), [("led", ..., 0), ("led", ..., 1), ("trick", ..., 0), ("led", ..., [1, 0, 0, 0])]),
    (
        cat_in_the_box(2, 6),
        [
            ("phase", ..., [1, 0, 0]), ("tricks_left", 0, 8), ("tricks_left", 0, 0), ("hand", 0, 5),
            ("board", (0, slice(0, 3), 0), 1), ("to_move", ..., [0, 1, 0, 0]), ("start_player", ..., 0),
            ("leader", ..., 0), ("board", ..., 0),
        ],
    ),
    (
        cat_te_position(),
        [
            ("hand", ..., 0), ("hand", slice(20), 1), ("folded", 0, 1), ("faceup", ..., 0), ("faceup", (0, 4, 3), 1),
            ("num_folded", 1, 5), ("num_folded", ..., 0), ("chosen", 30, 1), ("led_suit", ..., 0), ("led_suit", ..., 1),
            ("led_suit", ..., [1, 0, 0, 0]), ("leader", ..., [1, 0, 0, 0]), ("trick", ..., [0, 0, 0, 1, 0, 0]),
            ("trick", ..., [0, 0, 0, 0, 0, 1]), ("to_move", ..., [0, 1, 0, 0]), ("in_round", 1, 0),
            ("early_tricks", 2, 1), ("tricks_won", 2, 1), ("claim_trick", ..., 0), ("claimed", ..., 0),
            ("faceup", (1, 2, 10), 0),
            ("side_pot", 0, 9), ("scores", 0, -1), ("upturned", ..., 0), ("dealer", ..., 0), ("seat", ..., 0),
        ],
    ),
    (
        petrify.start(BOARD, [(0, 0), (3, 3), (2, 1)]),
        [
            ("symbols", (0, 0, 0), 1), ("colors", (0, 0, 0), 1), ("kinds", ..., 0), ("kinds", (1, 0, 0), 1),
            ("open", (0, 0), 0), ("open", ..., 0), ("positions", ..., 0), ("positions", (1, 0, 1), 1),
            ("to_move", ..., 0), ("teleporting", 0, 1), ("in_game", 1, 0), ("seat", ..., 0), ("place", (1, 2), 1),
            ("end_cells", ..., 0), ("end_cells_after", (0, 0, 0), 7),
        ],
    ),
]  # fmt: skip


@pytest.mark.nojit
@pytest.mark.parametrize(("state", "part", "place", "value"), [
    pytest.param(state, *change, id=f"{state.game.id} {' '.join(map(str, change))}")
    for state, changes in UNSEEN for change in changes
])  # fmt: skip
def test_a_vector_that_no_seat_can_see_gives_no_state(
    state: GameState, part: str, place: Any, value: Any
) -> None:
    game, seen = state.game, state.observation(state.current_player)
    assert game.sample_state(seen, 0).current_player == state.current_player
    before = seen.copy()
    game.observation_layout.unpack(seen)[part][place] = value
    assert not np.array_equal(seen, before)
    for sample in (
        lambda: game.sample_state(seen, 0),
        lambda: game.sample_states(np.stack([before, seen]), 2, 0),
    ):
        with pytest.raises(ValueError, match="no state of this game agrees with it"):
            sample()


@pytest.mark.nojit
@pytest.mark.parametrize("game_id", OPTIONS)
def test_a_changed_vector_is_refused_or_seen_again_in_a_world_that_can_be_played(game_id: str) -> None:
    count = 12 if numba.config.DISABLE_JIT else 200  # type: ignore[attr-defined]
    rng = np.random.default_rng(3)
    refused = sum(check_vector(random_game(game_id, rng), rng) for _ in range(count))
    assert 0 < refused < count
