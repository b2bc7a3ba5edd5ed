"""The games of a submission: their actions alone, because the deals follow from their numbers.

They can be played again, with the agents asked what they would do: `ReplayTask`.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent
from catbox_agents.arena.results import Block
from catbox_agents.arena.seatings import Asking, Players, Task, play_block
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import ask_agent, ask_policy
from catbox_env import Vec
from catbox_env.core.checks import short_repr

#: A policy may prefer another action than recorded if that has at least this share of its probability: processors round
#: differently.
NEARLY_EQUAL = 0.9999
#: As many differences of an agent are listed in a block.
LISTED = 3


class ActionRecorder:
    """Records the actions of a batch of games, as one text."""

    has_policies = False

    def __init__(self, num_games: int) -> None:
        self.actions: list[list[int]] = [[] for _ in range(num_games)]

    def moved(self, vec: Vec, rows: NDArray[np.int64]) -> None:
        """Nothing: the deals follow from their numbers."""

    def acted(self, rows: NDArray[np.int64], actions: NDArray[np.int64], policies: Sequence[Any]) -> None:
        """Record the actions of ``rows``."""
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            self.actions[row].append(action)

    def games(
        self, first_deal: int, names: Sequence[str], line_ups: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> list[str]:
        """The one text, see `packed`."""
        return [packed(self.actions)]


def packed(games: Sequence[Sequence[int]]) -> str:
    """The actions of some games as text: compressed, in base 64.

    They are numbers of 16 bits, how many actions each game has and then all actions: first the low byte of each, then
    the high bytes, which compress to almost nothing.
    """
    numbers = [len(actions) for actions in games] + [action for actions in games for action in actions]
    low_and_high = np.array(numbers, "<u2").view(np.uint8).reshape(-1, 2).T
    return base64.b64encode(zlib.compress(low_and_high.tobytes(), 9)).decode()


def unpacked(text: str, num_games: int, max_length: int) -> NDArray[np.int64]:
    """The actions (num_games, max_length) in `packed` games, -1 after the end of each.

    Raises ``ValueError`` for a text that holds anything else.
    """
    most = 2 * num_games * (1 + max_length)
    try:
        decompressor = zlib.decompressobj()
        data = decompressor.decompress(base64.b64decode(text, validate=True), most + 1)
        if len(data) > most or not decompressor.eof or len(data) % 2:
            raise ValueError("they are longer than such games can be, or cut off")
    except (ValueError, zlib.error) as error:
        raise ValueError(f"actions {short_repr(text)}: {error}") from None
    numbers = np.frombuffer(data, np.uint8).reshape(2, -1).astype(np.int64)
    numbers = numbers[0] + 256 * numbers[1]
    lengths, actions = numbers[:num_games], numbers[num_games:]
    if len(lengths) < num_games or lengths.sum() != len(actions) or (lengths > max_length).any():
        raise ValueError(f"actions {short_repr(text)}: expected those of {num_games} games")
    ends = lengths.cumsum().tolist()
    if text != packed(
        [actions[end - length : end].tolist() for end, length in zip(ends, lengths, strict=True)]
    ):
        raise ValueError(f"actions {short_repr(text)}: expected them as catbox bench run packs them")
    games = np.full((num_games, max_length), -1)
    games[np.arange(max_length) < lengths[:, None]] = actions
    return games


@dataclass(frozen=True)
class ReplayTask(Task):
    """A block that was played: its `packed` ``actions``, and the share of its decisions, drawn anew each time, in which
    each agent of the seating is ``asked`` what it does.

    The block that it plays has for each agent a tally: how many decisions were ``compared``, how many ``differ``, and
    the first LISTED ``differences`` in words.
    """

    actions: str = field(default="", repr=False)
    asked: tuple[float, ...] = ()

    def play(self, players: Players) -> Block:
        """Play it as recorded. Raises ``ValueError`` for actions that are illegal, and for games that end elsewhere."""
        seating, game = players.setup.seatings[self.seating], players.setup.game
        games = unpacked(self.actions, self.num_deals * seating.rotations, game.max_game_length)
        return play_block(players, self, make_asking=partial(_Following, games=games, asked=self.asked))


class _Following(Asking):
    """Takes the actions of ``games`` (n, T), and compares what the agents would do, in the shares ``asked``."""

    def __init__(self, *about: Any, games: NDArray[np.int64], asked: Sequence[float]) -> None:
        super().__init__(*about)
        self.games, self.asked = games, asked
        self.compared, self.differing = (np.zeros(len(self.agents), np.int64) for _ in range(2))
        self.differences: list[list[str]] = [[] for _ in self.agents]
        self.moves = 0
        self._random = np.random.default_rng()  # nobody can know which decisions are compared

    def __call__(self, asked: NDArray[np.int64], vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        seeds, move = self.seeds(rows, self._move), self._move
        self._move += 1
        self.moves += len(rows)
        actions = self.games[rows, move] if move < self.games.shape[1] else np.full(len(rows), -1)
        legal = (actions >= 0) & (actions < vec.action_mask.shape[1])
        legal &= vec.action_mask[rows, np.where(legal, actions, 0)].astype(bool)
        if not legal.all():
            row = int(rows[np.argmin(legal)])
            action = int(actions[np.argmin(legal)])
            what = (
                "the game is not over, but has no more actions"
                if action < 0
                else f"action {action} is illegal"
            )
            raise ValueError(f"game {row + 1} of the block, move {move + 1}: {what}")
        for i, (agent, label) in enumerate(zip(self.agents, self.labels, strict=True)):
            places = np.flatnonzero(asked == i)
            self.decisions[i] += len(places)
            places = places[self._random.random(len(places)) < self.asked[i]]
            if len(places):
                answers = ask_agent(agent, label, vec, rows[places], seeds[places])
                self.compared[i] += len(places)
                differing = self._differing(agent, label, vec, rows[places], actions[places], answers)
                self.differing[i] += len(differing)
                for k in differing[: LISTED - len(self.differences[i])].tolist():
                    recorded, now = (
                        vec.game.action_to_string(int(one[k])) for one in (actions[places], answers)
                    )
                    game = f"game {int(rows[places[k]]) + 1} of the block, move {move + 1}"
                    self.differences[i].append(f"{game}: {recorded}, now {now}")
        return actions

    def _differing(
        self,
        agent: Agent,
        label: str,
        vec: Vec,
        rows: NDArray[np.int64],
        actions: NDArray[np.int64],
        answers: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The places of those of the recorded ``actions`` (n,) that the agent would not have taken."""
        other = np.flatnonzero(answers != actions)
        if not len(other) or not isinstance(agent, PolicyAgent) or not agent.greedy:
            return other
        policies = ask_policy(agent, label, vec, rows[other])
        of_recorded = policies[np.arange(len(other)), actions[other]]
        return other[of_recorded < NEARLY_EQUAL * policies.max(axis=1)]

    def tallies(self) -> list[dict[str, Any]]:
        """What was compared and what differs, of each agent: see `ReplayTask`.

        Raises ``ValueError`` for games with actions after their end.
        """
        if self.moves != (self.games >= 0).sum():
            raise ValueError("a game of the block has actions after its end")
        return [
            {"compared": int(compared), "differ": int(differing), "differences": differences}
            for compared, differing, differences in zip(
                self.compared, self.differing, self.differences, strict=True
            )
        ]
