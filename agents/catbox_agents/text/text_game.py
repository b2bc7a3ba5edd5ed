"""A game in words for one learner among agents: the base of environments for language models."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from catbox_agents.arena.match import SEEDS, Match
from catbox_agents.specs import AgentSpec
from catbox_agents.text.answers import FAILURES, parse_action
from catbox_agents.text.observation import LONG, SHORT, call_to_act, text_observation
from catbox_env import Game
from catbox_env.core.checks import check_choice, check_integer, check_seat, short_repr
from catbox_env.core.rng import AGENTS, seed_for
from catbox_env.core.spec import check_game_object

#: What a prompt after the first one holds.
FULL, STATE, DELTA = FORMS = ("full", "state", "delta")
#: What happens when no answer to a prompt was a legal action.
LOSE, RANDOM_LEGAL = FALLBACKS = ("lose", "random_legal")
#: What is counted of the decisions of a game, beside the failures of single answers.
FIRST_TRY, REPAIRED, FALLEN_BACK = DECISIONS = ("first_try", "repaired", "fallen_back")


def reward_of(game: Game, points: float) -> float:
    """``points`` of a whole game, mapped linearly from the game's lowest and highest possible return to [0, 1]."""
    low, high = game.min_utility, game.max_utility
    return min(max((points - low) / (high - low), 0.0), 1.0)  # rounded, points may be a little out of bounds


class TextGame:
    """A game that a language model plays in one seat, and agents in the others.

    The first prompt of a game says who the model is, the rules, the actions, the form of an answer and the position. It
    contains only what the seat sees. The same arguments, seed and answers give the same texts.

    Args:
        game: the game and its rules.
        opponents: an agent for all other seats, or one for each, clockwise from the model: specs of
            `catbox_agents.make`, which are made anew for each game, or agents. Objects of your own that draw random
            numbers without ``seed_decisions`` are not repeated by a seed.
        seat: the seat of the model; None: drawn for each game.
        form: later prompts. ``"delta"``: what has happened since the last one, for a conversation (at the beginning of
            a round the position too); ``"state"``: the position; ``"full"``: again all of the first prompt, with all
            actions so far.
        retries: how often the model is asked again after an answer that is not a legal action, with what is wrong.
        fallback: what follows after that. ``"lose"``: the game ends with the lowest result; ``"random_legal"``: a
            random legal action is played.
        list_actions: whether prompts list the legal actions.

    Attributes:
        seat, seed: of this game; ``done``: whether it is over.
        points: what the seat has been paid so far, in the unit of the game's ``reward``.
        counts: of this game, how many decisions were legal at the ``first_try``, ``repaired`` or ``fallen_back``, and
            how many answers were ``unparsable``, ``unknown`` or ``illegal``.
        skipped: how many deals were over before the model's first decision and were replaced by another.

    Raises ``ValueError`` for other arguments, and for agents that cannot play the game.
    """

    def __init__(
        self,
        game: Game,
        opponents: AgentSpec | Sequence[AgentSpec] = "heuristic",
        *,
        seat: int | None = None,
        form: str = DELTA,
        retries: int = 2,
        fallback: str = LOSE,
        list_actions: bool = False,
    ) -> None:
        self.game = check_game_object(game)
        others = game.num_players - 1
        several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        self._opponents: list[AgentSpec] = list(opponents) if several else [opponents] * others  # type: ignore[list-item, arg-type]
        if len(self._opponents) != others:
            raise ValueError(
                f"opponents={short_repr(opponents)}: {len(self._opponents)} agents for {others} other seats; give "
                "one agent for all, or one for each other seat"
            )
        self._own_seat = seat if seat is None else check_seat("seat", seat, game.num_players)
        self.form = check_choice("form", form, FORMS)
        self.retries = check_integer("retries", retries, 0)
        self.fallback = check_choice("fallback", fallback, FALLBACKS)
        self.list_actions = list_actions
        self.done = True
        self.points = 0.0
        self.counts: Counter[str] = Counter()
        self.skipped = 0

    def reset(self, seed: int | None = None, seat: int | None = None) -> str:
        """Begin a new game; returns the first prompt.

        ``seed``: an integer of 0 or more; None: a new one. ``seat``: of the model in this game; None: as in the
        constructor. The same seed gives every seat the same deal: a duplicate.
        """
        players = self.game.num_players
        self.seed = secrets.randbelow(SEEDS) if seed is None else check_integer("seed", seed, 0)
        self._rng = np.random.default_rng(seed_for(AGENTS, self.seed))
        drawn, chosen = int(self._rng.integers(players)), self._own_seat if seat is None else seat
        self.seat = drawn if chosen is None else check_seat("seat", chosen, players)
        seats: list[AgentSpec | None] = [None] * players
        for turn, opponent in enumerate(self._opponents, 1):
            seats[(self.seat + turn) % players] = opponent
        self.skipped, deal = 0, self.seed
        while True:
            self._match = Match(self.game, seats, deal)
            self._others_play()
            if not self._match.is_over:
                break
            self.skipped, deal = self.skipped + 1, int(self._rng.integers(2**63))
        self.done, self.points, self._failed = False, self._match.state.returns()[self.seat], 0
        self.counts = Counter(dict.fromkeys((*DECISIONS, *FAILURES), 0))
        return self._position(LONG, with_history=self.form != STATE)

    def step(self, answer: object) -> tuple[str, float, bool]:
        """Play the action that ``answer`` names, then the agents up to the model's next decision.

        Returns the next prompt, the reward and whether the game is over. The reward is 0 before the end, then the
        ``points`` of the whole game as `reward_of` them, from 0 to 1.

        An answer that names no legal action (`parse_action`) is told what is wrong, until ``retries`` are used up.
        Raises ``ValueError`` when the game is over or has not begun.
        """
        if self.done:
            raise ValueError("no game is under way: call reset()")
        parsed = parse_action(answer, self._match.state)
        action, message = parsed.action, ""
        if parsed.failure is not None:
            self.counts[parsed.failure] += 1
            self._failed += 1
            left = self.retries + 1 - self._failed
            if left > 0:
                return f"{parsed.message}\nAnswer again; tries left: {left}.", 0.0, False
            self.counts[FALLEN_BACK] += 1
            if self.fallback == LOSE:
                self.points, message = float(self.game.min_utility), f"{parsed.message}\nNo tries are left.\n"
                return self._end(message)
            action = int(self._rng.choice(self._match.state.legal_actions()))
            name = self.game.action_to_string(action)
            message = f"{parsed.message}\nNo tries are left, so a random legal action was played: {name}.\n"
        else:
            self.counts[REPAIRED if self._failed else FIRST_TRY] += 1
        assert action is not None, "without a failure there is an action"
        return self._play(action, message)

    def record(self) -> dict[str, Any]:
        """The game so far, hidden cards included: deals, actions, returns, as a line of a file of saved games."""
        return self._match.record()

    def _play(self, action: int, message: str) -> tuple[str, float, bool]:
        match, self._failed = self._match, 0
        first = len(match.actions)
        match.play(self.seat, action)
        self._others_play()
        self.points = match.state.returns()[self.seat]
        events = [event.text for step in match.events(self.seat, first) for event in step]
        happened = "".join(f"{text}.\n" for text in events)
        if match.is_over:
            return self._end(message + happened)
        if self.form == FULL:
            return message + self._position(LONG, with_history=True), 0.0, False
        if self.form == STATE:
            return message + self._position(SHORT), 0.0, False
        new_round = any(state.round_ended for state in match.states[first + 1 :])
        if new_round:
            return f"{message}{happened}\n{self._position(SHORT)}", 0.0, False
        return message + happened + call_to_act(match.state, self.seat, self.list_actions), 0.0, False

    def _end(self, message: str) -> tuple[str, float, bool]:
        self.done = True
        return (
            f"{message}The game is over. Your result: {self.points:g}.",
            reward_of(self.game, self.points),
            True,
        )

    def _others_play(self) -> None:
        while not self._match.is_over and self._match.current_player != self.seat:
            self._match.play_agent()

    def _position(self, form: str, with_history: bool = False) -> str:
        state = self._match.state
        history = state.history_observation(self.seat) if with_history else None
        return text_observation(state, self.seat, form=form, history=history, list_actions=self.list_actions)
