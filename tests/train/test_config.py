"""Where the settings of a training run come from, and what is refused."""

from __future__ import annotations

import copy
import pickle
from collections import UserDict, UserList
from pathlib import Path

import pytest

from catbox_env import GAMES, make_game
from catbox_train.algorithm import algorithm_class
from catbox_train.config import TrainConfig, default_preset, load_config, preset_names
from catbox_train.runs.folder import free_run_folder, locked, open_run, start_run
from catbox_train.runs.loop import check_run
from tests.train.ppo_runs import trainer_of


def test_later_sources_win(tmp_path: Path) -> None:
    """Defaults give way to the preset, the preset to the file, the file to single overrides."""
    file = tmp_path / "mine.yaml"
    file.write_text("epochs: 3\nclip: 0.3\ngame_options: {rounds: 2}\n")
    preset = load_config("quick")
    config = load_config("quick", file, {"clip": "0.25", "game_options.reward": "margin"})
    assert preset.game_options["num_players"] == 3
    assert preset.total_decisions != TrainConfig().total_decisions
    assert config.total_decisions == preset.total_decisions
    assert config.algorithm_options.epochs == 3
    assert config.algorithm_options.clip == 0.25
    assert config.game_options == {"num_players": 3, "rounds": 2, "reward": "margin"}


@pytest.mark.parametrize("preset", ["quick", "standard", "strong"])
@pytest.mark.parametrize("game_id", GAMES)
def test_every_preset_is_for_every_game_and_number_of_players(preset: str, game_id: str) -> None:
    assert preset_names() == ["quick", "standard", "strong"]
    assert default_preset(game_id) == "quick"
    for num_players in range(2, 6):
        try:
            make_game(game_id, num_players=num_players)
        except ValueError:
            continue
        settings = {"game": game_id, "game_options.num_players": num_players}
        assert load_config(preset, overrides=settings).resolved().make_game().num_players == num_players


@pytest.mark.parametrize("preset", ["quick", "standard", "strong"])
@pytest.mark.parametrize("game_id", GAMES)
def test_every_preset_makes_an_algorithm_on_a_computer_with_four_gib(preset: str, game_id: str) -> None:
    config, game = check_run(load_config(preset, overrides={"game": game_id, "device": "cpu", "workers": 2}))
    assert 2**20 < algorithm_class(config.algorithm).memory_needed(config, game) < 4 * 2**30
    with trainer_of(config.replace(workers=1)) as algorithm:
        assert algorithm.policy().describe()["hidden"] == list(algorithm.options.hidden)


def test_a_preset_is_refused_for_a_game_that_it_has_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"preset 'quick' is for cat_in_the_box_v0, .*not for 'nim_v0'"):
        load_config("quick", overrides={"game": "nim_v0"})
    (tmp_path / "mine.yaml").write_text("game: petrify_v0\n")
    assert load_config("quick", tmp_path / "mine.yaml").num_envs == 1024


def test_text_of_the_command_line_becomes_the_type_of_the_setting() -> None:
    config = load_config(
        overrides={
            "learning_rate": "5e-4",
            "hidden": "128,64",
            "privileged_critic": "true",
            "total_decisions": "2_000_000",
            "opponents": "[random]",
            "game_options": "{num_players: 3, bids: [1, 3, 4]}",
        }
    )
    assert config.algorithm_options.learning_rate == 5e-4
    assert config.algorithm_options.hidden == (128, 64)
    assert config.algorithm_options.privileged_critic is True
    assert config.total_decisions == 2_000_000
    assert config.opponents == ("random",)
    assert config.make_game().rules.bids == (1, 3, 4)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"learning_rat": 1}, "unknown setting 'learning_rat'.*did you mean 'learning_rate'"),
        ({"epochs": "two"}, "epochs = 'two': expected an integer from 1 to 10"),
        ({"clip": "nan"}, "clip = 'nan': expected a number above 0"),
        ({"privileged_critic": 1}, "privileged_critic = 1: expected true or false"),
        ({"hidden": "64,x"}, "hidden = '64,x': expected a list of 1 to 64 values, each an integer"),
        ({"gamma": 1.1}, "gamma = 1.1: expected a number from 0 to 1"),
        ({"activation": "gelu"}, "activation = 'gelu': expected one of relu, tanh"),
        ({"num_envs": 1023, "workers": 2}, r"num_envs = 1023: expected a multiple of workers \(2\)"),
        ({"batch_size": 1000}, r"batch_size = 1000: expected a multiple of num_envs \(512\)"),
        ({"minibatch_size": 3000}, "multiple of minibatch_size"),
        ({"workers": 100_000}, "workers = 100000: expected an integer from 1 to 256"),
        ({"game_options": "three"}, "game_options = 'three' in an override: expected a mapping"),
    ],
)
def test_bad_settings_are_refused_by_name_and_value(overrides: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides=overrides)


def test_every_wrong_setting_is_told_in_one_line() -> None:
    with pytest.raises(ValueError, match="epochs") as refusal:
        TrainConfig(epochs=0, hidden=["x", "y"], clip="fast", sede=1)
    parts = ("hidden = ['x', 'y']: ", "; epochs = 0: ", "; clip = 'fast': ", "; unknown setting 'sede': ")
    assert all(part in str(refusal.value) for part in parts)
    with pytest.raises(ValueError, match=r"num_envs = 33: .*; batch_size = 32768: ") as refusal:
        TrainConfig(num_envs=33, workers=2)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hidden: [[8]]", r"hidden = \[\['8'\]\]: expected a list"),
        ("clip: .nan", r"clip = '\.nan': expected a number above 0"),
        ("total_decisions: 1" + 400 * "0", "total_decisions = '1000.*expected an integer from 1 to 10"),
        ("seed: 18446744073709551616", r"seed = .*expected an integer from 0 to 2\^64 - 1"),
        (
            "opponents: [random, []]",
            r"opponents = \['random', \[\]\]: expected a list of values, each a text",
        ),
        ("game: [cat_te_v0]", r"game = \['cat_te_v0'\]: expected a text"),
        ("game_options: [bids]", r"game_options = \['bids'\] in .*config\.yaml: expected a mapping"),
        ("1: 2", "unknown setting '1' in .*: the settings are game, "),
        ("- 1\n- 2\n", r"config\.yaml"),
        ("just words", r"config\.yaml"),
    ],
)
def test_what_a_strangers_file_may_hold_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=message) as refusal:
        load_config(file=file)
    assert len(str(refusal.value)) < 1000


def test_a_configuration_is_copied_and_pickled_and_never_changed() -> None:
    config = load_config("quick", overrides={"game": "petrify_v0", "game_options.size": "5"})
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config.replace() == config
    options = {**config.algorithm_options.as_dict(), "hidden": [8]}
    other = {**config.as_dict(), "seed": 9, "algorithm_options": options}
    assert config.replace(seed="9", hidden=8).as_dict() == other
    with pytest.raises(ValueError, match="workers = 0: expected an integer"):
        config.replace(workers=0)
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 2
    assert config.seed == 1


def test_a_folder_is_locked_while_a_run_trains_in_it(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "run"),
        pytest.raises(OSError, match="another process is training in this folder"),
        locked(tmp_path / "run"),
    ):
        pass
    with locked(tmp_path / "run"):
        pass


def test_a_written_configuration_reads_back_the_same_and_is_not_written_over(tmp_path: Path) -> None:
    config = load_config("standard", overrides={"hidden": [8], "gamma": 1, "game_options.bids": (1, 3)})
    start_run(tmp_path / "run", config)
    assert open_run(tmp_path / "run") == config
    with pytest.raises(FileExistsError, match="--resume"):
        start_run(tmp_path / "run", TrainConfig(seed=9))
    assert open_run(tmp_path / "run") == config


def test_a_free_folder_is_taken_at_once(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    folders = [free_run_folder(runs, "quick") for _ in range(3)]
    assert folders == [runs / "quick", runs / "quick-2", runs / "quick-3"]
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot make .*file.*--output"):
        free_run_folder(tmp_path / "file" / "below", "quick")


def test_a_folder_without_a_run_or_without_all_its_settings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no training run"):
        open_run(tmp_path)
    file = start_run(tmp_path / "run", TrainConfig()) / "config.yaml"
    file.write_text(file.read_text().replace("  clip: 0.15\n", ""))
    with pytest.raises(ValueError, match=r"config\.yaml lacks clip: restore"):
        open_run(tmp_path / "run")


def test_overrides_may_be_mappings_and_lists_of_any_class() -> None:
    """As OmegaConf's are, which tests/toolkits has."""
    given = {"hidden": [8, 8], "game_options": {"num_players": 4, "bids": [1, 3]}, "opponents": ["random"]}
    lists = {"num_players": 4, "bids": UserList([1, 3])}
    other = {"hidden": UserList([8, 8]), "game_options": UserDict(lists), "opponents": UserList(["random"])}
    assert load_config("quick", overrides=UserDict(other)) == load_config("quick", overrides=given)
