"""Golden playthroughs: complete games as text. They show a reviewer what a change of the rules does.

``python -m tests.core.playthrough`` writes the files of ``golden/``; review their difference before you commit.
"""

from pathlib import Path

import numpy as np

from catbox_env import make_game
from catbox_env.core.game import Game
from catbox_env.core.state import GameState
from tests.core.game_cases import CASES

FOLDER = Path(__file__).parent / "golden"

#: File name -> (game id, options, seed).
PLAYTHROUGHS = {
    f"{game_id}_{players}_players": (game_id, {"num_players": players, **options}, seed)
    for game_id, cases in CASES.items()
    for players, (options, seed) in cases.playthroughs.items()
}


def playthrough(game: Game, seed: int) -> str:
    """A random game: every action with what the seat to move saw and might have done, and every reward."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    lines = [f"game: {game.id}", f"options: {game.options}", f"seed: {seed}"]
    while not state.is_terminal():
        seat, legal = state.current_player, state.legal_actions()
        action = int(rng.choice(legal))
        lines += ["", f"# decision {len(state.history())}: player_{seat}", *observation_lines(state, seat)]
        lines.append("legal: " + ", ".join(f"{a} {game.action_to_string(a)}" for a in legal))
        state.apply_action(action)
        lines += [f"action: {action} {game.action_to_string(action)}", f"rewards: {numbers(state.rewards())}"]
        if state.round_ended:
            lines += [f"info player_{other}: {state.info(other)}" for other in range(game.num_players)]
    for seat in range(game.num_players):
        lines += ["", f"# the end, as player_{seat} sees it", *observation_lines(state, seat)]
    lines += ["", f"history of player_0: {state.history_observation(0)[: len(state.history())].tolist()}"]
    lines += [f"state: {state.state_vector().tolist()}", f"returns: {numbers(state.returns())}"]
    return "\n".join(lines) + "\n"


def observation_lines(state: GameState, seat: int) -> list[str]:
    """One line for each part that is not all zero: rows apart by spaces, tables by slashes."""
    lines = []
    for name, part in state.game.observation_layout.unpack(state.observation(seat)).items():
        if part.any():
            rows = part.reshape(-1, part.shape[-1])
            joiner = "" if part.max() < 10 and part.min() >= 0 else ","
            lines.append(f"{name}: " + " ".join(joiner.join(map(str, row)) for row in rows.tolist()))
    return lines


def numbers(values: list[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


if __name__ == "__main__":
    for name, (game_id, options, seed) in PLAYTHROUGHS.items():
        (FOLDER / f"{name}.txt").write_text(playthrough(make_game(game_id, **options), seed))
