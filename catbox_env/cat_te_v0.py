"""Cat Te for PettingZoo: a no-trump trick-taking game from South-East Asia in which only the last trick counts.

``docs/cat_te_v0.md`` has tables of options, actions and observation; for any rules ask ``help(Rules)``,
``game.describe_actions()`` and ``game.observation_layout.table()``.

Actions: They are the same under all rules. A card is ``rank * 4 + suit``; ranks 0 (two) .. 12 (ace), suits clubs,
diamonds, hearts, spades. In the fifth trick of laos and vietnamese the followers choose blind. CLAIM takes the card
above the upturned one, and the turn goes on; SHOW is possible only on the first turn of a round.

Observation: The sixth trick leaves no choice, so it is played at once after the fifth. With ``history=True`` the cards
that others fold or choose blind are -1.

Rewards, in antes, are zero until a round ends: the winner gets 1 from each other player, or 2 for all four early
tricks with four or more players (laos, vietnamese) and for a shown hand with ``instant_wins_double``. With a side pot
each also pays ``side_pot``, a claimer gets the whole of it, and what is left after the last round is returned in equal
parts. They sum to zero over a game. ``infos[agent]`` then holds ``score`` (antes of the round), ``won_round``,
``tricks_won``, ``eliminated``, ``showed`` and ``claimed``. All agents terminate together after the last round; nothing
is ever truncated.

Versions: v0: the first.
"""

from __future__ import annotations

from catbox_env.adapters.modules import make_env, make_raw_env
from catbox_env.games.cat_te.rules import Deal, Rules

__all__ = ["Deal", "Rules", "env", "raw_env"]

env = make_env(__name__)
"""The environment in PettingZoo's wrappers."""
raw_env = make_raw_env(__name__)
"""The environment without wrappers."""
