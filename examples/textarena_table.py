"""Every game for TextArena, with a model in each seat. Importing this file registers ``catbox/cat_in_the_box_v0`` ..

pip install "textarena==0.7.4"
python examples/textarena_table.py                        # with random legal answers
python examples/textarena_table.py gpt-5-mini gpt-5-nano  # models of textarena.agents.OpenAIAgent, around the table

Make a new environment for each game: TextArena's wrapper shows a player the texts of all games since it was made.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import textarena
from textarena import ObservationType

from catbox_agents.text import parse_action, text_observation
from catbox_env import GAMES, make_game
from stand_in import StandIn

PLAYERS = 3


class CatboxEnv(textarena.Env):
    """A game whose player k sits in seat k. Each player is told what its seat sees, and its own answers.

    Args:
        game: the id of a game of ``catbox_env.GAMES``.
        retries: how often a player is asked again after an answer that is not a legal action. Then the game is over:
            this player's reward is 0, the others' that of their points so far.
        list_actions: whether the mover's prompt lists the legal actions.
        options: of ``make_game``, without ``num_players``, which ``reset`` takes.

    ``close()`` returns the rewards, points mapped from the game's lowest and highest return to [0, 1], and for each
    player its ``points``, its ``turn_count``, whether an ``invalid_move`` ended the game, and the ``reason``.
    """

    def __init__(self, game: str, *, retries: int = 2, list_actions: bool = False, **options: Any) -> None:
        self.game_id, self.options = game, options
        self.retries, self.list_actions = retries, list_actions

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a game. The same seed gives the same deal; a deal that leaves nothing to decide is dealt again."""
        game = make_game(self.game_id, num_players=num_players, **self.options)
        seeds = np.random.SeedSequence(seed)
        self.position = game.new_initial_state(seeds.spawn(1)[0])
        while self.position.is_terminal():
            self.position = game.new_initial_state(seeds.spawn(1)[0])
        # Without the seed, from which it would seed the global generator of Python.
        self.state = textarena.MinimalMultiPlayerState(num_players, error_allowance=self.retries)
        self.state.reset(player_prompt_function=lambda player_id, game_state: self._prompt(player_id, "long"))
        self.state.manually_set_current_player_id(self.position.current_player)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the action that the current player's answer names (`parse_action`), or say what is wrong with it."""
        if self.state.done:
            raise ValueError("no game is under way: call reset()")
        seat, before = self.state.current_player_id, self.position
        self._tell(action, ObservationType.PLAYER_ACTION, seat, seat)
        parsed = parse_action(action, before)
        if parsed.action is None:
            if self.state.set_invalid_move(parsed.message):
                self._end(f"player_{seat} gave no legal action. {parsed.message}", loser=seat)
            return self.state.step()
        self.position = after = copy.deepcopy(before)
        after.apply_action(parsed.action)
        for other in range(self.state.num_players):
            for event in after.game.events(before, parsed.action, after, other):
                self._tell(event.text, ObservationType.GAME_ACTION_DESCRIPTION, other)
        if after.is_terminal():
            self._end("The game is over.")
            return self.state.step()
        told = self.state.step()
        mover = after.current_player
        self.state.manually_set_current_player_id(mover)
        self._tell(self._prompt(mover, "short"), ObservationType.GAME_BOARD, mover)
        return told

    def _prompt(self, seat: int, form: str) -> str:
        return text_observation(self.position, seat, form=form, list_actions=self.list_actions)

    def _tell(self, text: str, kind: ObservationType, seat: int, sender: int = textarena.GAME_ID) -> None:
        self.state.add_observation(text, kind, from_id=sender, to_id=seat)

    def _end(self, reason: str, loser: int | None = None) -> None:
        game, points = self.position.game, self.position.returns()
        low, high = game.min_utility, game.max_utility
        if loser is not None:
            points[loser] = float(low)
        shares = [(paid - low) / (high - low) for paid in points]  # may be a little out of bounds: float32
        rewards = {seat: min(max(share, 0.0), 1.0) for seat, share in enumerate(shares)}
        self.state.set_game_outcome(rewards, reason)
        for seat, paid in enumerate(points):
            self.state.game_info[seat]["points"] = paid


for _game_id in GAMES:
    if f"catbox/{_game_id}" not in textarena.envs.registration.ENV_REGISTRY:
        textarena.register(
            f"catbox/{_game_id}", CatboxEnv, [textarena.wrappers.LLMObservationWrapper], game=_game_id
        )


def main(models: list[str]) -> None:
    env = textarena.make("catbox/cat_in_the_box_v0", list_actions=not models)
    if models:
        seats = [textarena.agents.OpenAIAgent(models[seat % len(models)]) for seat in range(PLAYERS)]
    else:
        seats = [StandIn(seat) for seat in range(PLAYERS)]
    env.reset(num_players=PLAYERS, seed=1)
    done = False
    while not done:
        player, text = env.get_observation()
        done, _ = env.step(seats[player](text))
    rewards, infos = env.close()
    for player, reward in rewards.items():
        told = infos[player]
        print(
            f"player_{player}: {told['points']:g} points, reward {reward:.2f}, {told['turn_count']} actions"
        )
    print(infos[0]["reason"])


if __name__ == "__main__":
    main(sys.argv[1:])
