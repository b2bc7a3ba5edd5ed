"""One game at a table: people and agents in its seats, what was played, and what each seat may see of it.

It does no input or output: the terminal and the browser show it. The same seed, agents and actions of people give the
same game, because an agent's random numbers depend only on what it is shown and on the number of the action.
"""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from catbox_agents.agent import agent_seed, has_policy
from catbox_agents.arena.records import policy_pairs
from catbox_agents.play import ask_agent, ask_policy
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Event, Game, GameState, Vec
from catbox_env.core.checks import check_integer, check_seat, short_repr
from catbox_env.core.rng import seed_sequence

#: The longest name of a seat.
LONGEST_NAME = 80
#: A new seed for one person is below this, so that it is easy to type.
SEEDS = 10**9
#: Random bits of a new seed for several people: trying all short ones would reveal the others' cards.
SECRET_BITS = 128

_ROW = np.zeros(1, np.int64)

#: What an agent chose: its action; its probabilities as pairs [action, probability], None if it gives none.
Decision = tuple[int, list[list[Any]] | None]


class Match:
    """A game in progress.

    Args:
        game: the game and its rules.
        seats: for each seat the spec of an agent (`catbox_agents.make`), an agent, or None: a person.
        seed: of the deals and of the agents' random numbers; None: a new one.
        deal: the first deal, as ``new_initial_state`` takes it. The seed determines the later ones.

    Attributes (read-only):
        game, seed: as above.
        names: the name of each seat, at most 80 printable characters: the spec of its agent; ``you`` for one person,
            ``person`` for several.
        agents: the agent that plays each seat; None: a person.
        people: the seats of people, also while an agent stands in there.
        states: the position at the beginning and after each action, hidden cards included.
        actions: what was played so far; ``policies``: for each action the agent's probabilities, pairs
            [action, probability], or None if not given.

    Raises ``ValueError`` for a wrong number of seats, an invalid seed or deal, and agents that cannot play the game.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[AgentSpec | None],
        seed: int | None = None,
        deal: Any = None,
    ) -> None:
        if len(seats) != game.num_players:
            raise ValueError(f"{len(seats)} seats: expected {game.num_players}, one for each player")
        self.game = game
        several = sum(seat is None for seat in seats) > 1
        new_seed = secrets.randbits(SECRET_BITS) if several else secrets.randbelow(SEEDS)
        self.seed = new_seed if seed is None else check_integer("seed", seed, 0)
        self.names = _names(seats)
        self.people = [seat for seat, agent in enumerate(seats) if agent is None]
        state = game.new_initial_state(seed=seed_sequence(self.seed).spawn(1)[0], deal=deal)
        # An agent's seed depends only on what it is shown itself.
        self._seeds = [
            agent_seed(seat, state.observation(seat).tobytes()) for seat in range(game.num_players)
        ]
        self.agents = [
            None if agent is None else agent_of(agent, label_of(agent), game, seed)
            for agent, seed in zip(seats, self._seeds, strict=True)
        ]
        self._asked = Vec(game, 1, seed=0, history=True, auto_deal=False)
        self.states = [state]
        self.actions: list[int] = []
        self.policies: list[list[list[Any]] | None] = []

    @property
    def state(self) -> GameState:
        """The position now."""
        return self.states[-1]

    @property
    def current_player(self) -> int:
        """The seat to move; -1 when the game is over."""
        return self.state.current_player

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.state.is_terminal()

    @property
    def stand_ins(self) -> list[int]:
        """The seats of people where an agent stands in."""
        return [seat for seat in self.people if self.agents[seat] is not None]

    @property
    def waits_for_person(self) -> bool:
        """Whether a person is to move."""
        return not self.is_over and self.agents[self.current_player] is None

    @property
    def movers(self) -> list[int]:
        """The seat that took each action."""
        return [state.current_player for state in self.states[:-1]]

    @property
    def rounds(self) -> list[list[int]]:
        """Each seat's points in each finished round; empty for a game whose rounds tell no ``score``."""
        if "score" not in self.game.kernels.info_names:
            return []
        ended = [state for state in self.states[1:] if state.round_ended]
        return [[state.info(seat)["score"] for seat in range(self.game.num_players)] for state in ended]

    @property
    def places(self) -> list[int]:
        """Each seat's place at the end of the game, from 1; seats that share one have the same number."""
        shares = self.state.record.win_shares[: self.game.num_players]
        ranks = list(zip(shares.tolist(), self.state.returns(), strict=True))
        return [1 + sum(other > own for other in ranks) for own in ranks]

    def play(self, seat: int, action: int) -> None:
        """A person in ``seat`` takes ``action``.

        Raises ``ValueError``, and changes nothing, if it is not this seat's turn, if the seat is an agent's, and for an
        illegal action: the message says which rule forbids it.
        """
        seat = check_seat("seat", seat, self.game.num_players)
        if self.is_over:
            raise ValueError("the game is over; start another one")
        if seat != self.current_player:
            raise ValueError(f"it is player_{self.current_player}'s turn, not player_{seat}'s")
        if self.agents[seat] is not None:
            raise ValueError(f"player_{seat} is the agent {self.names[seat]!r}, and plays by itself")
        self._apply(action, None)

    def play_agent(self, decision: Decision | None = None) -> int:
        """Let the agent to move play; returns its action. ``decision``: the result of `thought` in this position.

        Raises ``ValueError``, and changes nothing, if no agent is to move or the agent returns anything but a legal
        action; `AgentError` for an error in its code.
        """
        action, policy = decision or self.thought()()
        self._apply(action, policy)
        return action

    def thought(self) -> Callable[[], Decision]:
        """A function that computes the agent's decision. It changes nothing, and may run in another thread.

        Only one of them may run at a time. Raises ``ValueError`` if no agent is to move; the function raises what
        `play_agent` does.
        """
        seat = self.current_player
        agent = self.agents[seat] if seat >= 0 else None
        if agent is None:
            who = "the game is over" if seat < 0 else f"player_{seat} is a person: call play(seat, action)"
            raise ValueError(f"no agent is to move: {who}")
        self._asked.set_states(self.state)
        # The same again after an undo.
        seed = np.array([agent_seed(self._seeds[seat], len(self.actions)) & (2**64 - 1)], np.uint64)

        def think() -> Decision:
            action = int(ask_agent(agent, self.names[seat], self._asked, _ROW, seed)[0])
            policy = None
            if has_policy(agent):
                policy = policy_pairs(ask_policy(agent, self.names[seat], self._asked, _ROW)[0])
            return action, policy

        return think

    def stand_in(self, seat: int, agent: AgentSpec | None) -> None:
        """Let ``agent`` play on in the seat of a person; None: the person plays again.

        Raises ``ValueError``, and changes nothing, for another seat, and for an agent that cannot play the game.
        """
        if seat not in self.people:
            raise ValueError(f"seat={short_repr(seat)}: expected the seat of a person, one of {self.people}")
        made = None if agent is None else agent_of(agent, label_of(agent), self.game, self._seeds[seat])
        self.agents[seat] = made

    def play_on(self, actions: Sequence[int], policies: Sequence[list[list[Any]] | None]) -> None:
        """Restore a game: replay the actions of all seats, with the policies that were given then.

        Raises ``ValueError`` for an illegal action, or for lists of different lengths.
        """
        for action, policy in zip(actions, policies, strict=True):
            self._apply(action, policy)

    def undo(self, seat: int) -> int:
        """Take back the last action of the person in ``seat`` and all later ones; returns how many those were.

        Raises ``ValueError``, and changes nothing, if the seat has not acted, if it is an agent's, or if other people
        sit at the table.
        """
        if self.people != [check_seat("seat", seat, self.game.num_players)]:
            who = "an agent's seat" if seat not in self.people else "not the only person at the table"
            raise ValueError(
                f"player_{seat} is {who}: only a person alone with agents can take back an action"
            )
        movers = self.movers
        if seat not in movers:
            raise ValueError("there is nothing to take back: you have not acted yet")
        taken = movers[::-1].index(seat) + 1
        del self.states[-taken:], self.actions[-taken:], self.policies[-taken:]
        return taken

    def events(self, seat: int | None, first: int = 0) -> list[list[Event]]:
        """What ``seat`` sees of each action from number ``first`` on, counted from 0; None: everything."""
        steps = zip(self.states[first:], self.actions[first:], self.states[first + 1 :], strict=False)
        return [self.game.events(*step, seat) for step in steps]

    def record(self) -> dict[str, Any]:
        """The game so far as a line of a file of records (`catbox_agents.arena.records.write_records`)."""
        begun = [state for state in self.states[1:] if state.round_ended and not state.is_terminal()]
        deals = [self.game.deal_of(state) for state in (self.states[0], *begun)]
        record = {
            "seed": self.seed,
            "agents": list(self.names),
            "deals": deals,
            "actions": list(self.actions),
            "returns": self.state.returns() if self.is_over else None,
        }
        if any(policy is not None for policy in self.policies):
            record["policies"] = list(self.policies)
        return record

    def _apply(self, action: int, policy: list[list[Any]] | None) -> None:
        state = copy.deepcopy(self.state)
        state.apply_action(action)
        self.states.append(state)
        self.actions.append(int(action))
        self.policies.append(policy)


def _names(seats: Sequence[AgentSpec | None]) -> tuple[str, ...]:
    person = "you" if sum(seat is None for seat in seats) == 1 else "person"
    names = [person if seat is None else label_of(seat) for seat in seats]
    return tuple(name if len(name) <= LONGEST_NAME else f"...{name[3 - LONGEST_NAME :]}" for name in names)


def with_names(text: str, names: Sequence[str]) -> str:
    """The text of an event, with its name, if it has one, added to a seat at the beginning."""

    def named(seat: re.Match[str]) -> str:
        name = names[int(seat[1])]
        return f"{seat[0]} ({name})" if name else seat[0]

    return re.sub(r"^player_(\d+)\b(?!')", named, text)
