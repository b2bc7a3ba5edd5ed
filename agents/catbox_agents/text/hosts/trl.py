"""Games as environments of TRL: a model plays a seat by calling tools, and is paid at the end of the game.

game = make_game("cat_in_the_box_v0", num_players=3)
trainer = GRPOTrainer(
    model,
    args=GRPOConfig(max_tool_calling_iterations=30, ...),
    train_dataset=Dataset.from_list(duplicate_rows(game, deals=1000)),
    environment_factory=functools.partial(CatInTheBoxTools, game, opponents="best"),
)

All completions of a group play the same deal in the same seat, so GRPO compares them on a duplicate.
"""

from __future__ import annotations

import json
from typing import Any

from catbox_agents.text.observation import answer_format
from catbox_agents.text.text_game import TextGame
from catbox_env import Game
from catbox_env.core.checks import check_integer

__all__ = ["CatInTheBoxTools", "GameTools", "duplicate_rows"]

#: What the prompts say instead of the form of an answer in JSON.
ASKED = "Choose an action by calling a tool."


class GameTools:
    """One game for one rollout; its subclasses give it tools, which are their public methods.

    Args:
        game: the game.
        table: the settings of `TextGame`.
    """

    def __init__(self, game: Game, **table: Any) -> None:
        self._table = TextGame(game, **table)
        self._reward = 0.0

    def reset(self, seed: int, seat: int | None = None, **_: Any) -> str:
        """Begin the game of a row of the data set; returns what follows its prompt."""
        self._reward = 0.0
        return self._told(self._table.reset(seed, seat))

    def get_reward(self) -> float:
        """The reward of the game (`TextGame.step`); 0, the lowest, if the rollout ended before it."""
        return self._reward

    def _act(self, action: str) -> str:
        """Play the action with this name; returns what the model is told. A finished game raises ``ValueError``."""
        text, self._reward, _ = self._table.step(json.dumps({"action": action}))
        return self._told(text)

    def _told(self, text: str) -> str:
        return text.replace(answer_format(self._table.game), ASKED)


class CatInTheBoxTools(GameTools):
    """The actions of Cat in the Box."""

    def discard(self, rank: int) -> str:
        """Put a card of your hand aside.

        Args:
            rank: The rank of the card.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"discard {rank}")

    def bid(self, tricks: int) -> str:
        """Say how many tricks you are going to win.

        Args:
            tricks: The number of tricks.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"bid {tricks}")

    def play(self, colour: str, rank: int) -> str:
        """Play a card of your hand to the trick.

        Args:
            colour: The colour that you declare for it: red, blue, yellow or green.
            rank: The rank of the card.

        Returns:
            What has happened since then, and whether it is your turn.
        """
        return self._act(f"play {colour} {rank}")

    def paradox(self) -> str:
        """Cause a paradox, when you cannot play any card.

        Returns:
            The result of the round.
        """
        return self._act("paradox")


def duplicate_rows(game: Game, deals: int, *, seed: int = 0, prompt: str = "") -> list[dict[str, Any]]:
    """Rows of a data set: ``deals`` deals, each from every seat.

    Returns dicts with ``prompt`` (a message of the user with this text, to which a game adds its own), ``seed`` and
    ``seat``. The seeds are ``seed``, ``seed + 1`` ..

    Raises ``ValueError`` for fewer than one deal and for a negative seed.
    """
    first = check_integer("seed", seed, 0)
    return [
        {"prompt": [{"role": "user", "content": prompt}], "seed": deal, "seat": seat}
        for deal in range(first, first + check_integer("deals", deals, 1))
        for seat in range(game.num_players)
    ]
