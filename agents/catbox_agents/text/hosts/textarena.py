"""Every game for TextArena, with a model in each seat. Importing this module registers them.

import textarena
import catbox_agents.text.hosts.textarena

env = textarena.make("catbox/cat_in_the_box_v0", reward="margin")
env.reset(num_players=4, seed=1)
done = False
while not done:
    player, text = env.get_observation()
    done, info = env.step(models[player](text))
rewards, infos = env.close()

Make a new environment for each game: TextArena's wrapper shows a player the texts of all games since it was made.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

import textarena
from textarena import ObservationType

from catbox_agents.text.answers import parse_action
from catbox_agents.text.observation import LONG, SHORT, call_to_act, text_observation
from catbox_agents.text.text_game import reward_of
from catbox_env import GAMES, make_game
from catbox_env.core.rng import seed_sequence

__all__ = ["CatboxEnv"]


class CatboxEnv(textarena.Env):
    """A game whose player k sits in seat k. Each player is told what its seat sees, and its own answers.

    Args:
        game: the id of a game of ``catbox_env.GAMES``.
        retries: how often a player is asked again after an answer that is not a legal action. Then the game is over:
            this player's reward is 0, the others' that of their points so far.
        list_actions: whether the mover's prompt lists the legal actions.
        options: of ``make_game``, without ``num_players``, which ``reset`` takes.

    ``close()`` returns the rewards from 0 to 1 (`reward_of`), and for each player its ``points``, its ``turn_count``,
    whether an ``invalid_move`` ended the game, and the ``reason`` for the end.

    Raises ``ValueError`` for arguments that ``make_game`` refuses (``reset``), and for a step without a game.
    """

    def __init__(self, game: str, *, retries: int = 2, list_actions: bool = False, **options: Any) -> None:
        self.game_id, self.options = game, options
        self.retries, self.list_actions = retries, list_actions

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a game. The same seed gives the same deal; a deal that leaves nothing to decide is dealt again."""
        game = make_game(self.game_id, num_players=num_players, **self.options)
        root = seed_sequence(seed)
        deals = (game.new_initial_state(seed_sequence(root, number)) for number in itertools.count())
        self.position = next(state for state in deals if not state.is_terminal())
        # Without the seed, from which it would seed the global generator of Python.
        self.state = textarena.MinimalMultiPlayerState(num_players, error_allowance=self.retries)
        self.state.reset(player_prompt_function=lambda player_id, game_state: self._prompt(player_id, LONG))
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
        if after.round_ended:
            for other in range(self.state.num_players):
                self._tell(self._prompt(other, SHORT), ObservationType.GAME_BOARD, other)
        else:
            asked = call_to_act(after, mover, self.list_actions)
            self._tell(asked, ObservationType.GAME_MESSAGE, mover)
        return told

    def _prompt(self, seat: int, form: str) -> str:
        return text_observation(self.position, seat, form=form, list_actions=self.list_actions)

    def _tell(self, text: str, kind: ObservationType, seat: int, sender: int = textarena.GAME_ID) -> None:
        self.state.add_observation(text, kind, from_id=sender, to_id=seat)

    def _end(self, reason: str, loser: int | None = None) -> None:
        game, points = self.position.game, self.position.returns()
        if loser is not None:
            points[loser] = float(game.min_utility)
        self.state.set_game_outcome({seat: reward_of(game, paid) for seat, paid in enumerate(points)}, reason)
        for seat, paid in enumerate(points):
            self.state.game_info[seat]["points"] = paid


for _game_id in GAMES:
    if f"catbox/{_game_id}" not in textarena.envs.registration.ENV_REGISTRY:
        textarena.register(
            f"catbox/{_game_id}", CatboxEnv, [textarena.wrappers.LLMObservationWrapper], game=_game_id
        )
