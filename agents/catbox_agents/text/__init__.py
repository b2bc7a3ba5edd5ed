"""Words in, words out: positions as prompts, answers as actions, and a game for one language model among agents.

`text_observation` says what a seat sees, `parse_action` reads an answer, `TextGame` plays a whole game. The agent
``llm:model=NAME`` is made by `catbox_agents.make`; hosts of other packages are programs in ``examples/``.

game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
table = TextGame(game, opponents="best")
prompt = table.reset(seed=1)
text, reward, done = table.step('{"action": "discard 3"}')
"""

from catbox_agents.text.answers import ParsedAction, parse_action
from catbox_agents.text.observation import text_observation
from catbox_agents.text.text_game import TextGame

__all__ = ["ParsedAction", "TextGame", "parse_action", "text_observation"]
