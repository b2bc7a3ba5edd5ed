"""Petrify for PettingZoo: a perfect-information game in which tiles run out; a player that cannot move is petrified.

``docs/petrify_v0.md`` has tables of options, actions and observation; for any rules ask ``help(Rules)``,
``game.describe_actions()`` and ``game.observation_layout.table()``.

Options: ``Rules.full()`` has every kind of tile on a board of 5 x 5; ``Rules.tiny()`` can be solved exactly.

Actions: The walk ends on the cell ``row * size + column``. A player that lands on a teleport acts again at once, if
the teleport leads anywhere: the action is then the cell on which it comes out.

Observation: The last two axes of a board are rows and columns.

``end_cells_after`` is counted as if each seat were to move, with the cell that the pawn left closed; petrified seats
have zeros. These last two parts follow from the others, and are zero when the game is over.

Everybody sees everything: ``state()`` is the observation of seat 0, and ``sample_state`` gives the state itself.

Rewards are zero until the game ends; then ``"score"`` pays ``1 - 2k / (P - 1)`` to the seat in place k (0 is the
winner), ``"margin"`` that less the others' mean, ``"win"`` 1 to the winner and 0 to the others. ``infos[agent]`` then
holds ``place``. All agents terminate together, when only one player is not petrified; nothing is ever truncated. A
petrified player stays an agent but no longer acts.

Versions: v0: the first.
"""

from __future__ import annotations

from catbox_env.adapters.modules import make_env, make_raw_env
from catbox_env.games.petrify.rules import Deal, Rules

__all__ = ["Deal", "Rules", "env", "raw_env"]

env = make_env(__name__)
"""The environment in PettingZoo's wrappers."""
raw_env = make_raw_env(__name__)
"""The environment without wrappers."""
