"""Cat in the Box for PettingZoo: a trick-taking game in which a card has no colour until it is played.

``docs/cat_in_the_box_v0.md`` has tables of options, actions and observation; for any rules ask ``help(Rules)``,
``game.describe_actions()`` and ``game.observation_layout.table()``.

Options: Fields that are ``None`` follow from the others. ``Rules.tiny()`` is small enough to be solved exactly.

Actions: With R ranks and B bids, action ``R + B + k`` plays colour ``k // R`` (of red, blue, yellow, green) and rank
``k % R + 1``.

Observation: Axes are seats, colours and ranks, in this order, but the last axis of ``board`` is the seat.

``may_hold`` is all ones until a forced red lead: it reveals that its player could declare no card in another colour,
which limits the ranks it can hold. The observer's own row is always ones. So a state sampled for the seat that had to
lead red does not contain the limit that the others know, unless its history is given.

Rewards are zero until a round ends. ``infos[agent]`` then holds ``score``, ``tricks_won``, ``bid``, ``bonus`` and
``paradox``. All agents terminate together after the last round; nothing is ever truncated.

Versions: v0: the first.
"""

from __future__ import annotations

from catbox_env.adapters.modules import make_env, make_raw_env
from catbox_env.games.cat_in_the_box.rules import Deal, Rules

__all__ = ["Deal", "Rules", "env", "raw_env"]

env = make_env(__name__)
"""The environment in PettingZoo's wrappers."""
raw_env = make_raw_env(__name__)
"""The environment without wrappers."""
