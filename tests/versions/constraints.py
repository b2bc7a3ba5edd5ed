"""Prints constraints for pip: ``lowest``, the lowest version that `pyproject.toml` allows of each direct dependency, or
``newest``, the newest of all. PyTorch has the version of `constraints.txt` in both, as others come with gigabytes of
CUDA."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lowest() -> dict[str, str]:
    """The lowest version of each direct dependency, development tools aside."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    groups.append(project["dependency-groups"]["test"])
    found: dict[str, str] = {}
    for line in (line for group in groups for line in group):
        if stated := re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", line):
            name, version = stated.groups()
            assert found.setdefault(name, version) == version, f"two lowest versions of {name}"
    return found


def torch() -> str:
    """The version of PyTorch in `constraints.txt`."""
    (version,) = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    return version


if __name__ == "__main__":
    versions = (lowest() if sys.argv[1] == "lowest" else {}) | {"torch": torch()}
    print("\n".join(f"{name}=={version}" for name, version in versions.items()))
