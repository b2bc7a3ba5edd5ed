"""Cat in the Box in words: names of actions, and why one is illegal."""

from __future__ import annotations

import numpy as np

from catbox_env.core.events import counted
from catbox_env.games.cat_in_the_box.play.state import BID, DISCARD, NONE, PLAY, RED
from catbox_env.games.cat_in_the_box.rules import COLORS, PHASES, Rules


def action_to_string(rules: Rules, action: int) -> str:
    """``"discard 3"``, ``"bid 2"``, ``"play yellow 7"`` or ``"paradox"``."""
    ranks, bids = rules.num_ranks, rules.bids
    if action < ranks:
        return f"discard {action + 1}"
    if action < rules.first_play:
        return f"bid {bids[action - ranks]}"
    if action == rules.paradox:
        return "paradox"
    color, rank = divmod(action - rules.first_play, ranks)
    return f"play {COLORS[color]} {rank + 1}"


def describe_actions(rules: Rules) -> list[tuple[int, int, str]]:
    """Rows (first id, last id, what they do)."""
    ranks, first_play = rules.num_ranks, rules.first_play
    rows = [(0, ranks - 1, f"discard rank 1..{ranks}")]
    if rules.bids:
        rows.append((ranks, first_play - 1, f"bid {', '.join(map(str, rules.bids))}"))
    for color in range(rules.num_colors):
        first = first_play + color * ranks
        rows.append((first, first + ranks - 1, f"play {COLORS[color]} 1..{ranks}"))
    rows.append((rules.paradox, rules.paradox, "PARADOX (legal only when nothing else is)"))
    return rows


def why_illegal(rules: Rules, state: np.record, action: int) -> str:
    """The rule that forbids an illegal ``action`` in ``state``."""
    seat, ranks, first_play = state.current_player, rules.num_ranks, rules.first_play
    kind = DISCARD if action < ranks else BID if action < first_play else PLAY
    if kind != state.phase:
        return f"this is the time to {PHASES[state.phase]}, not to {PHASES[kind]}"
    if kind == DISCARD:
        return f"there is no {action + 1} in the hand"
    if action == rules.paradox:
        return "a paradox is the last resort, and there is a legal declaration"
    color, rank = divmod(action - first_play, ranks)
    owner = state.board[color, rank]
    if not state.hand[seat, rank]:
        return f"there is no {rank + 1} in the hand"
    if owner != NONE:
        whose = f"a token of seat {owner}" if owner >= 0 else "a neutral token"
        return f"{COLORS[color]} {rank + 1} is taken on the research board by {whose}"
    if not state.x_tokens[seat, color]:
        return f"the seat has given up its X-token of {COLORS[color]}"
    assert color == RED, "every other declaration is legal"
    return "red cannot be led before trump is broken while another colour can be declared"


def describe_rules(rules: Rules) -> list[str]:
    """The rules in short."""
    ranks, tricks, players = rules.num_ranks, rules.num_tricks, rules.num_players
    told = [
        f"Cards: ranks 1 to {ranks}, {rules.copies} of each; each of {players} players gets {rules.hand_size}. A card "
        f"has no colour until it is played: whoever plays it says one of {', '.join(COLORS[: rules.num_colors])}.",
        "Discard: first everybody puts one card aside, face down.",
    ]
    if rules.revealed_cards:
        told.append(
            f"Neutral tokens: {rules.revealed_cards} cards that were not dealt are shown, and each blocks a cell of "
            "the research board with its rank."
        )
    if rules.bids:
        bids = ", ".join(map(str, rules.bids))
        told.append(f"Bid: then everybody says how many tricks it will win: {bids}.")
    told += [
        "Playing a card: its cell on the research board, of that colour and rank, has to be empty, and you need your "
        "X-token of the colour. Your token goes on the cell. You need not follow the led colour, but whoever does "
        "not loses its X-token of the led colour for the rest of the round.",
        "Trick: red is trump. The highest red card wins, without one the highest card of the led colour; the winner "
        "leads next. Red can be led only when somebody has played red before, or when nothing else can be led.",
        "Paradox: whoever can play no card in any colour causes a paradox. The round ends, and this player loses a "
        "point for each trick that it won.",
        f"Otherwise the round ends after {counted(tricks, 'trick')}, when everybody has one card left.",
    ]
    condition = "won exactly its bid" if rules.bids else f"won at most {rules.bonus_max_tricks}"
    told.append(
        f"Points: 1 for each trick. Whoever {condition}, and caused no paradox, adds the size of its largest group "
        "of own tokens that touch, side by side or one above the other."
    )
    return [*told, _length(rules)]


def _length(rules: Rules) -> str:
    if rules.num_rounds == 1:
        return "One round is played; most points win."
    return (
        f"{rules.num_rounds} rounds are played, and the start player moves on by one seat. Most points in all win; "
        "between equals, the points of the last round count."
    )
