"""What an action of Petrify did, in words.

| kind | what happened |
|---|---|
| ``move`` | a pawn walked to another cell, and the one it left was closed |
| ``teleport`` | a pawn landed on a teleport: it may come out elsewhere, or has to stay |
| ``teleport_exit`` | a pawn came out of a teleport |
| ``rotation`` | a pawn came to a zero tile: all pawns still in the game have changed places |
| ``petrified`` | a player could not move and is out, in this place |
| ``score``, ``game_end`` | the points of each seat by its place; who has won |
"""

from __future__ import annotations

from catbox_env.core.events import Event
from catbox_env.core.state import GameState
from catbox_env.games.petrify.board import color_of, kind_of
from catbox_env.games.petrify.rules import Rules
from catbox_env.games.petrify.state import NONE, TELEPORT, TILE_NAMES, ZERO_TILE
from catbox_env.games.petrify.text import cell_name, energy


def tell_events(rules: Rules, before: GameState, action: int, after: GameState) -> list[Event]:
    """What ``action`` did. Everybody sees everything."""
    mover = before.current_player
    found = _move(rules, before, action, after, mover)
    if before.record.tile[action] == ZERO_TILE:
        found.append(_rotation(rules, before, action, after, mover))
    out = [
        (int(after.record.place[seat]), seat)
        for seat in range(rules.num_players)
        if before.record.place[seat] == NONE and after.record.place[seat] > 0
    ]
    for place, seat in sorted(out, reverse=True):
        text = (
            f"player_{seat} has no legal end cell and is petrified: place {place + 1} of {rules.num_players}"
        )
        found.append(Event("petrified", seat, text, {"place": place + 1}))
    if after.is_terminal():
        found += _game_end(rules, after)
    return found


def _move(rules: Rules, before: GameState, action: int, after: GameState, mover: int) -> list[Event]:
    record = before.record
    start, end = (cell_name(rules, cell) for cell in (int(record.position[mover]), action))
    tile = TILE_NAMES[record.tile[action]]
    data = {"from": start, "to": end, "tile": tile}
    if record.teleporting:
        text = f"player_{mover} comes out of the teleport on {start} at {end} ({tile})"
        return [Event("teleport_exit", mover, text, data)]
    steps = energy(rules, record, mover)
    text = f"player_{mover} walks {steps} from {start} to {end} ({tile}); {start} is closed"
    found = [Event("move", mover, text, data)]
    if kind_of(int(record.tile[action])) == TELEPORT:
        color = color_of(int(record.tile[action]))
        where = f"a free tile of colour {color}" if color else "any free tile"
        if after.record.teleporting:
            text = f"player_{mover} is on a teleport and may come out on {where}"
        else:
            text = f"player_{mover} is on a teleport and stays there, because it does not lead to {where}"
        found.append(
            Event("teleport", mover, text, {"color": color, "leads_on": bool(after.record.teleporting)})
        )
    return found


def _rotation(rules: Rules, before: GameState, action: int, after: GameState, mover: int) -> Event:
    players = [seat for seat in range(rules.num_players) if before.record.place[seat] == NONE]
    cells = {seat: cell_name(rules, int(after.record.position[seat])) for seat in players}
    zero, tile = cell_name(rules, action), TILE_NAMES[after.record.tile[action]]
    told = ", ".join(f"player_{seat} to {cell}" for seat, cell in cells.items())
    text = f"player_{mover} came to the zero on {zero}, so all change places: {told}; {zero} is now {tile}"
    moved = [{"seat": seat, "cell": cell} for seat, cell in cells.items()]
    return Event("rotation", mover, text, {"zero": zero, "tile": tile, "moved": moved})


def _game_end(rules: Rules, after: GameState) -> list[Event]:
    players = range(rules.num_players)
    places = [after.info(seat)["place"] for seat in players]
    found = []
    for seat in sorted(players, key=places.__getitem__):
        points = 1.0 - 2.0 * places[seat] / (rules.num_players - 1)
        text = f"player_{seat}: place {places[seat] + 1} of {rules.num_players} = {f'{points:+.3g}' if points else '0'}"
        found.append(Event("score", seat, text, {"place": places[seat] + 1, "score": points}))
    winner = places.index(0)
    found.append(
        Event(
            "game_end", winner, f"player_{winner} is the last that can move, and wins", {"winners": [winner]}
        )
    )
    return found
