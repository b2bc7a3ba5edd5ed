"""Cat Te for PettingZoo: a no-trump trick-taking game from South-East Asia in which only the last trick counts.

Creation: ``env(**options)`` (wrapped) or ``raw_env(**options)`` (bare: train and search on this one).

| option | default | meaning |
|---|---|---|
| ``num_players`` | 4 | 2-6 |
| ``region`` | "laos" | "khmer": six tricks, nobody is out; "laos", "vietnamese": out without a trick after four |
| ``offsuit_faceup`` | True | whether a player without the led suit may play another card face up |
| ``instant_wins`` | True | whether four of a kind, six of one suit or six from A, 2, 3, 4, 5 may be shown to win |
| ``instant_wins_double`` | False | whether such a win is paid twice |
| ``side_pot`` | 0 | antes that each player puts into the side pot every round; 0: there is none |
| ``rounds`` | 1 | 1-127, or "match": as many as players; the winner of a round deals the next |
| ``dealer`` | -1 | who deals the first round; -1: the last seat, so that seat 0 leads |
| ``rules`` | None | a whole ``cat_te_v0.Rules`` instead of single fields |
| ``reward`` | "score" | "score": antes; "margin": less the others' mean; "win": 1 shared among the winners |
| ``render_mode`` | None | "ansi": text; "human": printed in colour; "rgb_array": a picture, uint8 (H, W, 3) |
| ``history`` | False | whether observations carry the history |

Actions: 106 under every rule set. A card is ``rank * 4 + suit``; ranks 0 (two) .. 12 (ace), suits clubs, diamonds,
hearts, spades.

| ids | meaning |
|---|---|
| ``0 .. 51`` | play card id face up; in the fifth trick of laos and vietnamese the followers choose it blind |
| ``52 .. 103`` | fold card id - 52: put it face down |
| ``104`` | CLAIM the side pot with the card above the upturned one; the turn goes on |
| ``105`` | SHOW an instant win; only on the first turn of a round |

Observation: ``{"observation": int8 (O,), "action_mask": int8 (A,)}``. Seats are relative: 0 is the observer, 1 the
next clockwise. The vector's parts, in order; ``game.observation_layout`` gives offsets and views:

| part | shape | meaning |
|---|---|---|
| ``hand`` | 52 | own cards |
| ``folded`` | 52 | own folded cards |
| ``chosen`` | 52 | own blind choice until all are shown, one-hot |
| ``faceup`` | P, 6, 17 | card shown by seat and trick: rank (13) and suit (4), one-hot; zeros: folded or none yet |
| ``num_folded`` | P | cards folded |
| ``early_tricks`` | P | tricks won among the first four |
| ``tricks_won`` | P | tricks won in this round |
| ``in_round`` | P | 1: not eliminated |
| ``led_suit`` | 4 | led suit, one-hot; zeros: none |
| ``leader`` | P | who led or will lead this trick, one-hot |
| ``to_move`` | P | one-hot; zeros: the game is over |
| ``trick`` | 6 | the trick under way, one-hot; after the end the last one played |
| ``upturned`` | 52 | the upturned card, one-hot (only with a side pot) |
| ``claimed`` | P | who claimed in this round, one-hot; zeros: nobody (only with a side pot) |
| ``side_pot`` | 1 | antes in the side pot / ``side_pot``, at most 127 shown (only with a side pot) |
| ``dealer`` | P | who dealt this round, one-hot |
| ``rounds_left`` | 1 | rounds after this one (only for more than one round) |
| ``scores`` | P | antes won in the finished rounds, within -128..127 (only for more than one round) |
| ``seat`` | P | the observer's own seat, counted from seat 0, one-hot (only for more than one round) |
| ``claim_trick`` | 5 | tricks completed when the pot was claimed, one-hot; zeros: not claimed (only with a side pot) |
| ``exact_scores`` | P, 3 | scores as digits to base 256, lowest first (only where one may be beyond -128..127) |

The sixth trick leaves no choice, so it is played at once after the fifth. With ``history=True`` the cards that others
fold or choose blind are -1.

Rewards, in antes, are zero until a round ends: the winner gets 1 from each other player, or 2 for all four early
tricks with four or more players (laos, vietnamese) and for a shown hand with ``instant_wins_double``. With a side pot
each also pays ``side_pot``, a claimer gets the whole of it, and what is left after the last round is returned in equal
parts. They sum to zero over a game. ``infos[agent]`` then holds ``score`` (antes of the round), ``won_round``,
``tricks_won``, ``eliminated``, ``showed`` and ``claimed``. All agents terminate together after the last round; nothing
is ever truncated.

Versions: v0: the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catbox_env.games.cat_te.rules import Deal, Rules

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from catbox_env.adapters.aec import AECGame

__all__ = ["Deal", "Rules", "env", "raw_env"]

GAME_ID = "cat_te_v0"


def raw_env(**options: Any) -> AECGame:
    """The environment without wrappers; an illegal action raises ``ValueError`` and changes nothing."""
    from catbox_env.adapters.aec import AECGame  # needs PettingZoo; the rest of this module does not

    return AECGame(GAME_ID, **options)


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's wrappers; an illegal action ends the game with its illegal reward."""
    from catbox_env.adapters import aec

    return aec.env(GAME_ID, **options)
