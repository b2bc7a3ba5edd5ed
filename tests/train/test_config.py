"""Where the settings of a training run come from, and what is refused."""

from __future__ import annotations

import copy
import errno
import os
import pickle
from collections import UserDict, UserList
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.system.files import WriteError
from catbox_app.options import PRESETS
from catbox_env import GAMES, make_game
from catbox_train.config import TrainConfig
from catbox_train.dmc import DMCConfig
from catbox_train.exit import ExitConfig
from catbox_train.ppo import PPOConfig
from catbox_train.registry import algorithm_class, default_preset, load_config, preset_names
from catbox_train.runs.folder import free_run_folder, locked, open_run, start_run
from catbox_train.runs.loop import check_run
from tests.train.ppo_runs import algorithm_of


def loaded(*given: Any, **named: Any) -> Any:
    return load_config(*given, **named)


def test_later_sources_win(tmp_path: Path) -> None:
    """Defaults give way to the preset, the preset to the file, the file to single overrides."""
    file = tmp_path / "mine.yaml"
    file.write_text("update_epochs: 3\nclip_coef: 0.3\ngame_options: {rounds: 2}\n")
    preset = load_config("quick")
    config = loaded("quick", file, {"clip_coef": 0.25, "game_options.reward": "margin"})
    assert preset.game_options["num_players"] == 3
    assert preset.total_decisions != PPOConfig().total_decisions
    assert config.total_decisions == preset.total_decisions
    assert (config.update_epochs, config.clip_coef) == (3, 0.25)
    assert config.game_options == {"num_players": 3, "rounds": 2, "reward": "margin"}


@pytest.mark.parametrize("preset", ["quick", "standard", "strong"])
@pytest.mark.parametrize("game_id", GAMES)
def test_every_preset_is_for_every_game_and_number_of_players_on_a_computer_with_four_gib(
    preset: str, game_id: str
) -> None:
    assert preset_names() == ["quick", "standard", "strong", "gpu"] == list(PRESETS), (
        "as the command's help has it"
    )
    assert default_preset(game_id) == "quick"
    for num_players in range(2, 6):
        try:
            make_game(game_id, num_players=num_players)
        except ValueError:
            continue
        settings = {"game": game_id, "game_options.num_players": num_players}
        assert load_config(preset, overrides=settings).make_game().num_players == num_players
    config, game = check_run(load_config(preset, overrides={"game": game_id, "device": "cpu"}))
    assert 2**20 < algorithm_class(config.algorithm).memory_needed(config, game) < 4 * 2**30


def test_a_preset_makes_an_algorithm_of_another_kind_too() -> None:
    config = loaded("quick", overrides={"algorithm": "dmc", "device": "cpu", "games_per_update": 10})
    assert isinstance(config, DMCConfig)
    assert config.opponents == {"random": 0.1, "heuristic": 0.1}
    resolved: Any = config.resolved(config.make_game())
    trainer: Any = algorithm_of(resolved)
    assert trainer.network.describe()["hidden"] == [128, 128]


@pytest.mark.parametrize("options", [{"num_players": 3}, {"num_players": 5, "rounds": 4}])
def test_an_update_makes_about_32768_decisions_by_default(options: dict[str, Any]) -> None:
    """Counted, in a game with few of them."""
    config = loaded(overrides={"game_options": options, "hidden": [8], "update_epochs": 1, "device": "cpu"})
    resolved = config.resolved(config.make_game())
    assert resolved.precision in ("float32", "bfloat16")
    played, _ = algorithm_of(resolved).update(0, 0.0)
    assert played == pytest.approx(32_768, rel=0.05)


def test_a_preset_is_refused_for_a_game_that_it_has_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"preset 'quick' is for cat_in_the_box_v0, .*not for 'nim_v0'"):
        load_config("quick", overrides={"game": "nim_v0"})
    (tmp_path / "mine.yaml").write_text("game: petrify_v0\n")
    assert loaded("quick", tmp_path / "mine.yaml").minibatch_size == 4096


def test_what_is_typed_may_be_text_of_the_command_line() -> None:
    config = loaded(
        overrides={
            "learning_rate": "5e-4",
            "hidden": "128,64",
            "action_features": "false",
            "total_decisions": "2e6",
            "seed": "7",
            "eval_opponents": "random",
            "game_options": {"num_players": 3, "bids": [1, 3, 4]},
        }
    )
    assert (config.learning_rate, config.hidden, config.seed) == (5e-4, (128, 64), 7)
    assert config.action_features is False
    assert config.total_decisions == 2_000_000
    assert config.eval_opponents == ("random",)
    assert config.make_game().rules.bids == (1, 3, 4)


def test_numbers_of_numpy_are_numbers() -> None:
    given = {
        "seed": np.int64(3),
        "learning_rate": np.float32(0.5),
        "hidden": (np.int32(8), np.int64(16)),
        "action_features": np.bool_(False),
        "opponents": {"random": np.float64(0.25)},
        "game_options": {"num_players": np.int64(3), "bids": (np.int8(1), np.int8(3))},
    }
    plain = {
        "seed": 3,
        "learning_rate": 0.5,
        "hidden": [8, 16],
        "action_features": False,
        "opponents": {"random": 0.25},
        "game_options": {"num_players": 3, "bids": [1, 3]},
    }
    for config in (PPOConfig(**given), load_config(overrides=given), PPOConfig().replace(**given)):
        assert config == PPOConfig(**plain)
        assert config.to_yaml() == PPOConfig(**plain).to_yaml()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"learning_rat": 1}, "unknown setting 'learning_rat'.*did you mean 'learning_rate'"),
        ({"update_epochs": "two"}, "update_epochs = 'two': expected a whole number"),
        ({"clip_coef": "nan"}, "clip_coef = 'nan': expected a finite number"),
        ({"clip_coef": 0}, "clip_coef = 0: expected more than 0"),
        ({"features": 7}, "features = 7: expected true, false or package.module:function"),
        ({"hidden": "64,x"}, "hidden = '64,x': expected a whole number"),
        ({"hidden": []}, r"hidden = \[\]: "),
        ({"gamma": 1.1}, "gamma = 1.1: expected at most 1"),
        ({"activation": "gelu"}, "activation = 'gelu': expected 'relu' or 'tanh'"),
        ({"workers": 100_000}, "workers = 100000: expected at most 256"),
        ({"device": "gpu"}, "device = 'gpu': expected auto, cpu, cuda or cuda:N"),
        ({"device": "cuda:01"}, "device = 'cuda:01': expected auto, cpu, cuda or cuda:N"),
        ({"device": 0}, "device = 0: expected auto, cpu, cuda or cuda:N"),
        ({"game_options": "three"}, "game_options = 'three': expected a mapping"),
        ({"algorithm": "dmc", "ent_coef": 0.1}, "unknown setting 'ent_coef'"),
        ({"algorithm": "dmc", "epsilon": 1.5}, "epsilon = 1.5: expected at most 1"),
        ({"algorithm": "exit", "search_share": 0}, "search_share = 0: expected more than 0"),
        ({"algorithm": "exit", "search_worlds": 16}, "unknown setting 'search_worlds'"),
        (
            {"algorithm": "sb3"},
            "unknown algorithm 'sb3'; expected one of ppo, dmc, exit, or 'package.module:Class'",
        ),
        ({"opponents": "random"}, "opponents = 'random': expected a mapping.* eval_opponents"),
    ],
)
def test_bad_settings_are_refused_by_name_and_value(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides=overrides)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": True}, "seed = True: expected a number"),
        ({"hidden": True}, "hidden = True: expected a number"),
        ({"opponents": {"heuristic": True}}, "opponents = .*: expected a number"),
        ({"workers": "two"}, "workers = 'two': expected a whole number, or auto"),
        ({"games_per_update": 0}, "games_per_update = 0: expected at least 1, or auto"),
    ],
)
def test_yes_is_no_number_and_auto_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config(overrides=settings)


def test_arrays_are_lists_and_one_game_an_update_has_one_worker() -> None:
    assert load_config(overrides={"hidden": np.array([8, 4])}).hidden == (8, 4)
    one = load_config(overrides={"games_per_update": 1, "device": "cpu"})
    assert one.resolved(one.make_game()).workers == 1


def test_every_wrong_setting_is_told_in_one_line() -> None:
    with pytest.raises(ValueError, match="update_epochs") as refusal:
        PPOConfig(update_epochs=0, hidden=["x", "y"], clip_coef="fast")
    parts = ("hidden = ['x', 'y']: ", "; update_epochs = 0: ", "; clip_coef = 'fast': ")
    assert all(part in f"; {refusal.value}" for part in parts)
    assert str(refusal.value).count("hidden") == 1
    with pytest.raises(
        ValueError, match=r"'sede'; did you mean 'seed'\?; unknown setting 'epoks'"
    ) as refusal:
        PPOConfig(sede=1, epoks=2)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hidden: [[8]]", r"hidden = \[\[8\]\]: expected a whole number"),
        ("clip_coef: .nan", r"clip_coef = nan: expected a finite number"),
        ("total_decisions: 1" + 400 * "0", "total_decisions = 1000.*expected "),
        ("seed: 18446744073709551616", r"seed = .*expected at most 18446744073709551615"),
        ("eval_opponents: [random, []]", r"eval_opponents = \['random', \[\]\]: expected a text"),
        ("game: [cat_te_v0]", r"game = \['cat_te_v0'\]: expected a text"),
        ("game_options: [bids]", r"game_options = \['bids'\]: expected a mapping"),
        ("1: 2", "config.yaml: expected lines 'setting: value'"),
        ("- 1\n- 2\n", r"config\.yaml: expected lines 'setting: value'"),
        ("just words", r"config\.yaml: expected lines"),
        ("seed: [\n", r"config\.yaml is not valid YAML: while parsing"),
        ("seed: \0", r"config\.yaml is not valid YAML: "),
        ("seed: " + "[" * 5000, r"config\.yaml is not valid YAML: "),
        (
            "seed: !!python/object/apply:os.system [ls]",
            r"config\.yaml is not valid YAML: write the value itself instead of the tag ",
        ),
        ("hidden: &a [*a]", r"config\.yaml is not valid YAML: write .* instead of the anchor &a.* line 1"),
        ("game_options:\n  rounds: *b", r"config\.yaml is not valid YAML: .*the alias \*b.* line 2"),
        ("seed: !!int '7'", r"config\.yaml is not valid YAML: .*the tag tag:yaml.org,2002:int.* line 1"),
        ("seed: 2024-99-01", r"config\.yaml is not valid YAML: month must be"),
    ],
    ids=lambda text: text[:30],
)
def test_what_a_strangers_file_may_hold_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=message) as refusal:
        load_config(file=file)
    assert len(str(refusal.value)) < 1000
    assert "\n" not in str(refusal.value)


def test_a_configuration_is_copied_and_pickled_and_never_changed() -> None:
    config = loaded("quick", overrides={"game": "petrify_v0", "game_options.size": "5"})
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config.replace() == config
    other = {**config.as_dict(), "seed": 9, "hidden": [8]}
    assert config.replace(seed="9", hidden=8).as_dict() == other
    with pytest.raises(ValueError, match="workers = 0: expected at least 1"):
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


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are none, as on Lustre, filelock makes do with the file itself; where they fail, as on some NFS, a
    message says what to do."""
    error = OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    def flock(*_: object) -> None:
        raise error

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.warns(match="SoftFileLock"):
        test_a_folder_is_locked_while_a_run_trains_in_it(tmp_path)
    for number in (errno.ENOLCK, errno.EOPNOTSUPP):
        error = OSError(number, os.strerror(number))
        with pytest.raises(WriteError, match="cannot lock files: use one that can"), locked(tmp_path / "new"):
            pass


def test_a_written_configuration_reads_back_the_same_and_is_not_written_over(tmp_path: Path) -> None:
    config = load_config("standard", overrides={"hidden": [8], "gamma": 1, "game_options.bids": (1, 3)})
    start_run(tmp_path / "run", config)
    assert open_run(tmp_path / "run") == config
    with pytest.raises(FileExistsError, match="--resume"):
        start_run(tmp_path / "run", PPOConfig(seed=9))
    assert open_run(tmp_path / "run") == config


def test_every_setting_is_described_with_its_default_as_it_is_typed() -> None:
    for kind in (TrainConfig, PPOConfig, DMCConfig, ExitConfig):
        rows = kind.describe()
        assert [name for name, _, _ in rows] == list(kind.model_fields)
        assert all(meaning and "\n" not in default for _, default, meaning in rows)
    assert ("hidden", "[256, 256]") in [row[:2] for row in PPOConfig.describe()]


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
    file = start_run(tmp_path / "run", PPOConfig()) / "config.yaml"
    file.write_text(file.read_text().replace("clip_coef: 0.15\n", ""))
    with pytest.raises(ValueError, match=r"config\.yaml lacks clip_coef: restore"):
        open_run(tmp_path / "run")


def test_overrides_may_be_mappings_and_lists_of_any_class() -> None:
    """As OmegaConf's are, which tests/toolkits has."""
    given = {
        "hidden": [8, 8],
        "game_options": {"num_players": 4, "bids": [1, 3]},
        "eval_opponents": ["random"],
    }
    lists = {"num_players": 4, "bids": UserList([1, 3])}
    other = {
        "hidden": UserList([8, 8]),
        "game_options": UserDict(lists),
        "eval_opponents": UserList(["random"]),
    }
    assert load_config("quick", overrides=UserDict(other)) == load_config("quick", overrides=given)
