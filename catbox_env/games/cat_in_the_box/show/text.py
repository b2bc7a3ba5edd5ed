"""Cat in the Box in words: names of actions, a summary of the rules, a position as styled text."""

from __future__ import annotations

from catbox_env.core.events import counted
from catbox_env.games.cat_in_the_box.play.state import NEUTRAL, NONE, PLAY
from catbox_env.games.cat_in_the_box.rules import COLORS, MAX_COLORS, PHASES, Rules
from catbox_env.games.cat_in_the_box.show.view import View, card_to_string

Piece = tuple[str, str]


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
    return f"play {card_to_string(color, rank)}"


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


def describe_rules(rules: Rules) -> list[str]:
    """A summary of the rules."""
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


def draw_text(view: View) -> list[Piece]:
    """Pieces (text, rich style) that together show the position."""
    lines = [[(_headline(view), "bold")], [], *_board(view), [], *_seats(view), [], _trick(view)]
    lines += [_hand(view, seat) for seat in view.hands]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


def _headline(view: View) -> str:
    rules, where = view.rules, ""
    if rules.num_rounds > 1:
        where = f"round {view.round} of {rules.num_rounds}, "
    if view.mover == NONE:
        what = "the round is over" if view.round < rules.num_rounds else "the game is over"
    elif view.phase == PLAY:
        broken = "broken" if view.trump_broken else "not broken"
        what = f"trick {view.trick} of {rules.num_tricks}, trump {broken}, player_{view.mover} to move"
    else:
        what = f"{PHASES[view.phase]}, player_{view.mover} to move"
    return f"Cat in the Box: {where}{what}"


def _board(view: View) -> list[list[Piece]]:
    """A row for each colour, a column for each rank; the owner's seat, # for neutral, a dot for empty."""
    ranks = "".join(f"{rank + 1:>3}" for rank in range(view.rules.num_ranks))
    rows: list[list[Piece]] = [[("        " + ranks, "bold")]]
    for color, owners in enumerate(view.board):
        row: list[Piece] = [(f"{COLORS[color]:<8}", COLORS[color])]
        for owner in owners:
            mark = "." if owner == NONE else "#" if owner == NEUTRAL else str(owner)
            row.append((f"{mark:>3}", "dim" if owner == NONE else f"bold {COLORS[color]}"))
        rows.append(row)
    return rows


def _seats(view: View) -> list[list[Piece]]:
    rules, several = view.rules, view.rules.num_rounds > 1
    rows: list[list[Piece]] = [
        [("            X-tokens  bid  tricks" + ("  score" if several else ""), "bold")]
    ]
    for seat in range(rules.num_players):
        turn = ">" if seat == view.mover else " "
        row: list[Piece] = [(f"{turn} player_{seat}  ", "bold" if turn == ">" else "")]
        for color in range(MAX_COLORS):
            lost = "-" if color < rules.num_colors else " "
            row.append((COLORS[color][0].upper() if color in view.x_tokens[seat] else lost, COLORS[color]))
        bid = "-" if view.bids[seat] is None else view.bids[seat]
        row.append((f"{'':<6}{bid:>3}{view.tricks_won[seat]:>8}", ""))
        if several:
            row.append((f"{view.scores[seat]:>7}", ""))
        if seat == view.start_player:
            row.append(("  (start player)", "dim"))
        rows.append(row)
    return rows


def _trick(view: View) -> list[Piece]:
    row: list[Piece] = [("trick:", "bold")]
    for seat, color, rank in view.plays:
        row += [(f"  player_{seat} ", ""), (card_to_string(color, rank), COLORS[color])]
    if not view.plays:
        row.append((f"  player_{view.leader} leads" if view.mover != NONE else "  none", ""))
    return row


def _hand(view: View, seat: int) -> list[Piece]:
    cards = " ".join(str(rank + 1) for rank in view.cards(seat))
    aside = f"   discarded {view.discards[seat] + 1}" if seat in view.discards else ""
    return [(f"hand of player_{seat}: ", "bold"), (cards + aside, "")]
