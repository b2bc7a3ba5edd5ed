"""Games as data for offline learning, as Parquet and as Minari data sets.

from catbox_agents.dataset import play_games, read_games, write_dataset

write_dataset(play_games(game, ["zoo"], 10_000), output="data/zoo", minari_id="catbox/zoo-v0")
"""

from catbox_agents.dataset.files import write_dataset
from catbox_agents.dataset.game_data import Chunk, GameData, play_games, read_games

__all__ = ["Chunk", "GameData", "play_games", "read_games", "write_dataset"]
