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
from catbox_env.games.petrify.play.state import NONE
from catbox_env.games.petrify.rules import Rules
from catbox_env.games.petrify.show.text import energy
from catbox_env.games.petrify.show.view import View, color_of_tile, tile_in_words


def tell_events(rules: Rules, before: GameState, action: int, after: GameState) -> list[Event]:
    """What ``action`` did. Everybody sees everything."""
    was, now = View.of(rules, before.record), View.of(rules, after.record)
    events = _move(was, action, now)
    if was.tiles[action] == "0":
        events.append(_rotation(was, action, now))
    changes = enumerate(zip(was.places, now.places, strict=True))
    out = [(place, seat) for seat, (earlier, place) in changes if earlier == NONE and place > 0]
    for place, seat in sorted(out, reverse=True):
        text = f"player_{seat} has no legal end cell and is petrified: {_ordinal(rules, place)}"
        events.append(Event("petrified", seat, text, {"place": place + 1}))
    return events + (_game_end(now) if now.mover < 0 else [])


def _ordinal(rules: Rules, place: int) -> str:
    return f"place {place + 1} of {rules.num_players}"


def _move(was: View, action: int, now: View) -> list[Event]:
    mover, tile = was.mover, was.tiles[action]
    start, end = was.rules.cell_name(was.positions[mover]), was.rules.cell_name(action)
    data = {"from": start, "to": end, "tile": tile}
    onto = tile_in_words(was.rules, tile)
    if was.teleporting:
        text = f"player_{mover} comes out of the teleport on {start} at {end} ({onto})"
        return [Event("teleport_exit", mover, text, data)]
    steps = energy(was.rules, was.tile_under(mover))
    text = f"player_{mover} walks {steps} from {start} to {end} ({onto}); {start} is closed"
    events = [Event("move", mover, text, data)]
    if tile[0] == "T":
        color = color_of_tile(tile)
        where = f"a free tile of colour {color}" if color else "any free tile"
        if now.teleporting:
            text = f"player_{mover} is on a teleport and may come out on {where}"
        else:
            text = f"player_{mover} is on a teleport and stays there, because it does not lead to {where}"
        events.append(Event("teleport", mover, text, {"color": color, "leads_on": now.teleporting}))
    return events


def _rotation(was: View, action: int, now: View) -> Event:
    name = was.rules.cell_name
    cells = {seat: name(now.positions[seat]) for seat, place in enumerate(was.places) if place == NONE}
    told = ", ".join(f"player_{seat} to {cell}" for seat, cell in cells.items())
    zero, tile = name(action), now.tiles[action]
    text = (
        f"player_{was.mover} came to the zero on {zero}, so all change places: {told}; {zero} is now {tile}"
    )
    moved = [{"seat": seat, "cell": cell} for seat, cell in cells.items()]
    return Event("rotation", was.mover, text, {"zero": zero, "tile": tile, "moved": moved})


def _game_end(now: View) -> list[Event]:
    events = []
    for place, seat in sorted((place, seat) for seat, place in enumerate(now.places)):
        points = 1.0 - 2.0 * place / (now.rules.num_players - 1)
        text = f"player_{seat}: {_ordinal(now.rules, place)} = {f'{points:+.3g}' if points else '0'}"
        events.append(Event("score", seat, text, {"place": place + 1, "score": points}))
    winner = now.places.index(0)
    text = f"player_{winner} is the last who can move, and wins"
    return [*events, Event("game_end", winner, text, {"winners": [winner]})]
