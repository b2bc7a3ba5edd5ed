"""Policies in a submission: a copy of each plays, lies beside its games and is asked again; a forged one is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from catbox_agents.bench import scenarios, verify
from catbox_agents.bench.run import SUBMISSION_FILE
from catbox_agents.zoo import zoo_agent
from tests.agents.bench.small import QUICK, _few_deals, submit  # noqa: F401  (a fixture)

POLICY = "petrify-4x4.safetensors"


@pytest.fixture(scope="module")
def with_policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "with_policy"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenarios, "QUICK", QUICK)
        submit(folder, str(zoo_agent("zoo:petrify-4x4").path))
    return folder


def test_a_policy_lies_beside_its_games_and_is_asked(with_policy: Path) -> None:
    content = json.loads((with_policy / SUBMISSION_FILE).read_text())
    assert content["agent"]["specs"] == {"petrify-4x4": POLICY}
    assert (with_policy / POLICY).read_bytes() == zoo_agent("zoo:petrify-4x4").path.read_bytes()
    found = verify(with_policy)
    assert found.is_valid, found.problems
    assert found.asked == ["petrify-4x4"]


def test_the_copy_of_a_policy_plays_also_if_its_run_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "policy.safetensors"
    shutil.copyfile(zoo_agent("zoo:petrify-4x4").path, run)

    def learn_on(games: int, total: int) -> None:
        run.unlink(missing_ok=True)

    submit(tmp_path / "out", str(run), progress=learn_on)
    assert verify(tmp_path / "out").asked == ["petrify-4x4"]


def other_weights(policy: Path) -> None:
    data = policy.read_bytes()
    policy.write_bytes(data[:-4000] + bytes(4000))


def code_in_the_header(policy: Path) -> None:
    data = policy.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    described = json.loads(header["__metadata__"]["catbox"])
    described["network"]["class"] = "tests.agents.bench.small:Raising"
    header["__metadata__"]["catbox"] = json.dumps(described)
    text = json.dumps(header).encode()
    policy.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])


POLICY_FORGERIES: dict[Any, str] = {
    other_weights: "is not the agent that played: its fingerprint is another",
    code_in_the_header: r"its policy cannot be asked: .* are code",
    lambda policy: policy.unlink(): "its policy cannot be asked: .*No such file",
    lambda policy: policy.write_bytes(
        policy.read_bytes()[:-100]
    ): "its policy cannot be asked: .* is damaged",
    lambda policy: shutil.copyfile(
        zoo_agent("zoo:petrify-full").path, policy
    ): "its policy cannot be asked: .*was tr",
    lambda policy: (policy.unlink(), os.mkfifo(policy)): "its policy cannot be asked: .* is no regular file",
    lambda policy: os.truncate(policy, 1 << 40): "its policy cannot be asked: .* more than 134,217,728 bytes",
}


@pytest.mark.parametrize("forge", POLICY_FORGERIES)
def test_a_forged_policy_is_refused_by_name(forge: Any, with_policy: Path, tmp_path: Path) -> None:
    shutil.copytree(with_policy, tmp_path / "out")
    forge(tmp_path / "out" / POLICY)
    (problem, *_) = verify(tmp_path / "out").problems
    assert re.search(f"^petrify-4x4: .*{POLICY_FORGERIES[forge]}", problem)
