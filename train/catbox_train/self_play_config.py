"""The settings that algorithms in self-play share: games, networks, opponents and gradient steps."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field

import catbox_agents
from catbox_agents.heuristics.base import plays_on_gpu
from catbox_agents.imports import is_class
from catbox_agents.networks.numpy_network import MAX_HIDDEN_LAYERS
from catbox_agents.specs import split_modules
from catbox_env import Game, Vec
from catbox_env.core.checks import check_instance, short_repr
from catbox_env.core.extras import install_line
from catbox_train.config import Count, Number, Share, TrainConfig, Widths

#: In ``opponents``: earlier policies of the run.
PAST = "past"
#: The network of the package, `catbox_agents.networks.mlp.MLP`.
MLP_NETWORK = "mlp"
#: Decisions of an update that ``games_per_update: auto`` aims at.
USUAL_DECISIONS = 32_768
#: Rounding in the sum of shares such as 0.1, 0.2, 0.7.
ROUNDING = 1e-9


def _code(*words: str) -> BeforeValidator:
    """Checks that a setting is one of ``words``, or code as ``package.module:Name``."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and (value in words or is_class(value)):
            return value
        expected = " or ".join([*(repr(word) for word in words if word), "package.module:Name"])
        raise ValueError(f"{expected}, not {short_repr(value)}")

    return BeforeValidator(check)


def _features(value: Any) -> Any:
    """On, off, or a function of one's own."""
    if isinstance(value, str) and is_class(value):
        return value
    if isinstance(value, str) and value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return value.lower() in ("true", "yes", "on")
    if not isinstance(value, bool):
        raise ValueError(f"true, false or package.module:function, not {short_repr(value)}")
    return value


def _mapping(value: Any) -> Any:
    if isinstance(value, str | list | tuple):
        raise ValueError(
            "a mapping from opponents to their shares, such as {heuristic: 0.1}; the opponents of evaluations are now "
            "eval_opponents"
        )
    return value


class SelfPlayConfig(TrainConfig):
    """The settings of an algorithm whose network plays all seats but those of opponents."""

    agent_settings = ("opponents",)
    size_settings = ("hidden", "games_per_update")
    #: Whether the algorithm can learn from games that are played on a GPU, made by `device_rollout.make_rollout`. Its
    #: ``choose`` and its gradient step are then recorded as CUDA graphs: they must read what changes from tensors that
    #: stay where they are, and never wait for the GPU.
    games_on_gpu: ClassVar[bool] = False

    games_per_update: Count | Literal["auto"] = Field(
        "auto",
        description="games that an update deals and plays to their end, or auto: as many as make about 32,768 "
        "decisions if played at random",
    )

    # The network.
    network: Annotated[str, _code(MLP_NETWORK)] = Field(
        MLP_NETWORK, description="mlp, or package.module:Class for your own"
    )
    network_options: dict[str, Any] = Field(
        {}, description="options of a network of your own, by name; those of mlp are hidden and activation"
    )
    hidden: Widths = Field(
        (256, 256),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of mlp",
    )
    activation: Literal["relu", "tanh"] = Field("relu", description="activation of mlp: relu or tanh")
    features: Annotated[bool | str, BeforeValidator(_features)] = Field(
        True,
        description="the networks also see the features of the position, if the game has any; or "
        "package.module:function for features of your own",
    )
    action_features: bool = Field(
        True,
        description="the policy also sees the features of each legal action, with weights shared by all actions",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="precision of the layers: float32, bfloat16, or auto (bfloat16 if the device supports it natively)",
    )

    # The opponents.
    opponents: Annotated[dict[str, Share], BeforeValidator(_mapping)] = Field(
        {},
        description="opponent -> share of the games in which it has some seats, such as {heuristic: 0.1, past: 0.2}; "
        "past: earlier policies of the run, drawn uniformly",
    )
    opponent_schedule: Annotated[str, _code("")] = Field(
        "", description="package.module:function that sets the shares of the opponents before each update"
    )
    learner_seats: Annotated[int, Field(ge=0)] = Field(
        0,
        description="seats of the learner in a game with an opponent; 0: 1 to P - 1, drawn for each game",
    )
    past_policies: Annotated[int, Field(ge=1, le=64)] = Field(
        8, description="latest earlier policies to keep as opponents (past)"
    )
    past_every: Count = Field(25, description="updates between policies kept as opponents")

    # Gradient steps.
    update_epochs: Count = Field(2, description="passes over the decisions of an update")
    minibatch_size: Count = Field(1024, description="decisions per gradient step")
    learning_rate: Number = Field(
        1e-3, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Number = Field(5e-5, ge=0, description="learning rate at the end")
    max_grad_norm: Number = Field(0.5, gt=0, description="largest gradient norm")
    start_from: str = Field(
        "",
        description="policy to start from: a checkpoint or zoo:NAME with the same hidden, activation and features",
    )

    @property
    def features_source(self) -> str:
        """The function of a user's own that makes the features, or an empty text."""
        return self.features if isinstance(self.features, str) else ""

    def problems(self) -> list[str]:
        """The shares must not exceed 1 in total, and every shared game needs a seat for the opponent."""
        found = super().problems()
        if (
            isinstance(self.workers, int)
            and self.games_per_update != "auto"
            and self.games_per_update < self.workers
        ):
            found.append(
                f"games_per_update = {self.games_per_update}: expected at least one for each of {self.workers} workers"
            )
        if self.network_options and self.network == MLP_NETWORK:
            found.append(
                f"network_options = {self.network_options}: expected none with mlp; set hidden and activation"
            )
        total = sum(self.opponents.values())
        if total > 1 + ROUNDING:
            found.append(
                f"opponents = {self.opponents}: expected shares that add up to at most 1, not {total:g}"
            )
        if self.learner_seats and self.learner_seats >= (seats := self.make_game().num_players):
            found.append(
                f"learner_seats = {self.learner_seats}: expected 0 or 1 to {seats - 1} of the {seats} seats of a game"
            )
        return found

    def agents(self) -> dict[str, tuple[str, ...]]:
        """The agents that each setting names."""
        found = super().agents()
        return {**found, "opponents": tuple(spec for spec in self.opponents if spec != PAST)}

    def code(self) -> dict[str, tuple[str, ...]]:
        """The code of a user's own that each setting names, agents apart: ``package.module:Name``."""
        named = {
            "network": self.network if self.network != MLP_NETWORK else "",
            "features": self.features_source,
            "opponent_schedule": self.opponent_schedule,
            "start_from": self.start_from if split_modules(self.start_from)[0] else "",
        }
        return {setting: (spec,) for setting, spec in named.items() if spec}

    def policy_code(self) -> list[str]:
        """The code that a saved policy of the run needs to play: its network, and what makes its features."""
        code = self.code()
        return [spec for setting in ("network", "features") for spec in code.get(setting, ())]

    def resolved(self, game: Game) -> Self:
        """A copy in which every ``auto`` is replaced by its value for these rules and this machine."""
        from catbox_train.devices import native_precision  # needs torch

        if self.workers == "auto" and self.games_per_update == 1:
            return self.replace(workers=1).resolved(game)
        found = super().resolved(game)
        games = found.games_per_update
        if games == "auto":
            games = max(1, round(USUAL_DECISIONS / mean_decisions(game)))
        precision = native_precision(found.device) if found.precision == "auto" else found.precision
        return found.replace(games_per_update=games, precision=precision)


def check_config(value: Any) -> None:
    """Raise ``ValueError`` unless ``value`` is settings of self-play."""
    check_instance("config", value, SelfPlayConfig, "a SelfPlayConfig, as load_config returns")


def why_on_cpu(config: SelfPlayConfig, game: Game, own_gpus: bool | None = None) -> str | None:
    """Why the games of a run are played on the CPU; None if they are played on the GPU of its network.

    ``own_gpus``: whether each of several processes has a GPU of its own; by default, whether there are as many here.
    """
    if not config.device.startswith("cuda"):
        return f"device = {config.device!r}"
    if not config.games_on_gpu:
        return f"as always with {config.algorithm}"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is missing. {install_line('gpu')}"
    from numba import cuda  # needs a driver

    if not cuda.is_available():
        return "numba-cuda cannot use the driver of the GPU"
    assert config.workers != "auto", "use config.resolved(game)"
    if own_gpus is None:
        own_gpus = config.workers <= len(cuda.gpus)
    if config.workers > 1 and not own_gpus:
        return f"workers = {config.workers}, with fewer GPUs"
    for spec in config.agents()["opponents"]:
        if not plays_on_gpu(catbox_agents.make(spec, game, 0)):
            return f"opponents: of agents, random and heuristic alone play on a GPU, not {spec!r}"
    return None


@lru_cache(maxsize=16)
def mean_decisions(game: Game) -> float:
    """The mean number of decisions in 64 games of random play."""
    vec = Vec(game, 64, seed=0, auto_deal=False)
    random, rows, decisions = np.random.default_rng(0), np.arange(64), 0
    while len(rows):
        actions = (vec.action_mask[rows] * random.random((len(rows), game.num_actions))).argmax(1)
        vec.step(actions, rows)
        decisions += len(rows)
        rows = rows[~vec.terminated[rows]]
    return decisions / 64
