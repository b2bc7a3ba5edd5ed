"""Training by self-play.

- ``train(load_config("quick"), "runs/mine")``: a run in a new folder; ``resume("runs/mine")`` continues one.
- ``load_config(preset, file, overrides)`` returns the settings of a run, a ``TrainConfig``.
- ``Algorithm`` is the base class of a learning algorithm of your own, and ``TrainConfig`` that of its settings; it
  raises ``DivergedError`` for numbers that are not finite. ``SelfPlayAlgorithm``, ``SelfPlayConfig``, ``Rollout`` and
  ``Learner`` are what the project's own algorithms are made of: their skeleton, settings, games and gradient steps.
- ``Network`` is the base class of a network of your own. ``PPO``, ``gae``, ``ppo_loss`` and the other names are for
  algorithms that share parts with ``PPO``: see docs/own_parts.md.
- ``best_response(target, config, output)``: what learners among copies of an agent gain over it.
- ``TrainingInterrupted`` and ``TrainingDiverged``: how a run ends early.

The command ``catbox train`` does the same.
"""

import importlib
from typing import TYPE_CHECKING, Any

from catbox_env.core.extras import missing_extra

if TYPE_CHECKING:
    from catbox_agents.networks.mlp import sample_legal
    from catbox_agents.networks.network import ILLEGAL, Network
    from catbox_agents.networks.policy_agent import PolicyAgent
    from catbox_train.algorithm import Algorithm, DivergedError
    from catbox_train.best_responses import best_response
    from catbox_train.config import TrainConfig, Widths
    from catbox_train.device_rollout import make_rollout
    from catbox_train.group import Group
    from catbox_train.learner import Learner, interpolate
    from catbox_train.networks import make_network
    from catbox_train.ppo import PPO, PPOConfig, gae, ppo_loss
    from catbox_train.registry import load_config
    from catbox_train.rollout import Decisions, Rollout
    from catbox_train.runs.loop import resume, train
    from catbox_train.runs.progress import TrainingDiverged, TrainingInterrupted
    from catbox_train.self_play import SelfPlayAlgorithm
    from catbox_train.self_play_config import SelfPlayConfig

__all__ = [
    "ILLEGAL",
    "PPO",
    "Algorithm",
    "Decisions",
    "DivergedError",
    "Group",
    "Learner",
    "Network",
    "PPOConfig",
    "PolicyAgent",
    "Rollout",
    "SelfPlayAlgorithm",
    "SelfPlayConfig",
    "TrainConfig",
    "TrainingDiverged",
    "TrainingInterrupted",
    "Widths",
    "best_response",
    "interpolate",
    "gae",
    "load_config",
    "make_network",
    "make_rollout",
    "ppo_loss",
    "resume",
    "sample_legal",
    "train",
]

#: Where these are defined. They are imported on first use, because torch takes seconds to load.
_MODULES = {
    "ILLEGAL": "catbox_agents.networks.network",
    "PPO": "catbox_train.ppo",
    "Algorithm": "catbox_train.algorithm",
    "Decisions": "catbox_train.rollout",
    "DivergedError": "catbox_train.algorithm",
    "Group": "catbox_train.group",
    "Learner": "catbox_train.learner",
    "Network": "catbox_agents.networks.network",
    "PPOConfig": "catbox_train.ppo",
    "PolicyAgent": "catbox_agents.networks.policy_agent",
    "Rollout": "catbox_train.rollout",
    "SelfPlayAlgorithm": "catbox_train.self_play",
    "SelfPlayConfig": "catbox_train.self_play_config",
    "TrainConfig": "catbox_train.config",
    "TrainingDiverged": "catbox_train.runs.progress",
    "TrainingInterrupted": "catbox_train.runs.progress",
    "Widths": "catbox_train.config",
    "best_response": "catbox_train.best_responses",
    "interpolate": "catbox_train.learner",
    "gae": "catbox_train.ppo",
    "load_config": "catbox_train.registry",
    "make_network": "catbox_train.networks",
    "make_rollout": "catbox_train.device_rollout",
    "ppo_loss": "catbox_train.ppo",
    "resume": "catbox_train.runs.loop",
    "sample_legal": "catbox_agents.networks.mlp",
    "train": "catbox_train.runs.loop",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        try:
            return getattr(importlib.import_module(_MODULES[name]), name)
        except ModuleNotFoundError as error:
            raise missing_extra(error, "catbox_train", "train") from error
    raise AttributeError(f"module 'catbox_train' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
