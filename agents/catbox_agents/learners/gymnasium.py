"""One seat of a game as a Gymnasium environment; agents play the others inside ``step``.

    import gymnasium, catbox_env
    env = gymnasium.make("catbox/CatInTheBox-v0", num_players=4, opponents="heuristic", learner_seat="random")
    envs = gymnasium.make_vec("catbox/CatInTheBox-v0", num_envs=1024, vectorization_mode="vector_entry_point")

| argument | default | meaning |
|---|---|---|
| ``opponents`` | "heuristic" | who plays the other seats, see below |
| ``learner_seat`` | 0 | the learner's seat, or "random": drawn at the start of every episode |
| ``mask_in_observation`` | False | True: ``{"observation": ..., "action_mask": ...}``; a mapping renames these keys |
| ``dtype`` | int8 | of the observation: an integer or floating dtype of NumPy; the values are the same |
| ``illegal_action`` | "raise" | what an illegal action does, see below: "raise", "terminate" or "random_legal" |
| ``constant_info`` | False | True: every info has the same keys, see below |
| ``autoreset_mode`` | "same_step" | (only ``make_vec``) "same_step", "next_step", "disabled"; see `LearnerVectorEnv` |
| ``num_threads`` | 1 | (only ``make_vec``) threads that step the games |
| ``device`` | "cpu" | (only ``make_vec``) "cuda": games and tensors on a GPU, see `DeviceLearnerVectorEnv` |
| ``render_mode`` | None | "ansi": ``render`` returns text (not ``make_vec``); "rgb_array": a picture, see below |
| any other | | an option of ``catbox_env.make_game``: ``num_players``, ``rules``, ``reward``, ... |

``opponents`` is one agent for all other seats; a sequence with one for each of them, clockwise from the learner; or
``{"any_of": [...]}``, from which each other seat's agent is drawn at the start of every episode. An agent is a spec of
``catbox_agents.make`` or an object with ``act`` and ``act_batch``. No agent is replaced during a game.
``reset(seed=...)`` restarts the agents' random numbers too, except those of an object that you pass without
``seed_decisions``.

Observation: the vector (O,) of the learner, laid out as ``game.observation_layout``. ``info["action_mask"]`` and
``action_masks()`` (``env.get_wrapper_attr("action_masks")()`` behind Gymnasium's wrappers): int8 (A,), zeros when the
episode is over. The reward of a step is everything that the learner was paid up to its next decision or the end; what
it was paid before its first decision is added to its first step. When a round ended, ``info`` also holds its statistics
for the learner's seat.

An episode is one game. A game that ends before the learner's first decision is not an episode: another is dealt. The
``info`` of the first observation then holds ``skipped_games``, the number of such games since the last episode, and
``skipped_reward``, what they paid the learner; ``games.num_skipped`` counts all of them. Mean rewards leave these games
out, which matters if they are frequent (Petrify with many players on a small board may petrify a learner in the last
seat at once). ``catbox evaluate`` counts every game.

With ``constant_info``, as collectors of infos need it, every ``info`` has all of these keys, and ``illegal_action`` if
that is not "raise"; values are 0, and -1 for ``illegal_action``, where there is nothing to tell.

An illegal action of the learner, one of the action space that its mask forbids,

- "raise": raises ``ValueError`` and changes nothing;
- "terminate": ends the episode; the reward is ``games.illegal_reward``, the lower of -1 and the lowest return of the
  game (plus what was paid before the first decision, if this is the first step);
- "random_legal": is replaced by a random legal action.

With the last two, ``info["illegal_action"]`` is the illegal action. An action outside the action space always raises
``ValueError``.

With ``render_mode="rgb_array"``, which needs the extra ``render`` and is in the metadata only with it, ``render()``
returns the table as the learner sees it, uint8 (H, W, 3); for a batch, a tuple with one such array for each game, all
of the same size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from catbox_env.core.checks import check_action
from catbox_env.core.extras import missing_package

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as error:
    raise missing_package(
        error,
        "catbox_agents.learners.gymnasium",
        "Install it:  pip install gymnasium. catbox_env.make_game and make_vec work without it",
    ) from error

from catbox_agents.learners.games import RAISE, LearnerGames, Opponents
from catbox_agents.learners.options import (
    OPTIONS,
    VECTOR_OPTIONS,
    ObservationForm,
    OptionError,
    checked_mode,
    checked_render_mode,
    make_learner_game,
)
from catbox_env.core.checks import as_array, check_flag, is_integer, short_repr
from catbox_env.pictures.raster import FRAME_WIDTH, can_rasterise, rasterise
from catbox_env.vector import device_adapter

__all__ = ["LearnerEnv", "LearnerGames", "LearnerVectorEnv", "Opponents", "OptionError"]

Observation = NDArray[Any] | dict[str, NDArray[Any]]

#: Gymnasium's checker tries every mode that the metadata names.
PICTURES = ["rgb_array"] if can_rasterise() else []


def frame(games: LearnerGames, row: int) -> NDArray[np.uint8]:
    """Game ``row`` as its learner sees it: a picture, uint8 (H, W, 3)."""
    state = games.vec.get_state(row)
    return rasterise(games.game.render_svg(state, int(games.seats[row]), FRAME_WIDTH))


class LearnerEnv(gymnasium.Env[Observation, np.int64]):
    """One game with one learner; the module's docstring is its specification."""

    metadata = {"render_modes": ["ansi", *PICTURES], "render_fps": 1}  # noqa: RUF012  (Gymnasium declares it so)

    def __init__(
        self,
        game_id: str,
        opponents: Opponents = "heuristic",
        learner_seat: int | str = 0,
        mask_in_observation: bool | Mapping[str, str] = False,
        dtype: DTypeLike = np.int8,
        illegal_action: str = RAISE,
        constant_info: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, ("ansi", "rgb_array"))
        self._constant_info = check_flag("constant_info", constant_info)
        self.game = make_learner_game(game_id, options, OPTIONS)
        self._form = ObservationForm(self.game, dtype, mask_in_observation)
        history = render_mode == "rgb_array"  # its pictures show the last trick
        self.games = LearnerGames(
            self.game, 1, opponents, learner_seat, illegal_action=illegal_action, history=history
        )
        self.observation_space = self._form.space
        self.action_space = spaces.Discrete(self.game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode. Returns the learner's first observation and ``{"action_mask": ...}``."""
        if options is not None and not (isinstance(options, Mapping) and not options):
            raise ValueError(
                f"options={short_repr(options)}: expected None; reset() of this environment has no options"
            )
        if seed is not None and not (is_integer(seed) and seed >= 0):
            raise ValueError(f"seed={short_repr(seed)}: expected an integer of 0 or more, or None")
        self.games.reset(seed)
        super().reset(seed=None if seed is None else int(seed))
        return self._seen()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play the learner's ``action``, then the others' up to its next decision.

        Raises ``ValueError``, with the game unchanged, for an illegal action (see the option ``illegal_action``) or one
        after the end, and ``ResetNeeded`` before the first ``reset`` and after an opponent's error.
        """
        games = self.games
        chosen = check_action(action, self.game.num_actions)
        if games.ready and games.over[0]:
            raise ValueError(f"action {chosen}: the game is over; call reset()")
        paid = games.step(np.array([chosen]))
        seen, info = self._seen()
        return seen, float(paid[0]), bool(games.over[0]), False, info

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions, by the name that sb3-contrib calls: a new int8 array (A,) of 0 and 1."""
        return self.games.action_masks()[0]

    def render(self) -> str | NDArray[np.uint8]:
        """The game as the learner sees it: as text, or with ``render_mode="rgb_array"`` a picture, uint8 (H, W, 3)."""
        if self.render_mode == "rgb_array":
            return frame(self.games, 0)
        return self.games.game.render_text(self.games.vec.get_state(0), int(self.games.seats[0]))

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        mask = self.action_masks()
        info = {
            name: values[0].item()
            for name, (values, _) in self.games.infos(every=self._constant_info).items()
        }
        return self._form(self.games.observation()[0], mask), {"action_mask": mask, **info}


class LearnerVectorEnv(gymnasium.vector.VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """N games with one learner in each; the module's docstring is the specification.

    ``autoreset_mode``, also in ``metadata``, says what happens after the end of an episode:

    - "same_step": the next game is dealt in the same step. ``infos["final_obs"]`` holds the last observation and
      ``infos["final_info"]`` the last info, both in the rows of ``infos["_final_obs"]``.
    - "next_step": the next step ignores the action for this game, deals, and pays 0.
    - "disabled": the game stays over, and ``step`` raises an error, until ``reset(options={"reset_mask": rows})`` with
      ``rows`` (N,) bool, which begins new episodes in these rows alone. (It does so in the other modes too.)

    ``reset(seed=...)`` takes one integer, from which each game gets its own, or a list of N, one for each game, which
    then plays like a single environment with this seed. Only agents without ``seed_decisions`` share their
    random numbers among the games.

    Every entry of ``infos`` has a mask ``_name`` (N,) of the rows that it is about. ``infos`` holds the statistics of
    rounds that ended, ``illegal_action``, ``skipped_games`` and ``skipped_reward``; with "same_step", those of the last
    step of an episode are in ``infos["final_info"]``.
    """

    metadata = {  # noqa: RUF012  (Gymnasium declares it so)
        "render_modes": PICTURES,
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __new__(cls, *args: Any, device: str = "cpu", **options: Any) -> Any:
        """This class, or with ``device="cuda"`` a `DeviceLearnerVectorEnv`."""
        if device == "cpu":
            return super().__new__(cls)
        if cls is not LearnerVectorEnv:
            raise ValueError(
                f"device={short_repr(device)}: {cls.__name__} plays on the CPU; derive from "
                "catbox_agents.learners.device.DeviceLearnerVectorEnv"
            )
        device_adapter(device).check_device(device)
        from catbox_agents.learners.device import make_vector_env  # needs torch

        return make_vector_env(*args, device=device, **options)

    def __init__(
        self,
        num_envs: int,
        game_id: str,
        opponents: Opponents = "heuristic",
        learner_seat: int | str = 0,
        num_threads: int = 1,
        mask_in_observation: bool | Mapping[str, str] = False,
        dtype: DTypeLike = np.int8,
        illegal_action: str = RAISE,
        constant_info: bool = False,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        *,
        device: str = "cpu",
        **options: Any,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, ("rgb_array",))
        self._constant_info = check_flag("constant_info", constant_info)
        self.autoreset_mode = checked_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self.game = make_learner_game(game_id, options, OPTIONS + VECTOR_OPTIONS)
        self._form = ObservationForm(self.game, dtype, mask_in_observation)
        self.games = LearnerGames(
            self.game,
            num_envs,
            opponents,
            learner_seat,
            num_threads,
            illegal_action,
            history=render_mode == "rgb_array",
        )
        self.num_envs = num_envs
        self.single_observation_space = self._form.space
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every game, or in those of ``options={"reset_mask": rows}``, ``rows`` (N,) bool.

        Returns the observations and the infos of all games.
        """
        begun = self._reset_mask(options)
        self.games.reset(seed, None if begun.all() else np.flatnonzero(begun))
        super().reset(seed=None if seed is None or isinstance(seed, list | tuple) else int(seed))
        masks = self.action_masks()
        infos = self._infos(masks, begun)
        infos["_action_mask"] = ~self.games.over  # of the other games too, for the next actions
        return self._form(self.games.observation(), masks), infos

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play the learners' ``actions`` (N,), then the others' up to the learners' next decisions.

        Raises ``ValueError``, before any game moves, for an illegal action (see the option ``illegal_action``) and for
        a game that is over (see the class); ``ResetNeeded`` before the first ``reset`` and after an opponent's error.
        """
        games, mode = self.games, self.autoreset_mode
        over = games.over.copy()
        if games.ready and over.any() and mode is not AutoresetMode.NEXT_STEP:
            raise ValueError(
                f"the episodes of games {short_repr(np.flatnonzero(over).tolist())} are over; no game has moved: call "
                'reset(options={"reset_mask": ...}) for them'
            )
        paid = games.step(actions)
        terminated = games.over & ~over
        final: dict[str, Any] = {}
        if mode is AutoresetMode.SAME_STEP and terminated.any():
            final = self._final(terminated)
            games.reset(rows=np.flatnonzero(terminated))
        elif over.any():
            games.reset(rows=np.flatnonzero(over))
        masks = self.action_masks()
        infos = self._infos(masks, np.ones(self.num_envs, np.bool_))
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._form(games.observation(), masks), paid, terminated, truncated, infos | final

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions: a new int8 array (N, A) of 0 and 1."""
        return self.games.action_masks()

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """A picture of each game as its learner sees it, uint8 (H, W, 3); None without ``render_mode``."""
        if self.render_mode is None:
            return None
        return tuple(frame(self.games, row) for row in range(self.num_envs))

    def _final(self, terminated: NDArray[np.bool_]) -> dict[str, Any]:
        """The last observations and infos of the episodes that are over, in Gymnasium's form."""
        masks = self.action_masks()
        seen = self.games.observation()
        last = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(terminated):
            last[row] = self._form(seen[row].copy(), masks[row])
        return {
            "final_obs": last,
            "_final_obs": terminated.copy(),
            "final_info": self._infos(np.zeros_like(masks), terminated),
            "_final_info": terminated.copy(),
        }

    def _infos(self, masks: NDArray[np.int8], rows: NDArray[np.bool_]) -> dict[str, Any]:
        """Gymnasium's infos of a batch, for ``rows`` (N,)."""
        infos: dict[str, Any] = {"action_mask": masks.copy(), "_action_mask": rows.copy()}
        for name, (values, where) in self.games.infos(rows, self._constant_info).items():
            infos[name], infos[f"_{name}"] = values, where.copy()
        return infos

    def _reset_mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_]:
        """The games (N,) that ``reset`` restarts."""
        if options is None or (isinstance(options, Mapping) and not options):
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(options, Mapping) or list(options) != ["reset_mask"]:
            raise ValueError(f"options={short_repr(options)}: expected None or {{'reset_mask': ...}}")
        mask = as_array("reset_mask", options["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"options={short_repr(options)}: expected a reset_mask of bool, of shape ({self.num_envs},), with at "
                "least one True"
            )
        return mask.copy()
