"""What the repository says about itself is true: docs, import contracts, commands."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import yaml
from typer.testing import CliRunner

import catbox_env
from catbox_app.cli import app
from catbox_env import make_game
from catbox_train.registry import preset_names
from docs import generate
from docs.illustrations import images

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


def run_python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )


#: What the core may not load: the extras, and what is loaded when a picture is asked for.
EXTRAS = (
    "catbox_env.pictures",
    "torch", "stable_baselines3", "pygame", "matplotlib", "httpx2", "ray", "pyspiel", "rich", "typer", "pydantic",
    "pyvips", "filelock", "safetensors", "tensorboard",
)  # fmt: skip


def test_importing_the_core_loads_none_of_the_extras() -> None:
    program = (
        "import sys, catbox_env; from catbox_env import cat_in_the_box_v0;"
        "env = cat_in_the_box_v0.env(render_mode='ansi'); env.reset(seed=1); env.render();"
        f"print([name for name in {EXTRAS} if name in sys.modules])"
    )
    result = run_python("-c", program)
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert version == catbox_env.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def workflow(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("tag", "urls", "said"),
    [
        ("v1.2.0", "[project.urls]\nRepository = 'https://example.org'", ""),
        ("v1.2.1", "[project.urls]\nRepository = 'https://example.org'", "the tag is v1.2.1, but"),
        ("v1.2.0", "", "no [project.urls]"),
    ],
)
def test_a_release_needs_its_version_as_tag_and_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tag: str, urls: str, said: str
) -> None:
    steps = workflow("release.yml")["jobs"]["build"]["steps"]
    (check,) = (step["run"] for step in steps if step.get("shell") == "python")
    (tmp_path / "pyproject.toml").write_text(f"[project]\nversion = '1.2.0'\n{urls}\n")
    monkeypatch.setenv("GITHUB_REF_NAME", tag)
    ran = run_python("-c", check, cwd=tmp_path)
    assert ran.returncode == bool(said), ran.stderr
    assert said in ran.stderr


def test_continuous_integration_runs_the_oldest_and_the_newest_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    assert project["requires-python"] == f">={named[0]}"
    assert workflow("ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == [named[0], named[-1]]


def test_generated_blocks_are_in_step_with_the_code() -> None:
    names = set()
    for page in generate.pages():
        text = page.read_text(encoding="utf-8")
        names |= {match[2] for match in generate.MARKED.finditer(text)}
        assert text == generate.updated(text), f"{page.name}: run .venv/bin/python docs/generate.py"
    assert names == set(generate.BLOCKS)
    assert "<br>" not in generate.highlights("")
    drawn = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "images").iterdir()}
    assert drawn == dict(images()), "run .venv/bin/python docs/generate.py"


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_the_page_of_an_environment_says_where_each_part_of_an_observation_begins(game_id: str) -> None:
    text = (ROOT / "docs" / f"{game_id}.md").read_text(encoding="utf-8")
    header = re.search(r"^\| part \| shape \| values \| (.*) \| meaning \|$", text, re.MULTILINE)
    assert header
    for column, players in enumerate(re.findall(r"P=(\d)", header[1])):
        layout = make_game(game_id, num_players=int(players)).observation_layout
        for name in layout.names:
            row = re.search(rf"^\| `{name}` \| (.*) \|$", text[header.end() :], re.MULTILINE)
            assert row, name
            offset = row[1].split(" | ")[2 + column].strip()
            part = layout.get(name)
            assert offset == ("" if part is None or not part.size else str(part.offset)), (name, players)
    layout = make_game(game_id, num_players=3).observation_layout
    name, place = re.search(r"with three players, index\s+100\s+is\s+`(\w+)\[([\d, ]+)\]`", text).groups()
    numbers = layout.unpack(np.arange(layout.size))[name]
    assert numbers[tuple(map(int, place.split(", ")))] == 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_are_at_most_90_columns_wide(page: Path) -> None:
    for block in re.findall(r"^ *```.*?^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        assert [line for line in block.splitlines() if len(line) > 90] == []


def test_no_page_installs_catbox_from_pypi_where_it_is_not() -> None:
    for path in [*PAGES, *ROOT.glob("examples/*.py"), *ROOT.glob("notebooks/*.ipynb")]:
        found = re.search(r"pip install .*catbox-env.*", path.read_text(encoding="utf-8"))
        assert found is None, f"{path.name}: {found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_docs_exist(page: Path) -> None:
    commands = typer.main.get_command(app).commands
    text = page.read_text(encoding="utf-8").replace("\\\n", "")
    for line in re.findall(r"^ *catbox (.*)$", text, re.MULTILINE):
        name, *words = shlex.split(line, comments=True)
        command = commands[name]
        if hasattr(command, "commands"):
            command = command.commands[words[0]]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
        if "--preset" in words:
            assert words[words.index("--preset") + 1] in preset_names(), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    for target in links + re.findall(r'\b(?:src|srcset)="([^"]+)"', text):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def uninstall(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Have the commands find none of ``packages``."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in packages else find_spec(name)
    )


def test_catbox_without_its_extras_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from catbox_app import __main__ as command

    uninstall(monkeypatch, "typer", "rich")
    with pytest.raises(SystemExit) as exit_:
        command.main()
    assert "needs typer, rich" in str(exit_.value)
    assert "pip install -e '.[cli]'" in str(exit_.value)


@pytest.mark.parametrize("command", ["train", "compile"])
def test_training_without_its_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    uninstall(monkeypatch, "torch")
    refused = CliRunner().invoke(app, [command])
    assert refused.exit_code == 2
    assert f"catbox {command} needs torch" in refused.output
    assert "pip install -e '.[train]'" in refused.output


#: What the extras other than "cli" install, and the training package.
NOT_FOR_PLAYING = (
    "catbox_train", "choix", "filelock", "matplotlib", "httpx2", "psutil", "pyspiel", "ray", "safetensors",
    "sb3_contrib", "scipy", "stable_baselines3", "tensorboard", "torch", "yaml",
)  # fmt: skip


@pytest.mark.slow
def test_playing_and_comparing_need_typer_and_rich_alone(tmp_path: Path) -> None:
    """In a process in which nothing that another extra installs can be imported."""
    commands = [
        ["info", "-p", "2"],
        ["evaluate", "best", "heuristic", "random", "search:worlds=1", "--deals", "10", "-p", "4"],
        ["watch", "easy", "normal", "--game", "cat_te_v0", "--save", str(tmp_path / "watched.jsonl")],
        ["replay", str(tmp_path / "watched.jsonl")],
        ["play", "heuristic", "-p", "2", "--seed", "1", "--hint", "--save", str(tmp_path / "played.jsonl")],
    ]
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {NOT_FOR_PLAYING}:\n"
        "            raise ModuleNotFoundError(f'{name} is not installed', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from catbox_app.__main__ import main\n"
        f"for command in {commands}:\n"
        "    sys.argv[1:] = command\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as ended:\n"
        "        assert not ended.code, (command, ended.code)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, input="quit\n", capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) > 50


def test_benchmarks_write_their_metrics(tmp_path: Path) -> None:
    result = run_python("-m", "benchmarks", "step", "--quick", "--json", str(tmp_path / "metrics.json"))
    assert result.returncode == 0, result.stderr
    record = json.loads((tmp_path / "metrics.json").read_text())
    assert "Python" in record["machine"]
    assert all(metric["value"] > 0 for metric in record["metrics"])
    assert "| vec.step, 4,096 games" in result.stdout


def test_every_mutant_changes_one_place_of_the_code() -> None:
    mutants = tomllib.loads((ROOT / "tests" / "mutants" / "mutants.toml").read_text(encoding="utf-8"))[
        "mutant"
    ]
    apply = {
        m["id"]: (ROOT / m["file"]).read_text(encoding="utf-8").count(m["old"])
        for m in mutants
        if "gone" not in m
    }
    assert len(apply) > 100
    assert {name: count for name, count in apply.items() if count != 1} == {}
