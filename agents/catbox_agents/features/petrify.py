"""Features of Petrify: how much room each pawn has, computed from one observation and its action mask; `FACTS`.

Free cells are the open ones without a pawn. The room of a pawn is the number of free cells connected to it by steps
over free cells: all that it could ever reach on foot. The features of an action describe the position before the
landing takes effect. Those that look further ahead alternate moves of the next seat and the observer, while the others
stand still; `outlook`, `lead` and `mistakes` count the effects of landings, the others ignore them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from catbox_agents.features import Features, GameFacts
from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.core.game import Game
from catbox_env.core.kernels import record_dtype
from catbox_env.core.layout import Layout, Part
from catbox_env.games.petrify.observe import MAX_COUNTED, read_position
from catbox_env.games.petrify.play import (
    EMPTY,
    ONE,
    color_of,
    exit_cells,
    free_cells,
    free_cells_after,
    holds,
    kind_of,
    lowest_cell,
    set_of,
    walk_ends,
)
from catbox_env.games.petrify.rules import NUM_SYMBOLS, NUMBER_TILES, Rules
from catbox_env.games.petrify.state import MAX_CELLS, NONE, STATE, TELEPORT, ZERO_TILE


def statistics(game: Game, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of `GameFacts`."""
    return {"place": info["place"].astype(np.float64), "win": (info["place"] == 0).astype(np.float64)}


FACTS = GameFacts(statistics=statistics, binary_statistics=("win",), shares={"win": "the agent came first"})

#: How many moves `outlook`, `lead` and `mistakes` look ahead: so many if no more cells than this are free after the
#: action, of the first pair (cells, moves) that fits; otherwise two.
OUTLOOK_MOVES = (11, 12), (13, 10), (17, 8), (19, 6), (23, 4)
LEAD_MOVES = ((23, 4),)
MISTAKES_MOVES = (13, 8), (16, 4)
#: If walks may be shorter than the energy, there are more of them, as if so many more cells were free.
UP_TO_CELLS = 4
#: Larger leads count as this one.
MAX_LEAD = 12
#: The lead of a pawn that petrifies the other: more than there are cells.
PETRIFIES = MAX_CELLS + 1
#: Moves that leave the other pawn at most so many cells are tried first.
FEW = 3
#: A tile from which a walk has the most steps.
LONGEST = NUMBER_TILES.index(f"{NUM_SYMBOLS}.1")
#: The position, the set of all teleports, and for each of their cells the set of those to which it leads.
SCRATCH = record_dtype(
    [("boards", STATE, (1,)), ("teleports", np.uint64), ("exits", np.uint64, (MAX_CELLS,))]
)


def feature_layout(rules: Rules) -> Layout:
    """The features of a position under ``rules``. Those of a petrified seat are 0."""
    players, cells = rules.num_players, rules.num_cells
    return Layout(
        [
            Part("free_cells", (1,), "open cells without a pawn", 0, cells),
            Part("energy", (players,), "steps of each seat's tile; a wildcard: 4", 0, NUM_SYMBOLS),
            Part("end_cells", (players,), "where each seat could go if it were to move", 0, cells),
            Part("free_beside", (players,), "free cells beside the pawn", 0, 4),
            Part("room", (players,), "free cells connected to the pawn", 0, cells),
            Part(
                "distance", (players,), "rows plus columns between it and the own pawn", 0, 2 * rules.size - 2
            ),
        ]
    )


def action_feature_layout(rules: Rules) -> Layout:
    """The features of one action: of the position with the pawn on the action's cell."""
    players, cells = rules.num_players, rules.num_cells
    return Layout(
        [
            Part("energy", (1,), "steps of the tile; a wildcard: 4", 0, NUM_SYMBOLS),
            Part("teleport", (1,), "1: the tile is a teleport"),
            Part("zero", (1,), "1: the tile is a zero"),
            Part("own_end_cells", (1,), f"own end cells, at most {MAX_COUNTED}", 0, MAX_COUNTED),
            Part("next_end_cells", (1,), "those of the next seat in the game", 0, MAX_COUNTED),
            Part("fewest_end_cells", (1,), "the fewest of another seat in the game", 0, MAX_COUNTED),
            Part("stuck", (1,), "other seats in the game without an end cell", 0, players - 1),
            Part("free_beside", (1,), "free cells beside the pawn", 0, 4),
            Part("room", (1,), "free cells connected to the pawn", 0, cells),
            Part("next_room", (1,), "the same for the next seat in the game", 0, cells),
            Part("next_distance", (1,), "rows plus columns to that seat's pawn", 0, 2 * rules.size - 2),
            Part("fewest_answers", (1,), "own end cells after the worst reply of that seat", 0, MAX_COUNTED),
            Part("losing_replies", (1,), "its replies that leave no own end cell", 0, MAX_COUNTED),
            Part(
                "outlook",
                (1,),
                "1: petrifies that seat by force within 2 to 12 more moves, -1: is petrified",
                -1,
            ),
            Part(
                "lead",
                (1,),
                f"own cells to land on minus that seat's, after the 2 or 4 best moves that follow; {MAX_LEAD}: that "
                f"many or more, or that seat is petrified",
                -MAX_LEAD,
                MAX_LEAD,
            ),
            Part(
                "mistakes",
                (1,),
                "replies of that seat that let it be petrified by force within 2, 4 or 8 moves",
                0,
                MAX_COUNTED,
            ),
        ]
    )


def make_features(game: Game) -> Features:
    """The features of Petrify under the rules of ``game``."""
    return Features(game, feature_layout(game.rules), action_feature_layout(game.rules), write, SCRATCH)


@njit
def find_teleports(params, scratch):
    """Fill in ``teleports`` and ``exits``."""
    scratch.teleports = EMPTY
    if params.num_specials > 0:
        for cell in range(params.num_cells):
            tile = int(scratch.boards[0].tile[cell])
            if kind_of(tile) == TELEPORT:
                scratch.teleports |= set_of(cell)
                scratch.exits[cell] = exit_cells(params, scratch.boards[0], color_of(tile), ~EMPTY)


@njit
def landings(scratch, ends, free):
    """The cells on which a walk to one of the cells ``ends`` leaves the pawn: a teleport takes it on to one of
    its exits among the cells that are ``free`` then, if there are any."""
    cells, teleports = ends, ends & scratch.teleports
    while teleports != EMPTY:
        cell = lowest_cell(teleports)
        teleports &= teleports - ONE
        exits = scratch.exits[cell] & free
        if exits != EMPTY:
            cells = (cells & ~set_of(cell)) | exits
    return cells


@njit
def move_to(params, scratch, cell, other, other_tile, free):
    """The pawn to move lands on ``cell``, over ``free`` cells; the other stands on ``other``, on the tile
    ``other_tile``, which may be a copy.

    Returns where the other can go then, the cell and the tile of the pawn that has moved, and the free cells.
    """
    left, start, staying, tile = free & ~set_of(cell), other, cell, int(scratch.boards[0].tile[cell])
    if tile == ZERO_TILE:  # the pawns change places, and the zero becomes a copy of the other's tile
        start, staying, tile = cell, other, other_tile
    return landings(scratch, walk_ends(params, other_tile, start, left), left), staying, tile, left


@njit
def by_answers(params, scratch, cells, other, other_tile, free):
    """Whether one of the ``cells`` petrifies the other pawn; if none does, those that leave it at most `FEW` cells,
    and the rest: a good move is found soonest if they are tried in this order."""
    few, many = EMPTY, EMPTY
    while cells != EMPTY:
        cell = lowest_cell(cells)
        cells &= cells - ONE
        answers = popcount(move_to(params, scratch, cell, other, other_tile, free)[0])
        if answers == 0:
            return True, EMPTY, EMPTY
        if answers <= FEW:
            few |= set_of(cell)
        else:
            many |= set_of(cell)
    return False, few, many


@njit
def lead_now(params, scratch, moves, alpha, beta, cells, other, other_tile, free):
    """How many more ``cells`` the pawn to move can land on than the other one; ``-PETRIFIES`` if on none."""
    if cells == EMPTY:
        return -PETRIFIES
    if beta == 1 - PETRIFIES:  # all that matters is that it is not petrified
        return beta
    return popcount(cells) - popcount(landings(scratch, walk_ends(params, other_tile, other, free), free))


def one_move_deeper(lead):
    """``lead`` for up to one more of the ``moves`` that it looks ahead.

    It is that of the pawn to move, to one of the ``cells``, after so many moves in all, with both playing their best,
    found by alpha-beta search: exact between ``alpha`` and ``beta``, a bound outside. Each depth is a separate
    function: a recursive one crashed when loaded from a disk cache.
    """

    @njit
    def deeper(params, scratch, moves, alpha, beta, cells, other, other_tile, free):
        if moves == 0 or cells == EMPTY:
            return lead_now(params, scratch, moves, alpha, beta, cells, other, other_tile, free)
        few, many = cells, EMPTY
        if moves > 1:  # before the last move, to look for the best order would take longer than it saves
            petrifies, few, many = by_answers(params, scratch, cells, other, other_tile, free)
            if petrifies:
                return PETRIFIES
        best = -PETRIFIES
        for group in (few, many):
            untried = group
            while untried != EMPTY and best < beta:
                cell = lowest_cell(untried)
                untried &= untried - ONE
                then = move_to(params, scratch, cell, other, other_tile, free)
                best = max(best, -lead(params, scratch, moves - 1, -beta, -max(alpha, best), *then))
        return best

    return deeper


lead = lead_now
for _ in range(OUTLOOK_MOVES[0][1]):
    lead = one_move_deeper(lead)


@njit
def wins(params, scratch, moves, then):
    """Whether the pawn to move petrifies the other one by force within so many ``moves``, an odd number."""
    return lead(params, scratch, moves, PETRIFIES - 1, PETRIFIES, *then) == PETRIFIES


@njit
def loses(params, scratch, moves, then):
    """Whether the pawn to move is petrified by force within so many ``moves``, an even number."""
    return lead(params, scratch, moves, -PETRIFIES, 1 - PETRIFIES, *then) == -PETRIFIES


@njit
def spread(params, cells):
    """The neighbours of a set of cells, on the board or below its last row."""
    width = int(params.width)
    across = ((cells << 1) & params.not_first_column) | ((cells >> 1) & params.not_last_column)
    return across | (cells << width) | (cells >> width)


@njit
def room_of(params, cell, free):
    """The number of ``free`` cells connected to ``cell``."""
    room = spread(params, set_of(cell)) & free
    while True:
        wider = room | (spread(params, room) & free)
        if wider == room:
            return popcount(room)
        room = wider


@njit
def distance_of(params, one, other):
    """Rows plus columns between two cells."""
    width = int(params.width)
    return abs(one // width - other // width) + abs(one % width - other % width)


@njit
def write_position(params, at, seen, state, out):
    """Write the features of the position ``state``, read from the observation ``seen``, with relative seats."""
    cells, free = params.num_cells, free_cells(params, state)
    out[at.free_cells] = popcount(free)
    for seat in range(params.num_players):
        if state.place[seat] > 0:
            continue
        position = int(state.position[seat])
        start = params.at.end_cells + seat * cells
        ends = 0
        for cell in range(cells):
            ends += 1 if seen[start + cell] else 0
        out[at.energy + seat] = params.most_steps[state.tile[position]]
        out[at.end_cells + seat] = ends
        out[at.free_beside + seat] = popcount(spread(params, set_of(position)) & free)
        out[at.room + seat] = room_of(params, position, free)
        out[at.distance + seat] = distance_of(params, position, int(state.position[0]))


@njit
def end_cells_then(params, seen, seat, cell):
    """End cells of ``seat`` with the pawn to move on ``cell``, at most `MAX_COUNTED`."""
    shown = int(seen[params.at.end_cells_after + seat * params.num_cells + cell])
    return min(MAX_COUNTED, max(0, shown - 1))


@njit
def write_action(params, at, seen, scratch, cell, out):
    """Write the features of moving to ``cell``."""
    state = scratch.boards[0]
    tile, free = int(state.tile[cell]), free_cells_after(params, state, cell)
    fewest, stuck, following = MAX_COUNTED, 0, NONE
    for seat in range(1, params.num_players):
        if state.place[seat] == NONE:
            following = seat if following == NONE else following
            left = end_cells_then(params, seen, seat, cell)
            fewest = min(fewest, left)
            stuck += 1 if left == 0 else 0
    out[at.action_energy] = params.most_steps[tile]
    out[at.action_teleport] = 1 if kind_of(tile) == TELEPORT else 0
    out[at.action_zero] = 1 if tile == ZERO_TILE else 0
    out[at.action_own_end_cells] = end_cells_then(params, seen, 0, cell)
    out[at.action_fewest_end_cells] = fewest
    out[at.action_stuck] = stuck
    out[at.action_free_beside] = popcount(spread(params, set_of(cell)) & free)
    out[at.action_room] = room_of(params, cell, free)
    if following != NONE:
        other = int(state.position[following])
        out[at.action_next_end_cells] = end_cells_then(params, seen, following, cell)
        out[at.action_next_room] = room_of(params, other, free)
        out[at.action_next_distance] = distance_of(params, cell, other)
        write_replies(params, at, state, cell, other, free, out)
        write_outlook(params, at, scratch, cell, other, free, out)


@njit
def write_replies(params, at, state, cell, other, free, out):
    """Write the features of the next seat's replies, from its pawn on ``other``, to the own pawn on ``cell``."""
    fewest, losing = MAX_COUNTED, 0
    replies = walk_ends(params, int(state.tile[other]), other, free)
    for reply in range(params.num_cells):
        if not holds(replies, reply):
            continue
        answers = popcount(walk_ends(params, int(state.tile[cell]), cell, free & ~set_of(reply)))
        fewest = min(fewest, answers)
        losing += 1 if answers == 0 else 0
    out[at.action_fewest_answers] = fewest
    out[at.action_losing_replies] = min(MAX_COUNTED, losing)


@njit
def moves_ahead(table, number):
    """How many moves to look ahead if ``number`` cells are free."""
    for cells, moves in table:
        if number <= cells:
            return moves
    return 2


@njit
def write_outlook(params, at, scratch, cell, other, free, out):
    """Write what moving to ``cell`` leads to, over cells that are ``free`` then, against the pawn on ``other``: of the
    best exit if it is a teleport."""
    state, before, number = scratch.boards[0], free | set_of(cell), popcount(free)
    if params.fewest_steps[LONGEST] == 1:
        number += UP_TO_CELLS
    further, nearer = moves_ahead(OUTLOOK_MOVES, number), moves_ahead(MISTAKES_MOVES, number)
    moves = moves_ahead(LEAD_MOVES, number)
    cells = set_of(cell)
    if not state.teleporting:
        cells = landings(scratch, cells, before)
    best, ahead, most, tile = -1, -PETRIFIES, 0, int(state.tile[other])
    while cells != EMPTY:
        then = move_to(params, scratch, lowest_cell(cells), other, tile, before)
        cells &= cells - ONE
        replies, own, own_tile, left = then
        mistakes = 0
        while replies != EMPTY:
            after = move_to(params, scratch, lowest_cell(replies), own, own_tile, left)
            replies &= replies - ONE
            mistakes += 1 if wins(params, scratch, nearer - 1, after) else 0
        margin = -lead(params, scratch, moves, -PETRIFIES, PETRIFIES, *then)
        outlook = 0
        if margin == PETRIFIES or mistakes == popcount(then[0]):
            outlook = 1
        elif margin == -PETRIFIES:
            outlook = -1
        elif further > moves and loses(params, scratch, further, then):
            outlook = 1
        elif further > moves and wins(params, scratch, further - 1, then):
            outlook = -1
        if (outlook, margin, mistakes) > (best, ahead, most):
            best, ahead, most = outlook, margin, mistakes
    out[at.action_outlook] = best
    out[at.action_lead] = max(-MAX_LEAD, min(MAX_LEAD, ahead))
    out[at.action_mistakes] = min(MAX_COUNTED, most)


@njit
def write(params, at, seen, mask, scratch, out, action_out):
    """See `Features`; ``scratch`` is a record of `SCRATCH`."""
    # The functions take the record, never an array in it, whose memory a call would count as its own.
    state = scratch.boards[0]
    read_position(params, seen, 0, state)
    find_teleports(params, scratch)
    write_position(params, at, seen, state, out)
    for cell in range(params.num_cells):
        if mask[cell]:
            write_action(params, at, seen, scratch, cell, action_out[cell])
