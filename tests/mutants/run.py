"""Puts each mutant of mutants.toml into a tree and records which of the environment's tests catches it.

Every mutant goes through up to three phases, until a test fails: the tests that are likely to catch it, without
compilation; the same ones compiled; all of the environment's tests of the default run. Mutants in the results are
skipped: to repeat one, delete its line. A mutant may name its own likely tests (`likely`), or say why no bug of its
kind is left (`gone`). Python needs the project's dependencies; the tree's packages come first.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDERS = [f"tests/{name}" for name in ("core", "games", "cat_in_the_box", "cat_te", "petrify", "adapters")]
LEFT_OUT = "tests/core/test_fuzz.py"  # not in the default run: needs code compiled with checks of every index
#: Of all the tests these come last: of what is to be removed, of agents, of tools and of the cache of compiled code.
LAST = r"picture|feature|heuristic|raster|check_state|saved|(uniform|sampled)_pasts|thread|compil|stale|without_numba"
GENERAL = ["tests/games/test_conformance.py", "tests/core/test_worlds.py", "tests/core/test_past.py"]
PLAYED = "tests/core/test_playthroughs.py"
#: The tests that are likely to catch a mutant, by its group, best first: patterns of files.
LIKELY = {
    "citb_rules": ["tests/cat_in_the_box/test_rules_*.py", "tests/cat_in_the_box/test_reference.py"],
    "citb_hidden": ["tests/cat_in_the_box/test_sampling.py", "tests/core/test_chance_outcomes.py", *GENERAL],
    "citb_vectors": [
        "tests/cat_in_the_box/test_re*.py",
        PLAYED,
        "tests/cat_in_the_box/test_sampling.py",
        *GENERAL,
    ],
    "citb_events": ["tests/cat_in_the_box/test_events.py", *GENERAL[:1]],
    "cat_te_rules": ["tests/cat_te/test_rules_*.py", "tests/cat_te/test_reference.py"],
    "cat_te_hidden": ["tests/cat_te/test_sampling.py", "tests/cat_te/test_information.py", *GENERAL],
    "cat_te_vectors": ["tests/cat_te/test_re*.py", PLAYED, "tests/cat_te/test_sampling.py", *GENERAL],
    "cat_te_events": ["tests/cat_te/test_events.py", "tests/cat_te/test_information.py", *GENERAL[:1]],
    "petrify_rules": ["tests/petrify/test_rules_*.py", "tests/petrify/test_reference.py"],
    "petrify_hidden": [
        "tests/petrify/test_rules_setup.py",
        "tests/core/test_chance_outcomes.py",
        *GENERAL[:2],
    ],
    "petrify_vectors": [
        "tests/petrify/test_re*.py",
        PLAYED,
        "tests/petrify/test_conformance.py",
        *GENERAL[:2],
    ],
    "petrify_events": ["tests/petrify/test_events.py", *GENERAL[:1]],
    "aec": ["tests/core/test_aec.py", "tests/core/test_copies.py", *GENERAL[:1]],
    "openspiel": ["tests/adapters/test_openspiel.py", "tests/adapters/test_openspiel_*.py"],
    "core": ["tests/core/test_batch.py", *GENERAL[1::-1], "tests/core/test_chance_outcomes.py"],
}
#: Phases: whether compiled, and the limit in seconds of processor time, past which the exit is -9.
PHASES = {"nojit": (False, 200), "likely": (True, 400), "all": (True, 1200)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", help="ids or groups; all by default")
    parser.add_argument(
        "--tree", type=Path, required=True, help="a clone of the repository, which is changed"
    )
    parser.add_argument("--mutants", type=Path, default=HERE / "mutants.toml")
    parser.add_argument("--results", type=Path, default=HERE / "results.jsonl")
    parser.add_argument("--phases", nargs="*", choices=PHASES, default=[*PHASES])
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the file is restored
    args.results.touch()
    done = {json.loads(line)["id"] for line in args.results.read_text().splitlines()}
    for mutant in tomllib.loads(args.mutants.read_text())["mutant"]:
        known = {key: mutant[key] for key in ("id", "group")}
        if (
            known["id"] not in done
            and "gone" not in mutant
            and (not args.only or set(known.values()) & set(args.only))
        ):
            began = time.monotonic()
            found = known | dict(
                zip(("status", "test", "phase"), judge(mutant, args.tree.resolve(), args.phases), strict=True)
            )
            found["seconds"] = round(time.monotonic() - began, 1)
            with args.results.open("a") as file:
                print(json.dumps(found), file=file)
            print(found, flush=True)
    results = [json.loads(line) for line in args.results.read_text().splitlines()]
    print(
        Counter(result["status"] for result in results),
        f"in {sum(r['seconds'] for r in results) / 60:.0f} minutes",
    )


def judge(mutant: dict[str, Any], tree: Path, phases: list[str]) -> tuple[str, str | None, str]:
    """Whether a mutant is caught, survived or an error; by which test, or why; and in which phase."""
    path = tree / mutant["file"]
    original = path.read_text() if path.exists() else ""
    if original.count(mutant["old"]) != 1:
        return "error", f"the old text occurs {original.count(mutant['old'])} times", "apply"
    try:
        path.write_text(original.replace(mutant["old"], mutant["new"]))
        module = mutant["file"].removesuffix(".py").replace("/", ".")
        code, output = call(["-c", f"import {module}"], tree, 120, compiled=True)
        if code:
            return "error", output[-300:], "import"
        return try_tests(mutant.get("likely", LIKELY[mutant["group"]]), tree, phases)
    finally:
        path.write_text(original)


def try_tests(patterns: list[str], tree: Path, phases: list[str]) -> tuple[str, str | None, str]:
    likely = dict.fromkeys(path for pattern in patterns for path in sorted(tree.glob(pattern)))
    every = [path for folder in FOLDERS for path in sorted((tree / folder).glob("test_*.py"))]
    every = sorted(set(every) - {tree / LEFT_OUT}, key=lambda path: (bool(re.search(LAST, path.name)), path))
    for phase in phases:
        compiled, seconds = PHASES[phase]
        files = [str(path) for path in (every if phase == "all" else likely)]
        marks = "not slow and not faults" + ("" if compiled else " and nojit")
        pytest = ["-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-m", marks, *files]
        code, output = call(pytest, tree, seconds, compiled) if files else (5, "")
        if code not in (0, 5):  # 5: no test has these marks
            found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
            return "caught", found[1] if found else f"exit {code}", phase
    return "survived", None, phase


def call(arguments: list[str], tree: Path, seconds: int, compiled: bool) -> tuple[int, str]:
    """Exit status and output of Python in the tree. The limit is on its own processor time, so that it can wait."""
    packages = os.pathsep.join(str(tree / folder) for folder in (".", "agents", "train", "app"))
    own = {"PYTHONPATH": packages, "NUMBA_CACHE_DIR": f"{tree}_cache", "OMP_NUM_THREADS": "1"}
    own |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
    limited = ["prlimit", f"--cpu={seconds}", sys.executable, *arguments]
    process = subprocess.Popen(limited, cwd=tree, env=os.environ | own, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    try:
        output, _ = process.communicate()
        return process.returncode, output
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    main()
