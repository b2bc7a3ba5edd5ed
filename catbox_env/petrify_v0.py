"""Petrify for PettingZoo: a perfect-information game in which tiles run out; a player that cannot move is petrified.

Creation: ``env(**options)`` (wrapped) or ``raw_env(**options)`` (bare: train and search on this one).

| option | default | meaning |
|---|---|---|
| ``num_players`` | 2 | 2-4 |
| ``size`` | 4 | N = 3-8, rows and columns of the board |
| ``move_rule`` | "exact" | "exact": a number X gives exactly X steps; "up_to": 1 to X; a wildcard always gives 1 to 4 |
| ``teleports`` | 0 | teleport tiles; the k-th (from 0) has colour k % 5, 0 being colourless |
| ``walls`` | 0 | closed tiles, at most N |
| ``wildcards`` | 0 | tiles with an energy of up to 4 |
| ``zeros`` | 0 | tiles on which all players swap places |
| ``rules`` | None | a whole ``petrify_v0.Rules``, such as ``Rules.full()``, instead of single fields |
| ``reward`` | "score" | see below |
| ``render_mode`` | None | "ansi": text; "human": printed in colour; "rgb_array": a picture, uint8 (H, W, 3) |
| ``history`` | False | whether observations carry the history |

Actions, ``Discrete(N * N)``:

| ids | meaning |
|---|---|
| ``0 .. N*N-1`` | end the walk on cell ``row * N + column``; after landing on a teleport, come out on that cell |

A player that lands on a teleport acts again at once, if the teleport leads anywhere.

Observation: ``{"observation": int8 (O,), "action_mask": int8 (A,)}``. Seats are relative: 0 is the observer, 1 the
next in turn. The vector's parts, in order; ``game.observation_layout`` gives offsets and views:

| part | shape | meaning |
|---|---|---|
| ``symbols`` | 4, N, N | symbol 1-4 of each cell, one-hot; zeros: not a number card |
| ``colors`` | 5, N, N | colour 0-4 of each cell, one-hot; 0: colourless |
| ``kinds`` | 5, N, N | number, wall, wildcard, zero, teleport: kind of each tile, one-hot |
| ``open`` | N, N | 1: the cell is not closed; closed cells keep their planes above |
| ``positions`` | P, N, N | cell of each pawn, one-hot, petrified ones included |
| ``to_move`` | P | one-hot; zeros: the game is over |
| ``teleporting`` | 1 | 1: the seat to move stands on a teleport and chooses where it comes out |
| ``in_game`` | P | 1: the seat is not petrified |
| ``seat`` | P | own absolute seat, one-hot |
| ``place`` | P, P | finishing place of each seat, one-hot, 0 the winner's; zeros: not decided |
| ``end_cells`` | P, N, N | where each seat in the game could go if it were to move; of the mover: the mask |
| ``end_cells_after`` | P, N, N | for each legal action, 1 + how many end cells each seat would have |

``end_cells_after`` is counted with the pawn of the seat to move on the action's cell and the cell it left closed,
before the landing takes effect, as if each seat were to move then; the count stops at 6, so the part holds 1 to 7.
It is zero for actions that are not legal and for petrified seats. These last two parts follow from the others, and are
zero when the game is over.

Everybody sees everything: ``state()`` is the observation of seat 0, and ``sample_state`` gives the state itself.

Rewards are zero until the game ends; then ``"score"`` pays ``1 - 2k / (P - 1)`` to the seat in place k (0 is the
winner), ``"margin"`` that less the others' mean, ``"win"`` 1 to the winner and 0 to the others. ``infos[agent]`` then
holds ``place``. All agents terminate together, when only one player is not petrified; nothing is ever truncated. A
petrified player stays an agent but no longer acts.

Versions: v0: the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catbox_env.games.petrify.rules import Deal, Rules

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from catbox_env.adapters.aec import AECGame

__all__ = ["Deal", "Rules", "env", "raw_env"]

GAME_ID = "petrify_v0"


def raw_env(**options: Any) -> AECGame:
    """The environment without wrappers; an illegal action raises ``ValueError`` and changes nothing."""
    from catbox_env.adapters.aec import AECGame  # needs PettingZoo; the rest of this module does not

    return AECGame(GAME_ID, **options)


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's wrappers; an illegal action ends the game with its illegal reward."""
    from catbox_env.adapters import aec

    return aec.env(GAME_ID, **options)
