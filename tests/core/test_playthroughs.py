"""The golden games play as they always did, in every observation."""

import pytest

from catbox_env import make_game
from tests.core.game_cases import CASES
from tests.core.playthrough import FOLDER, PLAYTHROUGHS, playthrough


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_the_game_is_the_golden_one(name: str) -> None:
    game_id, options, seed = PLAYTHROUGHS[name]
    assert playthrough(make_game(game_id, **options), seed) == (FOLDER / f"{name}.txt").read_text()


def test_golden_playthroughs_are_of_each_number_of_players_and_every_file_is_used() -> None:
    for cases in CASES.values():
        assert set(cases.playthroughs) in (set(), set(cases.values["num_players"]))
    assert {path.stem for path in FOLDER.iterdir()} == set(PLAYTHROUGHS)
