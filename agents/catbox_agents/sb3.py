"""Stable-Baselines3: batches of games as its ``VecEnv``, and its models as agents.

    from sb3_contrib import MaskablePPO
    from catbox_agents.sb3 import SB3Agent, VecEnv

    env = VecEnv("cat_in_the_box_v0", 256, num_players=3, opponents="heuristic", learner_seat="random")
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=1024).learn(500_000)
    agent = SB3Agent(model)

The path of a saved model, such as ``model.save("model.zip")`` writes, is a spec for ``catbox_agents.make`` and every
command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import Wrapper, spaces
from numpy.typing import NDArray

from catbox_agents.learners.games import RAISE, LearnerGames, Opponents
from catbox_agents.learners.gymnasium import LearnerVectorEnv, frame
from catbox_agents.learners.options import checked_render_mode, make_learner_game
from catbox_agents.networks.game_note import note_game
from catbox_agents.networks.inputs import NetworkInputs, part_sizes
from catbox_agents.networks.sb3_agent import SB3Agent
from catbox_env.core.checks import check_flag, check_integer, short_repr

# Last: the module above says which extra is missing.
from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv  # isort: skip

#: The options of `VecEnv` itself, not of the game.
_OPTIONS = ("opponents", "learner_seat", "num_threads", "illegal_action", "features", "render_mode")

__all__ = ["SB3Agent", "VecEnv"]


class VecEnv(BaseVecEnv):
    """N games with one learner in each, as a ``VecEnv``; agents play the other seats inside ``step``.

    Args:
        game_id: the id of the game.
        num_envs: N, how many games are played side by side.
        opponents: who plays the other seats, as in `catbox_agents.learners.gymnasium`.
        learner_seat: the learner's seat, or "random": drawn at the start of every episode.
        num_threads: threads that step the games.
        illegal_action: "raise", "terminate" or "random_legal", as in `catbox_agents.learners.gymnasium`, for learners
            that do not use masks; ``infos[i]["illegal_action"]`` is then the illegal action.
        features: append the features of the position to the observation.
        render_mode: None, or "rgb_array", which needs the extra ``render``: ``render()`` is a picture of all games as
            their learners see them, uint8 (H, W, 3), as ``VecVideoRecorder`` films it.
        options: those of ``catbox_env.make_game``: ``num_players``, ``rules``, ``reward``, ...

    Observations are int8 (N, O), with ``features`` (N, O + F); policies of Stable-Baselines3 convert them to float32.
    Rewards, episodes and seeds are those of ``gymnasium.make_vec``: the same seed gives the same games. When a game
    ends, the next one is dealt in the same step, and ``infos[i]["terminal_observation"]`` holds the last observation,
    its features 0. When a round ended, ``infos[i]`` has its statistics for the learner.

    ``env_method("action_masks")``, which MaskablePPO calls, returns the legal actions as N arrays (A,) bool,
    ``action_masks()`` as one array (N, A).

    Attributes: ``game``; ``games``, the `LearnerGames`; ``features``.
    """

    def __init__(
        self,
        game_id: str,
        num_envs: int,
        opponents: Opponents = "heuristic",
        learner_seat: int | str = 0,
        num_threads: int = 1,
        illegal_action: str = RAISE,
        features: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_integer("num_envs", num_envs, 1)
        self.game = make_learner_game(game_id, options, _OPTIONS)
        self.features = check_flag("features", features)
        self._inputs = NetworkInputs(self.game, self.features)
        self.spec, self.render_mode = None, checked_render_mode(render_mode, ("rgb_array",))
        history = render_mode is not None  # pictures show the last trick
        self.games = LearnerGames(
            self.game, num_envs, opponents, learner_seat, num_threads, illegal_action, history=history
        )
        low, high = self._inputs.bounds()
        observations = spaces.Box(low, high, dtype=np.int8)
        note_game(observations, self.game, part_sizes(self._inputs.layout))
        self._actions = np.zeros(num_envs, np.int64)
        super().__init__(int(num_envs), observations, spaces.Discrete(self.game.num_actions))
        self.metadata["render_fps"] = LearnerVectorEnv.metadata["render_fps"]

    def reset(self) -> NDArray[np.int8]:
        """Begin an episode in every game, with the seed passed to ``seed`` since the last reset, if any.

        Returns the learners' first observations. Raises ``ValueError`` for options given to ``set_options``.
        """
        if given := [options for options in self._options if options]:
            raise ValueError(
                f"set_options({short_repr(given[0])}): reset() of this environment has no options"
            )
        self.games.reset(self._seeds[0])
        self.reset_infos = self._infos(self._skipped())
        self._reset_seeds()
        self._reset_options()
        return self.observation()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the learners' ``actions`` (N,) for ``step_wait``."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the learners' actions, then the others' up to the learners' next decisions.

        Returns observations, rewards (N,), whether each game ended (N,), and infos. Raises ``ValueError``, before any
        game moves, for an illegal action; ``ResetNeeded`` before the first ``reset`` and after an opponent's error.
        """
        games = self.games
        paid = games.step(self._actions).astype(np.float32)
        ended = games.over.copy()
        found = games.infos()
        over = np.flatnonzero(ended)
        last = np.zeros((len(over), self._inputs.size), np.int8)
        if len(over):
            last[:, : self.game.observation_layout.size] = games.vec.observe(games.seats[over], over)
            games.reset(rows=over)
            found |= self._skipped()
        infos = self._infos(found)
        for row, seen in zip(over.tolist(), last, strict=True):
            infos[row] |= {"terminal_observation": seen, "TimeLimit.truncated": False}
        return self.observation(), paid, ended, infos

    def observation(self) -> NDArray[np.int8]:
        """The learners' observations: a new array, as ``step`` returns it."""
        if not self.features:
            return self.games.observation()
        vec = self.games.vec
        return self._inputs.compute(vec.observation, vec.action_mask)[0]

    def action_masks(self) -> NDArray[np.bool_]:
        """The learners' legal actions: a new array (N, A) bool."""
        return self.games.action_masks().astype(np.bool_)

    def get_images(self) -> list[NDArray[np.uint8]]:
        """A picture of each game as its learner sees it, uint8 (H, W, 3)."""
        return self.env_method("render")

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, which all games of the batch share, once for each of the games ``indices`` (None: all); for a
        method, what `env_method` calls for that game."""
        value, rows = getattr(self, attr_name), self._get_indices(indices)
        if callable(value):
            return [lambda row=row: self.env_method(attr_name, indices=row)[0] for row in rows]
        return [value for _ in rows]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Raises ``AttributeError``: all games of the batch share their attributes."""
        raise AttributeError(
            f"{attr_name} cannot be set: all games of the batch share it; make another VecEnv"
        )

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Call "action_masks" or "render" for the games ``indices``: as text with the learner's hand, or with
        ``render_mode`` a picture.

        Raises ``AttributeError`` for another name.
        """
        if method_name == "action_masks":
            masks = self.action_masks()
            return list(masks if indices is None else masks[list(self._get_indices(indices))])
        if method_name == "render":
            rows, seats = self._get_indices(indices), self.games.seats
            if self.render_mode is not None:
                return [frame(self.games, row) for row in rows]
            return [self.game.render_text(self.games.vec.get_state(row), int(seats[row])) for row in rows]
        raise AttributeError(f"env_method({method_name!r}): expected 'action_masks' or 'render'")

    def env_is_wrapped(
        self, wrapper_class: type[Wrapper], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """False for each of the games ``indices``: wrappers of Gymnasium are for single environments."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def _skipped(self) -> dict[str, Any]:
        """What `LearnerGames.infos` has about games that were redealt."""
        return {name: found for name, found in self.games.infos().items() if name.startswith("skipped_")}

    def _infos(self, found: Mapping[str, tuple[NDArray[Any], NDArray[np.bool_]]]) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for name, (values, where) in found.items():
            for row, value in zip(np.flatnonzero(where).tolist(), values[where].tolist(), strict=True):
                infos[row][name] = value
        return infos
