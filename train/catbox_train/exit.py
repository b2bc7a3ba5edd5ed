"""Expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439) in self-play.

The expert is a one-ply rollout search over worlds consistent with what a seat sees (``catbox_agents.search``). In each
update the current policy plays games, a share of their decisions is searched, and the policy learns from all searches
of the last updates.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import torch
from pydantic import Field

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.search import RolloutSearch, policy_target
from catbox_agents.search.rollout import MAX_GAMES
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_train.algorithm import Algorithm, Metrics, State
from catbox_train.config import Count, Number, Share
from catbox_train.learner import (
    ALONE,
    PRECISIONS,
    Group,
    Learner,
    Past,
    between,
    game_metrics,
    mean_metrics,
    memory_needed,
    start_from,
)
from catbox_train.rollout import SEARCHES, Decisions, Rollout, SelfPlayConfig

#: As ``rollout_policy``: the network that learns.
POLICY = "policy"
#: The columns of the window.
COLUMNS = ("inputs", "action_features", "masks", "targets")


class ExitConfig(SelfPlayConfig):
    """The settings of expert iteration."""

    rollout_policy: str = Field(
        POLICY,
        description="who plays the rollouts of a search: policy (the network that learns), or an agent",
    )
    search_share: Share = Field(0.05, description="share of the decisions of an update to search")
    search_worlds: Count = Field(16, le=2**20, description="worlds per legal action of a searched decision")
    temperature: Number = Field(
        0.5,
        ge=0,
        description="of the target: an action this many standard errors behind the best one has a weight e times "
        "smaller; 0: only the best action counts",
    )
    window: Count = Field(8, description="latest updates whose searched decisions are learned from")
    ent_coef: Number = Field(0.0, ge=0, description="weight of the entropy bonus")
    update_epochs: Count = Field(1, description="passes over the whole window per update")
    minibatch_size: Count = Field(512, description="decisions per gradient step")
    learning_rate: Number = Field(
        5e-4, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )

    def agents(self) -> dict[str, tuple[str, ...]]:
        """The agents that each setting names."""
        own = () if self.rollout_policy == POLICY else (self.rollout_policy,)
        return {**super().agents(), "rollout_policy": own}


class ExpertIteration(Algorithm):
    """The policy, its optimizer, and the games.

    ``window``: the searched decisions of the last updates, the oldest first; of each, arrays by name as in ``COLUMNS``:
    the inputs of the network, the legal actions, and ``targets`` (n, A) float32, the probabilities to learn.
    """

    Config = ExitConfig
    processes = True
    config: ExitConfig

    def __init__(self, config: ExitConfig, game: Game, group: Group = ALONE) -> None:
        super().__init__(config, game)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.actor = MLP.for_policy(inputs, config.hidden, config.activation)
        self.precision = PRECISIONS[config.precision]
        self.learner = Learner({"actor": self.actor}, config, game, group)
        self.rollout = Rollout(config, game, inputs, group.rank, group.size)
        self.past = Past(config, self.actor, game, greedy=False)
        self.window: list[dict[str, np.ndarray]] = []

    @classmethod
    def memory_needed(cls, config: ExitConfig, game: Game) -> int:
        """Bytes that a run needs in each process: also for the window, and for the games of a search."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        with torch.device("meta"):  # a network without memory
            actor = MLP.for_policy(inputs, config.hidden)
        base = memory_needed(config, game, {"actor": actor})
        row = inputs.size + game.observation_layout.size + game.num_actions * (inputs.action_size + 6)
        return base + int(base * config.search_share * config.window) + MAX_GAMES * row

    @classmethod
    def check_run(cls, config: ExitConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` or a rollout policy that cannot be used."""
        inputs = NetworkInputs(game, config.features, config.action_features)
        start_from(MLP.for_policy(inputs, config.hidden, config.activation), config.start_from, game)
        if config.rollout_policy != POLICY:
            make_search(game, config, config.rollout_policy)

    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, search some decisions, and learn from the window."""
        config, learner = self.config, self.learner
        self.player = self.actor.frozen(self.precision)
        decisions = self.rollout.play(update, self.choose, self.past.agents)
        searched, metrics_of_search = self.search(decisions, update)
        self.window = [*self.window, searched][-config.window :]

        columns = [
            torch.from_numpy(np.concatenate([part[name] for part in self.window])).to(learner.device)
            for name in COLUMNS
        ]
        learning_rate = between(config.learning_rate, config.learning_rate_end, progress)
        learner.set_learning_rate(learning_rate)
        records = []
        for rows, total in learner.minibatches(torch.arange(len(columns[0])), update):
            inputs, features, masks, targets = (column.index_select(0, rows) for column in columns)
            logits = self.actor.logits_of(self.actor(inputs, precision=self.precision), features, masks)
            logs = logits.log_softmax(1)
            entropy = -(logs.exp() * logs).sum() / total
            target_kl = (torch.xlogy(targets, targets) - targets * logs).sum() / total
            norms = learner.step(target_kl - config.ent_coef * entropy)
            records.append(torch.stack([target_kl.detach(), entropy.detach(), *norms]))
        learner.check_finite()
        self.past.add(update + 1)

        names = ("target_kl", "entropy", "actor_grad_norm")
        learned = {
            "learning_rate": learning_rate,
            **metrics_of_search,
            **mean_metrics(names, records, learner),
        }
        played, metrics = game_metrics(decisions, learner)
        return played, metrics | {f"learning/{name}": value for name, value in learned.items()}

    @torch.no_grad()
    def choose(
        self,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """Draw actions from the policy; its logits stand beside them."""
        outputs = self.player(inputs.to(self.learner.device), precision=self.precision)
        logits = self.actor.action_logits(outputs, action_features, masks)
        return {"actions": sample_legal(logits, masks, uniforms)[0], "logits": logits}

    def search(self, decisions: Decisions, update: int) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Search a share of the decisions: what the window keeps of them, and metrics.

        The target is the policy times the search's factor for each action: actions that the search cannot tell apart
        keep their proportions, and what it finds repeatedly adds up.
        """
        began, config, learner = time.perf_counter(), self.config, self.learner
        random = np.random.default_rng([config.seed, update, SEARCHES, learner.group.rank])
        number = min(len(decisions), max(1, round(config.search_share * len(decisions))))
        rows = random.choice(len(decisions), number, replace=False)
        taken = {
            name: decisions.columns[name].numpy()[rows]
            for name in ("inputs", "action_features", "masks", "logits")
        }
        masks, logits = taken["masks"], np.where(taken["masks"], taken.pop("logits"), -np.inf)
        spec = config.rollout_policy
        # Made anew, so that an agent with its own random numbers plays the same in a resumed run.
        search = make_search(self.game, config, self.policy() if spec == POLICY else spec)
        seen = taken["inputs"][:, : self.game.observation_layout.size]
        answers = search.search(np.ascontiguousarray(seen), masks, int.from_bytes(random.bytes(16), "little"))
        targets = improved_policy(logits, policy_target(answers, config.temperature))
        corrected = (logits.argmax(axis=1) != answers.actions).sum()
        seconds = time.perf_counter() - began
        count, corrected, rollouts, seconds = learner.group.summed(
            len(rows), corrected, answers.visits.sum(), seconds
        )
        metrics = {
            "searched": count,
            "rollouts": rollouts,
            "rollouts_per_second": rollouts * learner.group.size / max(1e-9, seconds),
        }
        if count:
            metrics["corrected"] = corrected / count
        return taken | {"targets": targets}, metrics

    def policy(self) -> PolicyAgent:
        """The actor as it is now, which takes its most probable action."""
        return PolicyAgent(self.actor, self.game)

    def state(self) -> State:
        """Weights, Adam's moments, earlier policies, and the windows of all processes."""
        windows = self.learner.group.gather(self.window)
        arrays = {
            f"window.{rank}.{k}.{name}": part[name]
            for rank, window in enumerate(windows)
            for k, part in enumerate(window)
            for name in COLUMNS
        }
        return self.learner.state() | self.past.state() | arrays

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        self.learner.restore(state)
        self.past.restore(state)
        own = f"window.{self.learner.group.rank}."
        length = sum(name.startswith(own) for name in state) // len(COLUMNS)
        self.window = [{name: state[f"{own}{k}.{name}"] for name in COLUMNS} for k in range(length)]
        for part in self.window:
            shape = (len(part["masks"]), self.game.num_actions)
            if part["masks"].shape != shape or part["targets"].shape != shape:
                raise ValueError("the window does not fit the game")


def make_search(game: Game, config: ExitConfig, policy: AgentSpec) -> RolloutSearch:
    """The search whose rollouts ``policy`` plays. Raises ``ValueError`` for one that cannot."""
    try:
        return RolloutSearch(game, policy, config.search_worlds)
    except ValueError as error:
        raise ValueError(f"rollout_policy: {error}") from error


def improved_policy(logits: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Probabilities (n, A) float32 in proportion to the softmax of ``logits`` (n, A) times ``factors`` (n, A).

    Illegal actions have the logit minus infinity. Where the product is 0 everywhere, the factors alone count.
    """
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)) * factors
    totals = weights.sum(axis=1, keepdims=True)
    found = np.divide(weights, totals, out=factors.astype(np.float64), where=totals > 0)
    return found.astype(np.float32)
