"""Cat in the Box for PettingZoo: a trick-taking game in which a card has no colour until it is played.

Creation: ``env(**options)`` (wrapped) or ``raw_env(**options)`` (bare: train and search on this one).

| option | default | meaning |
|---|---|---|
| ``num_players`` | 4 | 2-5; the other fields of ``Rules`` follow from it and can be given too |
| ``rules`` | None | a whole ``cat_in_the_box_v0.Rules``, such as ``Rules.tiny()``, instead of single fields |
| ``reward`` | "score" | "score": round points; "margin": less the others' mean; "win": 1 shared among the winners |
| ``render_mode`` | None | "ansi": text; "human": printed in colour; "rgb_array": a picture, uint8 (H, W, 3) |
| ``history`` | False | whether observations carry the history |

Actions, with R ranks, B bids, C colours (red, blue, yellow, green): 50 for five players, 45 for four, 35 for three,
26 for two.

| ids | meaning |
|---|---|
| ``0 .. R-1`` | discard rank id + 1 |
| ``R .. R+B-1`` | bid ``bids[id - R]`` |
| ``R+B .. R+B+CR-1`` | play: with ``k = id - R - B``, colour ``k // R``, rank ``k % R + 1`` |
| ``R+B+CR`` | PARADOX (legal only when nothing else is) |

Observation: ``{"observation": int8 (O,), "action_mask": int8 (A,)}``. Seats are relative: 0 is the observer, 1 the
next clockwise. The vector's parts, in order; ``game.observation_layout`` gives offsets and views:

| part | shape | meaning |
|---|---|---|
| ``phase`` | 3 | discard, bid, play, one-hot |
| ``hand`` | R | own cards of each rank |
| ``discarded`` | R | own discard, one-hot |
| ``board`` | C, R, P | owner of each cell, one-hot |
| ``neutral`` | C, R | neutral tokens (only where cards are revealed) |
| ``x_tokens`` | P, C | 1: may still declare the colour |
| ``bids`` | P, B | one-hot; zeros: not made |
| ``tricks_won`` | P | in this round |
| ``led`` | C | led colour, one-hot; zeros: none |
| ``trick`` | P, C, R | card of the current trick, one-hot |
| ``leader`` | P | who led or will lead this trick, one-hot |
| ``start_player`` | P | who began this round, one-hot |
| ``to_move`` | P | one-hot; zeros: the game is over |
| ``trump_broken`` | 1 | a player's token lies on red |
| ``tricks_left`` | 1 | tricks not completed in this round |
| ``scores`` | P | points of the finished rounds (only for more than one round) |
| ``rounds_left`` | 1 | rounds after this one (only for more than one round) |
| ``may_hold`` | P, R | 1: by public knowledge, the seat's hand can still hold the rank |
| ``exact_scores`` | P, 3 | scores as digits to base 256, lowest first (only where one may be beyond -128..127) |

``may_hold`` is all ones until a forced red lead: it reveals that its player could declare no card in another colour,
which limits the ranks it can hold. The observer's own row is always ones. So a state sampled for the seat that had to
lead red does not contain the limit that the others know, unless its history is given.

Rewards are zero until a round ends. ``infos[agent]`` then holds ``score``, ``tricks_won``, ``bid``, ``bonus`` and
``paradox``. All agents terminate together after the last round; nothing is ever truncated.

Versions: v0: the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catbox_env.games.cat_in_the_box.rules import Deal, Rules

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from catbox_env.adapters.aec import AECGame

__all__ = ["Deal", "Rules", "env", "raw_env"]

GAME_ID = "cat_in_the_box_v0"


def raw_env(**options: Any) -> AECGame:
    """The environment without wrappers; an illegal action raises ``ValueError`` and changes nothing."""
    from catbox_env.adapters.aec import AECGame  # needs PettingZoo; the rest of this module does not

    return AECGame(GAME_ID, **options)


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's wrappers; an illegal action ends the game with its illegal reward."""
    from catbox_env.adapters import aec

    return aec.env(GAME_ID, **options)
