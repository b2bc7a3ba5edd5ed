"""A game that is played out, as one of its seats would tell it line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from catbox_app.real_table import RealTable, seen_deal
from catbox_env import Game, GameState


def seen_text(game: Game, state: GameState, seat: int) -> str:
    """What ``seat`` sees of the deal of the round that begins in ``state``, as it is typed."""
    deal = game.deal_of(state)
    assert deal is not None
    if "tiles" in deal:
        stands = {cell: f"@{other}" for other, cell in enumerate(deal["positions"])}
        size = len(deal["tiles"])
        return "\n".join(
            " ".join(f"{tile}{stands.get(row * size + k, '')}" for k, tile in enumerate(tiles))
            for row, tiles in enumerate(deal["tiles"])
        )
    name = game.draws.card_to_string  # type: ignore[union-attr]
    shown = game.draws.revealed_in(deal)  # type: ignore[union-attr]
    return "/".join(" ".join(map(name, cards)) for cards in (deal["hands"][seat], shown))


def told(
    game: Game, seat: int, seed: int, choose: Callable[[Sequence[int]], int]
) -> tuple[str, list[str], GameState]:
    """A whole game as ``seat`` tells it: the deal, the line for each thing that happens, and the true end.

    What can only be face down is not told.
    """
    true, lines = game.new_initial_state(seed=seed), []
    deal = seen_text(game, true, seat)
    table = RealTable(game, seat, seen_deal(game, seat, deal))

    def tell(line: str) -> None:
        lines.append(line)
        table.enter(line)

    while not true.is_terminal():
        mover, action, before = true.current_player, choose(true.legal_actions()), true.record.num_moves
        true.apply_action(action)
        is_known = table.question or table.state.is_terminal() or table.state.record.num_moves > before
        public = true._log[int(true.record.num_moves) - 1][2]
        if not is_known:
            tell(f"#{action}" if mover == seat or public >= 0 else "")
        if true.round_ended and not true.is_terminal():
            winner = [str(int(true.record.dealer))] if game.id == "cat_te_v0" else []
            for line in [*winner, seen_text(game, true, seat)]:
                tell(line)
    return deal, lines, true
