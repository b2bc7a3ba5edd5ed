"""Pictures as pixels: their form, the letters in them, and what is said where something is missing."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from catbox_agents.gymnasium import LearnerEnv, LearnerVectorEnv
from catbox_env import GAMES, make_game
from catbox_env.adapters import raster
from catbox_env.adapters.aec import AECGame
from catbox_env.core.picture import THEMES


@pytest.fixture
def loaded_anew() -> Iterator[None]:
    """The rasteriser is looked for again, in the test and after it."""
    raster.load_rasteriser.cache_clear()
    yield
    raster.load_rasteriser.cache_clear()


@pytest.mark.parametrize("theme", THEMES)
def test_the_pixels_have_the_size_and_the_colours_of_the_picture(theme: str) -> None:
    svg = (
        make_game("petrify_v0")
        .new_initial_state(seed=0)
        .game.render_svg(make_game("petrify_v0").new_initial_state(seed=0), size=500, theme=theme)
    )
    pixels = raster.rasterise(svg)
    height = int(svg.split('height="')[1].split('"')[0])
    assert (pixels.shape, pixels.dtype, pixels.flags.c_contiguous) == ((height, 500, 3), np.uint8, True)
    page = [int(THEMES[theme].page[k : k + 2], 16) for k in (1, 3, 5)]
    assert pixels[0, 0].tolist() == pixels[-1, -1].tolist() == page


def test_letters_are_drawn_with_the_fonts_that_come_with_catbox() -> None:
    """Wide letters take more room than narrow ones, bold ones have more ink, and both as the font says."""

    def ink(words: str, weight: int) -> np.ndarray:
        svg = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="40">'
            '<rect width="400" height="40" fill="#fff"/>'
            f'<text y="30" font-size="24" font-family="Inter" font-weight="{weight}">{words}</text></svg>'
        )
        return raster.rasterise(svg)[:, :, 0] < 128

    right = {
        words: int(np.flatnonzero(ink(words, 400).any(axis=0))[-1]) for words in ("iiiiiiii", "WWWWWWWW")
    }
    assert right["iiiiiiii"] == pytest.approx(46, abs=4)
    assert right["WWWWWWWW"] == pytest.approx(188, abs=4)
    assert ink("player_0", 700).sum() > 1.2 * ink("player_0", 400).sum()
    for letter in "\u00b7\u00d7\u2013\u2212":
        assert ink(letter, 400).any()


def test_every_letter_of_every_picture_is_in_the_fonts() -> None:
    from fontTools.ttLib import TTFont

    from tests.core.pictures import PICTURES, golden
    from tests.core.test_pictures import words_of

    used = {
        letter for name in PICTURES for words in words_of(golden(name)) for letter in words.replace("\n", "")
    }
    for file in raster._FONTS.glob("*.ttf"):
        assert {ord(letter) for letter in used} <= set(TTFont(file).getBestCmap()), file.name


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
    state = env.games.vec
    assert np.array_equal(frames[1], raster.rasterise(state.render_svg(0, 1, 640)))
    assert LearnerVectorEnv(2, game_id).render() is None


@pytest.mark.parametrize("game_id", GAMES)
def test_gymnasiums_checker_passes_on_the_pictures(game_id: str) -> None:
    from gymnasium.utils.env_checker import check_env

    words = "".join(word.capitalize() for word in game_id.removesuffix("_v0").split("_"))
    env = gymnasium.make(
        f"catbox/{words}-v0", opponents="random", illegal_action="random_legal", render_mode="rgb_array"
    )
    check_env(env.unwrapped)


@pytest.mark.usefixtures("loaded_anew")
def test_without_the_rasteriser_the_line_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyvips", None)
    with pytest.raises(ImportError, match=r"pip install 'catbox-env\[render\]'"):
        AECGame("petrify_v0", render_mode="rgb_array")
    env = LearnerEnv("petrify_v0", opponents="random", render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(ImportError, match=r"pip install 'catbox-env\[render\]'"):
        env.render()
    assert AECGame("petrify_v0", render_mode="ansi").render_mode == "ansi"


@pytest.mark.usefixtures("loaded_anew")
def test_a_font_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(raster, "_FONTS", tmp_path)
    with pytest.raises(ImportError, match=r"Inter-Regular\.ttf is missing: install catbox-env again"):
        raster.rasterise(make_game("petrify_v0").new_initial_state(seed=0)._repr_svg_())
