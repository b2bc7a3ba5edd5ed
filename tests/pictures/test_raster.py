"""Pictures as pixels: their form, the letters in them, and what is said where something is missing."""

import ast
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pettingzoo.test import render_test

import catbox_env
from catbox_agents.learners.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES, cat_in_the_box_v0, make_game
from catbox_env.adapters.aec import AECGame
from catbox_env.pictures import raster
from catbox_env.pictures.sheet import THEMES
from catbox_env.pictures.svg import letters, text
from tests.pictures.checks import words_of
from tests.pictures.golden_files import PICTURES, golden


@pytest.fixture
def loaded_anew() -> Iterator[None]:
    """The rasteriser and the letters are looked for again, in the test and after it."""
    caches = (raster.load_rasteriser, raster._letters, raster._outlines)
    for kept in caches:
        kept.cache_clear()
    yield
    for kept in caches:
        kept.cache_clear()


@pytest.mark.parametrize("theme", THEMES)
def test_the_pixels_have_the_size_and_the_colours_of_the_picture(theme: str) -> None:
    game = make_game("petrify_v0")
    svg = game.render_svg(game.new_initial_state(seed=0), size=500, theme=theme)
    pixels = raster.rasterise(svg)
    height = int(svg.split('height="')[1].split('"')[0])
    assert (pixels.shape, pixels.dtype, pixels.flags.c_contiguous) == ((height, 500, 3), np.uint8, True)
    page = [int(THEMES[theme].page[k : k + 2], 16) for k in (1, 3, 5)]
    assert pixels[0, 0].tolist() == pixels[-1, -1].tolist() == page


def ink(text: str) -> np.ndarray:
    """Where a text element of 24 pixels leaves ink on an image of 400 x 40."""
    size = 'width="400" height="40"'
    ground = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="#fff"/>'
    return raster.rasterise(f"{ground}{text}</svg>")[:, :, 0] < 128


def edges(text: str) -> tuple[int, int, int, int]:
    """The first and the last column and row of the ink of a text element."""
    rows, columns = np.nonzero(ink(text))
    return int(columns.min()), int(columns.max()), int(rows.min()), int(rows.max())


def test_letters_have_the_width_height_and_weight_of_their_font() -> None:
    """Inter at 24 pixels: W is 23.6 wide, i 5.8; capitals are 17.5 high, above the line at 18 + 0.36 x 24."""
    wide, narrow = (edges(text(0, 18, words * 8, 24)) for words in "Wi")
    assert wide[1] == pytest.approx(8 * 23.6, abs=2)
    assert narrow[1] == pytest.approx(8 * 5.8, abs=3)
    assert wide[2:] == pytest.approx((18 + 0.36 * 24 - 17.5, 18 + 0.36 * 24), abs=1.1)
    assert ink(text(0, 18, "player_0", 24, bold=True)).sum() > 1.2 * ink(text(0, 18, "player_0", 24)).sum()


def test_letters_stand_where_the_text_is_anchored() -> None:
    left, middle, right = (edges(text(200, 18, "HH", 24, anchor=anchor)) for anchor in ("", "middle", "end"))
    assert left[0] == pytest.approx(202, abs=1.1)
    assert sum(middle[:2]) / 2 == pytest.approx(200, abs=1.1)
    assert right[1] == pytest.approx(198, abs=1.1)
    spread = ink(letters([100, 300], 18, "HH", 24, "#000000")).any(axis=0)
    assert spread[90:111].any()
    assert spread[290:311].any()
    assert not spread[115:285].any()


def test_a_fill_and_what_is_escaped_are_drawn() -> None:
    assert not ink(text(0, 18, "HH", 24, "#ffffff")).any()
    assert ink(text(0, 18, "<&'", 24)).sum() > ink(text(0, 18, "<", 24)).sum()


def test_every_letter_of_every_golden_picture_has_an_outline_of_both_weights() -> None:
    known = raster._letters()
    used = {
        letter for name in PICTURES for words in words_of(golden(name)) for letter in words.replace("\n", "")
    }
    assert used <= set(known["regular"])
    assert set(known["regular"]) == set(known["bold"])


@pytest.mark.parametrize("package", ["games", "pictures"])
def test_every_letter_that_the_code_of_games_and_pictures_writes_has_an_outline(package: str) -> None:
    """In every string, because no test draws all pictures that there are."""
    files = sorted((Path(catbox_env.__file__).parent / package).rglob("*.py"))
    constants = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    strings = [node.value for node in constants if isinstance(node, ast.Constant)]
    written = {letter for string in strings if isinstance(string, str) for letter in string}
    assert written - {"\n"} - set(raster._letters()["regular"]) == set()


@pytest.mark.parametrize(
    "letter", ["\u00e9", "\u2026", "\u2660", "\U0001f408", "\0", "\x1b", "\ud800", "\uffff"]
)
@pytest.mark.parametrize("bold", [False, True])
def test_any_other_character_is_drawn_as_a_question_mark(letter: str, bold: bool) -> None:
    drawn, expected = (ink(text(0, 18, f"caf{end} <", 24, bold=bold)) for end in (letter, "?"))
    assert np.array_equal(drawn, expected)


@pytest.mark.parametrize("letter", ["\n", "\t", "\u00a0", "\u2028"])
def test_any_other_space_is_drawn_as_a_space(letter: str) -> None:
    drawn, expected = (ink(text(0, 18, f"a{space}b", 24)) for space in (letter, " "))
    assert np.array_equal(drawn, expected)


def test_pettingzoo_accepts_what_every_render_mode_returns(capsys: pytest.CaptureFixture) -> None:
    render_test(lambda render_mode: cat_in_the_box_v0.env(num_players=2, render_mode=render_mode))
    assert "Cat in the Box" in capsys.readouterr().out


@pytest.mark.parametrize("game_id", GAMES)
def test_all_frames_of_a_game_have_one_size(game_id: str) -> None:
    env = AECGame(game_id, render_mode="rgb_array")
    env.reset(seed=0)
    rng, frames = np.random.default_rng(0), []
    while not env.game_state.is_terminal():
        frames.append(env.render())
        env.step(int(rng.choice(env.game_state.legal_actions())))
    frames.append(env.render())
    assert {(frame.shape, frame.dtype.name) for frame in frames} == {(frames[0].shape, "uint8")}
    assert frames[0].shape[1:] == (640, 3)
    assert frames[0].shape[0] % 2 == 0
    assert all(not np.array_equal(one, two) for one, two in itertools.pairwise(frames))


@pytest.mark.parametrize("game_id", GAMES)
def test_a_learner_is_shown_its_own_view_alone_and_in_a_batch(game_id: str) -> None:
    """Of the games that begin with the same seeds, the batch draws what single environments draw."""
    options = {"opponents": "random", "learner_seat": 1, "render_mode": "rgb_array"}
    envs = LearnerVectorEnv(2, game_id, **options)
    env = LearnerEnv(game_id, **options)
    envs.reset(seed=[3, 4])
    _, info = env.reset(seed=4)
    actions = envs.action_masks().argmax(1)
    _, _, over, _, _ = env.step(int(info["action_mask"].argmax()))
    assert not over
    envs.step(actions)
    frames = envs.render()
    assert isinstance(frames, tuple)
    assert np.array_equal(frames[1], env.render())
    assert not np.array_equal(*frames)
    assert np.array_equal(
        frames[1], raster.rasterise(env.games.game.render_svg(env.games.vec.get_state(0), 1, 640))
    )
    assert LearnerVectorEnv(2, game_id).render() is None


MANY = """
import resource
from catbox_env import make_game
from catbox_env.pictures.raster import rasterise

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20

state = make_game("petrify_v0").new_initial_state(seed=0)
sizes = []
for width in range(600, 650):
    rasterise(state.game.render_svg(state, size=width))
    sizes.append(resident())
print(sizes[-1] - sizes[9])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the size of a process is read from /proc")
def test_memory_does_not_grow_with_the_number_of_pictures() -> None:
    """Forty pictures more: libvips' cache of operations would keep about 3 MiB of each."""
    done = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, timeout=120, check=False
    )
    assert not done.returncode, done.stderr
    assert float(done.stdout) < 40


FORKING = """
import multiprocessing, sys
from catbox_env import make_game
from catbox_env.pictures.raster import rasterise

svg = make_game("petrify_v0").new_initial_state(seed=0)._repr_svg_()
before = rasterise(svg)

def draw_again(queue):
    queue.put(bool((rasterise(svg) == before).all()))

fork = multiprocessing.get_context("fork")
queue = fork.Queue()
child = fork.Process(target=draw_again, args=(queue,))
child.start()
print(queue.get(timeout=60))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_was_forked_after_drawing_draws_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.usefixtures("loaded_anew")
def test_without_the_rasteriser_the_line_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyvips", None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[render\]'"):
        AECGame("petrify_v0", render_mode="rgb_array")
    env = LearnerEnv("petrify_v0", opponents="random", render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[render\]'"):
        env.render()
    assert AECGame("petrify_v0", render_mode="ansi").render_mode == "ansi"
