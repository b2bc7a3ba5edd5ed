"""The wheel, installed into an empty environment of each Python of the machine and used where no checkout is near."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
#: The constraints are written for the Python that runs the tests, whose PyTorch is at hand; others do not train here.
OWN = f"3.{sys.version_info.minor}"
#: Seconds that `catbox web` may take to compile the games and answer.
ANSWERS_WITHIN = 180


def pythons() -> dict[str, str]:
    """Version -> path of every Python from 3.11 that runs: commands, and the versions of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    commands = [sys.executable, *(f"python3.{minor}" for minor in range(11, 20))]
    commands += map(str, sorted(pyenv.glob("3.*/bin/python")))
    found: dict[str, str] = {}
    for command in filter(None, map(shutil.which, commands)):
        answer = subprocess.run([command, "--version"], capture_output=True, text=True)
        version = re.match(r"Python (3\.(\d+))\.\d+$", answer.stdout.strip())
        if answer.returncode == 0 and version and int(version[2]) >= 11:
            found.setdefault(version[1], command)
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.parametrize("version", pythons())
def test_the_wheel_plays_trains_and_serves_without_the_checkout(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    subprocess.run([pythons()[version], "-m", "venv", tmp_path / "venv"], check=True)
    extras, constraints = (
        ("web", []) if version != OWN else ("train,web", ["-c", str(ROOT / "constraints.txt")])
    )
    python, catbox = str(tmp_path / "venv/bin/python"), str(tmp_path / "venv/bin/catbox")
    install = [python, "-m", "pip", "install", "--quiet", "--no-input", "--no-compile"]
    subprocess.run([*install, *constraints, f"{wheel}[{extras}]"], check=True)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(*command: str, typed: str = "") -> str:
        answer = subprocess.run(
            [catbox, *command], cwd=nowhere, env=environment, input=typed, capture_output=True, text=True
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    assert "You have seat 0" in run("play", "best", "--players", "3", "--seed", "1", typed="quit\n")
    assert "best" in run("evaluate", "best", "heuristic", "--players", "3", "--deals", "50")
    if version == OWN:
        run("train", "--output", "runs/small", "--set", "total_decisions=50_000", "--set", "final_deals=50")
        assert "runs/small" in run("evaluate", "runs/small", "random", "--players", "3", "--deals", "50")
    assert_serves([catbox, "web", "--no-browser", "--port", "0"], nowhere, environment)


def assert_serves(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """The server names its address, and answers there with the page and a module of it."""
    log = folder / "web.txt"
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + ANSWERS_WITHIN

        def still_starting() -> bool:
            return server.poll() is None and time.monotonic() < deadline

        while not (address := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())):
            assert still_starting(), log.read_text()
            time.sleep(0.1)
        while True:
            try:
                page = urllib.request.urlopen(address[0], timeout=ANSWERS_WITHIN).read().decode()
                break
            except urllib.error.URLError:
                assert still_starting(), log.read_text()
                time.sleep(0.1)
        module = re.search(r'src="/?([^"]+\.js)"', page)
        assert module is not None, page
        assert urllib.request.urlopen(address[0] + module[1], timeout=10).status == 200
    finally:
        server.terminate()
        server.wait(30)
