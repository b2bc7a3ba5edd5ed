"""`learners.gymnasium.LearnerVectorEnv` on a GPU: what it returns are torch tensors there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from catbox_agents.device import device_agent
from catbox_agents.heuristics.base import plays_on_gpu
from catbox_agents.learners.options import OPTIONS as SINGLE_OPTIONS
from catbox_agents.learners.options import VECTOR_OPTIONS, OptionError, make_learner_game
from catbox_agents.networks.game_note import note_game
from catbox_agents.specs import make
from catbox_env.adapters.device import DeviceVec
from catbox_env.core.checks import check_integer, is_literal, short_repr
from catbox_env.core.rng import seed_sequence

#: The options of this environment, beside those of the game.
OPTIONS = ("opponents", "learner_seat", "device")


class DeviceLearnerVectorEnv(gymnasium.vector.VectorEnv[torch.Tensor, torch.Tensor, torch.Tensor]):
    """N games on a GPU with one learner in each: made by ``LearnerVectorEnv(..., device="cuda")``.

    ``reset`` and ``step`` return what `LearnerVectorEnv` does, as torch tensors on the GPU, with these differences:

    - ``opponents``: "random", "heuristic" (also "heuristic:3"), or a sequence of these, one for each other
      seat, clockwise from the learner.
    - An illegal action moves no game, and from then on ``step`` does nothing, until `check` or ``reset`` raises it. So
      check now and then.
    - Every game that ends is redealt in the same step. There is no ``final_obs``: nothing follows a reward with
      ``terminated``.
    - ``infos`` holds ``action_mask`` (N, A) int8, ``round_ended`` (N,) bool, and the learner's statistics of the last
      round that has ended, each (N,) int32, which mean something where ``round_ended``.

    ``step`` waits for the GPU after each move of the opponents, to see whether a learner is to move in every game. The
    deals are those on the CPU with the same seed.

    Attributes: ``vec``, the games; ``seats`` (N,) int64, the learner's seat in each.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  (Gymnasium's form)

    def __init__(
        self,
        num_envs: int,
        game_id: str,
        opponents: str | Sequence[str] = "heuristic",
        learner_seat: int | str = 0,
        device: str = "cuda",
        **options: Any,
    ) -> None:
        self.game = game = make_learner_game(game_id, options, OPTIONS)
        others = game.num_players - 1
        if not is_literal(learner_seat, "random"):
            check_integer("learner_seat", learner_seat, 0, others, ", or 'random'")
        self._fixed_seat = None if learner_seat == "random" else int(learner_seat)
        specs = [opponents] * others if isinstance(opponents, str) else opponents
        if not isinstance(specs, Sequence) or len(specs) != others:
            raise ValueError(
                f"opponents={short_repr(opponents)}: expected one, or {others}, one for each other seat"
            )
        self.vec = DeviceVec(game, num_envs, device=device)
        self._random = torch.Generator(self.vec.device)
        #: The agents, and their places clockwise from the learner, 1 to P - 1: (P,) bool.
        self._agents = []
        for spec in dict.fromkeys(specs):
            agent = make(spec, game, 0)
            if not plays_on_gpu(agent):
                raise ValueError(
                    f"opponents={short_repr(opponents)}: {spec!r} cannot play on a GPU; use 'random', 'heuristic' or "
                    "the environment without device"
                )
            places = torch.tensor([False, *(own == spec for own in specs)], device=self.vec.device)
            self._agents.append((device_agent(agent, self.vec, self._random), places))
        self.num_envs = num_envs
        layout = game.observation_layout
        self.single_observation_space = spaces.Box(layout.low, layout.high, dtype=np.int8)
        note_game(self.single_observation_space, game)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.seats = torch.zeros(num_envs, dtype=torch.int64, device=self.vec.device)
        self._owed = torch.zeros(num_envs, device=self.vec.device)
        self._ready = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Begin an episode in every game. ``seed``: an integer, from which each game gets its own; None: go on.

        Raises ``ValueError`` for another seed and for ``options``, and what `check` does.
        """
        if options:
            raise ValueError(
                f"options={short_repr(options)}: on a GPU all games are reset together; expected none"
            )
        if seed is None and self._ready:
            self.vec.reset()
        else:
            root = seed_sequence(seed)
            self.vec.reset(seed_sequence(root, 0))
            self._random.manual_seed(int(root.generate_state(1, np.uint64)[0] >> 1))
        self._ready = True
        self._owed.zero_()
        every = torch.ones_like(self.vec.terminated)
        self._seat(every)
        self._begin(every)
        self._others_play()
        return self._seen()

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Play the learners' ``actions`` (N,), then the others' up to the learners' next decisions.

        Returns the observations (N, O) int8, rewards (N,) float32, terminated and truncated (N,) bool, all new tensors,
        and infos. Raises ``ValueError`` for a wrong shape or dtype, and ``ResetNeeded`` before the first ``reset``.
        """
        if not self._ready:
            raise ResetNeeded("call reset() first")
        self._begin(torch.zeros_like(self.vec.terminated))
        self._paid, self._owed = self._owed, torch.zeros_like(self._owed)
        self.vec.step(actions)
        self._account()
        self._others_play()
        observation, infos = self._seen()
        return observation, self._paid, self._ended, torch.zeros_like(self._ended), infos

    def action_masks(self) -> torch.Tensor:
        """The learners' legal actions: a new tensor (N, A) int8 of 0 and 1."""
        return self.vec.action_mask.to(torch.int8)

    def check(self) -> None:
        """Raise ``ValueError`` if an action has been illegal since the last check. Waits for the GPU."""
        self.vec.check()

    def _seen(self) -> tuple[torch.Tensor, dict[str, Any]]:
        infos = {"action_mask": self.action_masks(), "round_ended": self._round_ended, **self._statistics}
        return self.vec.observation.clone(), infos

    def _begin(self, ended: torch.Tensor) -> None:
        """Note that the learner's episode is over in the games ``ended``: what it is paid there belongs to the next."""
        self._ended = ended
        self._paid = torch.zeros_like(self._owed)
        self._round_ended = torch.zeros_like(ended)
        self._statistics = {name: torch.zeros_like(self.seats, dtype=torch.int32) for name in self.vec.info}

    def _seat(self, games: torch.Tensor) -> None:
        """Seat the learner in ``games``, which have just been dealt."""
        if self._fixed_seat is not None:
            self.seats.fill_(self._fixed_seat)
            return
        drawn = torch.randint(
            self.game.num_players, self.seats.shape, generator=self._random, device=self.vec.device
        )
        self.seats = torch.where(games, drawn, self.seats)

    def _account(self) -> None:
        """Count what a move has brought."""
        vec, own = self.vec, self.seats[:, None]
        paid = vec.rewards.gather(1, own)[:, 0]
        self._paid = self._paid + torch.where(self._ended, 0, paid)
        self._owed = self._owed + torch.where(self._ended, paid, 0)
        # A game that ends before the learner's first decision is no episode.
        self._owed = torch.where(self._ended & vec.terminated, 0, self._owed)
        for name, values in vec.info.items():
            new = values.gather(1, own)[:, 0]
            self._statistics[name] = torch.where(vec.round_ended, new, self._statistics[name])
        self._round_ended = self._round_ended | vec.round_ended
        self._ended = self._ended | vec.terminated
        self._seat(vec.terminated)

    def _others_play(self) -> None:
        """Play the others' moves up to the learners' next decisions."""
        vec = self.vec
        # After an illegal action nothing moves, and nobody's turn would come.
        while True:
            waiting = vec.current_player != self.seats
            if not bool((waiting.any() & ~vec.illegal).item()):
                return
            place = (vec.current_player - self.seats) % self.game.num_players
            actions = torch.zeros_like(self.seats)
            for agent, places in self._agents:
                asked = waiting & places[place]
                actions = torch.where(asked, agent.act(asked), actions)
            vec.step(actions, waiting)
            self._account()


def make_vector_env(num_envs: int, game_id: str, *args: Any, **options: Any) -> DeviceLearnerVectorEnv:
    """The environment. Raises `OptionError` for an option that only the one on the CPU has."""
    if options.get("render_mode", 0) is None:  # as Gymnasium may pass it
        del options["render_mode"]
    for name in options:
        if name in SINGLE_OPTIONS + VECTOR_OPTIONS and name not in OPTIONS:
            raise OptionError(
                f"{name}={short_repr(options[name])}: games on a GPU have no such option; leave it out"
            )
    return DeviceLearnerVectorEnv(num_envs, game_id, *args, **options)
