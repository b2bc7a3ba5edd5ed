"""Where the settings of a training run come from, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from catbox_train.config import TrainConfig, load_config, preset_names
from catbox_train.runs.folder import free_run_folder, locked, open_run, start_run


def test_later_sources_win(tmp_path: Path) -> None:
    """Defaults give way to the preset, the preset to the file, the file to single overrides."""
    file = tmp_path / "mine.yaml"
    file.write_text("epochs: 3\nclip: 0.3\ngame_options: {rounds: 2}\n")
    preset = load_config("quick")
    config = load_config("quick", file, {"clip": "0.25", "game_options.reward": "margin"})
    assert preset.game_options["num_players"] == 3
    assert preset.total_decisions != TrainConfig().total_decisions
    assert config.total_decisions == preset.total_decisions
    assert config.epochs == 3
    assert config.clip == 0.25
    assert config.game_options == {"num_players": 3, "rounds": 2, "reward": "margin"}


@pytest.mark.parametrize("preset", ["quick", "standard"])
def test_presets_can_be_played(preset: str) -> None:
    assert preset in preset_names()
    assert load_config(preset).make_game().num_players >= 3


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
    assert config.learning_rate == 5e-4
    assert config.hidden == (128, 64)
    assert config.privileged_critic is True
    assert config.total_decisions == 2_000_000
    assert config.opponents == ("random",)
    assert config.make_game().rules.bids == (1, 3, 4)


def test_a_written_configuration_reads_back_the_same(tmp_path: Path) -> None:
    config = load_config("standard", overrides={"hidden": [8], "gamma": 1, "game_options.bids": (1, 3)})
    start_run(tmp_path / "run", config)
    assert open_run(tmp_path / "run") == config


def test_every_setting_says_what_it_does() -> None:
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    rows = TrainConfig.describe()
    assert [name for name, *_ in rows] == names
    assert all(len(text) > 10 for *_, text in rows)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"learning_rat": 1}, "unknown setting 'learning_rat'.*did you mean 'learning_rate'"),
        ({"hidden.first": 1}, "unknown setting 'hidden.first'"),
        ({"epochs": "two"}, "epochs = 'two': expected int"),
        ({"epochs": 1.5}, "epochs = 1.5: expected int"),
        ({"epochs": True}, "epochs = True: expected int"),
        ({"epochs": 0}, "epochs = 0: expected at least 1"),
        ({"clip": "nan"}, "clip = nan: expected more than 0"),
        ({"learning_rate": "fast"}, "learning_rate = 'fast': expected float"),
        ({"privileged_critic": 1}, "privileged_critic = 1: expected bool"),
        ({"hidden": []}, "hidden = .*expected one width or more"),
        ({"hidden": "64,x"}, "hidden = 'x': expected int"),
        ({"gamma": 1.1}, "gamma = 1.1: expected between 0 and 1"),
        ({"activation": "gelu"}, "activation = 'gelu': expected one of relu, tanh"),
        ({"precision": "float16"}, "precision = 'float16': expected one of auto"),
        ({"num_envs": 1023}, r"num_envs = 1023: expected a multiple of workers \(2\)"),
        ({"batch_size": 1000}, r"batch_size = 1000: expected a multiple of num_envs \(512\)"),
        ({"minibatch_size": 3000}, "multiple of minibatch_size"),
        ({"workers": 100_000}, "workers = 100000: expected between 1 and 256"),
        ({"workers": 0}, "workers = 0: expected between 1 and 256"),
        ({"game_options": {1: 2}}, "game_options = {1: 2}.*1 is no name of an option"),
        ({"game_options": "three"}, "game_options = 'three'.*expected a mapping"),
    ],
)
def test_bad_settings_are_refused_by_name_and_value(overrides: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides=overrides)


def test_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown preset 'fast': choose one of quick, standard"):
        load_config("fast")


@pytest.mark.parametrize("text", ["a: [1", "- 1\n- 2\n", "just words"])
def test_a_file_that_holds_no_settings_is_refused_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"bad\.yaml"):
        load_config(file=file)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.yaml"):
        load_config(file=tmp_path / "none.yaml")


def test_a_folder_with_a_run_is_not_begun_anew(tmp_path: Path) -> None:
    start_run(tmp_path / "run", TrainConfig())
    before = (tmp_path / "run" / "config.yaml").read_bytes()
    with pytest.raises(FileExistsError, match="--resume"):
        start_run(tmp_path / "run", TrainConfig(seed=9))
    assert (tmp_path / "run" / "config.yaml").read_bytes() == before


def test_a_free_folder_is_taken_at_once_and_can_be_started_in(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    folders = [free_run_folder(runs, "quick") for _ in range(3)]
    assert folders == [runs / "quick", runs / "quick-2", runs / "quick-3"]
    start_run(folders[0], TrainConfig())
    assert open_run(folders[0]) == TrainConfig()
    (tmp_path / "file").write_text("")
    for parent in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"cannot make .*file.*--output"):
            free_run_folder(parent, "quick")


def test_a_folder_is_locked_while_a_run_trains_in_it(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        locked(tmp_path / "run"),
        pytest.raises(OSError, match="another process is training in this folder"),
        locked(tmp_path / "run"),
    ):
        pass
    with locked(tmp_path / "run"):
        pass


def test_a_run_without_all_its_settings_is_refused(tmp_path: Path) -> None:
    file = start_run(tmp_path / "run", TrainConfig()) / "config.yaml"
    file.write_text(file.read_text().replace("clip: 0.15\n", ""))
    with pytest.raises(ValueError, match=r"config\.yaml lacks clip: put back"):
        open_run(tmp_path / "run")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot write .*--output"):
        start_run(tmp_path / "file" / "run", TrainConfig())


def test_resuming_where_there_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no training run to resume"):
        open_run(tmp_path)
