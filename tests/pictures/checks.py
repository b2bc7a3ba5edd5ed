"""What every picture keeps to, and what pictures say: for the tests of all games."""

from xml.etree import ElementTree

import numpy as np

from catbox_env import Game, GameState
from catbox_env.core.checks import PUBLIC
from catbox_env.pictures.sheet import LARGE_FROM

#: The SVG namespace.
SVG = "http://www.w3.org/2000/svg"
#: Pictures of one in this many positions are checked, and one in this many of a sampled past.
EVERY, PAST_EVERY = 4, 7


def words_of(svg: str) -> list[str]:
    """The texts in a picture, in order."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{{{SVG}}}text")]


def labels_of(svg: str) -> list[str]:
    """What a screen reader is told of the parts of a picture."""
    return [label for element in ElementTree.fromstring(svg).iter() if (label := element.get("aria-label"))]


def texts(state: GameState, seat: int | None = None) -> list[str]:
    """The texts in the picture of ``state`` as ``seat`` sees it."""
    return words_of(state.game.render_svg(state, seat))


def labels(state: GameState, seat: int | None = None) -> list[str]:
    """What a screen reader is told of the picture of ``state`` as ``seat`` sees it."""
    return labels_of(state.game.render_svg(state, seat))


def check_pictures(game: Game, num_games: int = 1, seed: int = 0) -> None:
    """Play random games and check pictures of their positions, of sampled pasts, and of their ends."""
    rng = np.random.default_rng(seed)
    for _ in range(num_games):
        state = game.new_initial_state(seed=int(rng.integers(2**31)))
        while not state.is_terminal():
            moves = len(state.history())
            if rng.integers(EVERY) == 0:
                check_picture(state, moves)
            if moves % PAST_EVERY == PAST_EVERY - 1:
                check_picture_of_past(state, moves)
            state.apply_action(int(rng.choice(state.legal_actions())))
        for seat in range(game.num_players):
            ended = ElementTree.fromstring(game.render_svg(state, seat))
            assert ended.find(".//*[@data-action]") is None, "a picture of the end has a button"


def check_picture(state: GameState, seed: int) -> None:
    """Check that pictures are SVG of one size, with a button for each legal action and no hidden information."""
    game, mover = state.game, state.current_player
    rng = np.random.default_rng(seed)
    size, theme = int(rng.integers(240, 1200)), str(rng.choice(["light", "dark"]))
    legal = {action: game.action_to_string(action) for action in state.legal_actions()}
    for seat in (None, PUBLIC, mover, (mover + 1) % game.num_players):
        svg = game.render_svg(state, seat, size, theme)
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{{{SVG}}}svg", "a picture is not SVG"
        named = all(root.findtext(f"{{{SVG}}}{name}") for name in ("title", "desc"))
        assert named, "a picture has no title or no description"
        buttons = [element for element in root.iter() if "data-action" in element.attrib]
        found = [(int(button.attrib["data-action"]), button.get("aria-label")) for button in buttons]
        expected = legal.items() if seat in (None, mover) else []
        assert sorted(found) == sorted(expected), f"a picture for seat {seat} has other buttons than actions"
        assert all(button.get("role") == "button" for button in buttons), "an action is not a button"
        assert svg == game.render_svg(state, seat, size, theme), "the same state is drawn in two ways"
        if seat is None or size < LARGE_FROM:
            beginning = game.render_svg(game.new_initial_state(seed=0), seat, size)
            same = svg.partition(" role=")[0] == beginning.partition(" role=")[0]  # width, height, viewBox
            assert same, f"pictures of a game for seat {seat} have different sizes"
        if seat == PUBLIC:
            names = {name for element in root.iter() for name in element.attrib}
            assert not names & {"data-forbidden", "data-leads"}, "a spectator can choose something"
            continue
        if seat is None:
            assert int(root.attrib["height"]) % 2 == 0, "a picture has an odd height"
            assert state._repr_svg_() == game.render_svg(state), "_repr_svg_ is not the picture of the state"
            continue
        seen = state.observation(seat)
        worlds = [game.sample_state(seen, seed + i) for i in range(2)]
        seats = [seats_that_see(world, seen)[0] for world in worlds]
        if seats[0] == seats[1]:
            one, two = (game.render_svg(world, seats[0], size, theme) for world in worlds)
            assert one == two, f"a picture for seat {seat} tells what the seat cannot see"


def check_picture_of_past(state: GameState, seed: int) -> None:
    """Check that a state sampled with a seat's history gives that seat, and a spectator, the same picture."""
    game = state.game
    for seat in range(game.num_players):
        seen, history = state.observation(seat), state.history_observation(seat)
        other = game.sample_state(seen, seed, history=history)
        if seat in seats_that_see(other, seen) and np.array_equal(other.history_observation(seat), history):
            for viewer in (seat, PUBLIC):
                same = game.render_svg(other, viewer) == game.render_svg(state, viewer)
                assert same, f"a picture for seat {viewer} tells what the seat cannot see"


def seats_that_see(state: GameState, seen: np.ndarray) -> list[int]:
    """The seats with this observation; if the start player is random, they may differ from the sampled-for seat."""
    return [s for s in range(state.game.num_players) if np.array_equal(state.observation(s), seen)]
