"""Gymnasium's ``RecordVideo``, which needs moviepy, films games with ``render_mode="rgb_array"``."""

import itertools
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVideos
from moviepy import VideoFileClip

from catbox_env import GAMES
from catbox_env.registration import gymnasium_id


def frames_of(folder: Path) -> list[tuple[int, tuple[int, int], int]]:
    """Of each video in ``folder``: frames, width and height, and how many frames differ from the one before."""
    found = []
    for file in sorted(folder.glob("*.mp4")):
        with VideoFileClip(str(file)) as clip:
            frames = list(clip.iter_frames())
            changes = sum(not np.array_equal(one, two) for one, two in itertools.pairwise(frames))
            found.append((len(frames), tuple(clip.size), changes))
    return found


@pytest.mark.parametrize("game_id", GAMES)
def test_an_episode_becomes_a_video_of_as_many_frames_as_it_has_positions(
    game_id: str, tmp_path: Path
) -> None:
    env = gymnasium.make(gymnasium_id(game_id), opponents="random", render_mode="rgb_array")
    with RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True) as recorder:
        _, info = recorder.reset(seed=1)
        positions, over = 1, False
        while not over:
            _, _, over, _, info = recorder.step(int(info["action_mask"].argmax()))
            positions += 1
        height, width, _ = env.render().shape
    assert frames_of(tmp_path) == [(positions, (width, height), positions - 1)]


def test_a_batch_becomes_a_video_of_all_its_games(tmp_path: Path) -> None:
    envs = gymnasium.make_vec(
        "catbox/Petrify-v0", 4, "vector_entry_point", opponents="random", render_mode="rgb_array"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium says that "same_step" leaves out the last frame
        recorder = RecordVideos(envs, str(tmp_path), video_length=5, step_trigger=lambda step: step == 0)
    _, infos = recorder.reset(seed=1)
    for _ in range(8):
        *_, infos = recorder.step(infos["action_mask"].argmax(1))
    height, width, _ = envs.render()[0].shape
    recorder.close()
    (video,) = frames_of(tmp_path)
    assert video[1] in [(2 * width, 2 * height), (4 * width, height), (width, 4 * height)]
