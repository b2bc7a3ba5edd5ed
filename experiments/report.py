"""docs/experiments.md and its pictures: the numbers from the JSON lines alone, the words from the studies."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from catbox_agents.arena.report import markdown_table
from catbox_agents.files import write_atomically
from experiments.fields import fields_table, read_fields
from experiments.pictures import Runs, checksum, picture
from experiments.results import Folders, RunResult, mean_of, write_file
from experiments.speeds import Speed, read_speeds, speed_key
from experiments.study import Study, read_study, study_names
from experiments.zoo_pages import cards, leaderboard_page

POLICY = "policy"
NOTHING = "-"

INTRODUCTION = """\
# Experiments

What each setting of training brings. `python -m experiments report` makes this page from
`experiments/results/*.jsonl`, a line for each run, and from the studies in `experiments/studies`; nothing in it is
written by hand but the questions and conclusions, which are in the files of the studies.

How to read the tables:

- A margin is the mean score of the one agent minus that of the others at the table, in points a round, on deals that
  are played from every seat ([evaluation](training.md#evaluation)). These are the matches at the end, on other deals
  than the evaluations of the run on the way; runs with the same seed play the same deals. A net takes its most probable
  action.
- "0.12 ± 0.05 (0.08)": the mean over the seeds; half the width of its 95 % interval over the seeds (Student's t);
  in brackets that of a single run over the deals, the mean of the runs. With one seed there is no interval over seeds.
- Decisions/s are played and learned from, without evaluations, on the machine named under the table; seconds are the
  decisions at that speed. `python -m experiments speeds` measures it, for all variants one after the other on a machine
  that does nothing else; "≈" stands before the mean of runs that may have shared the machine.
- The runs of a study may have been made by several versions of catbox, which are named under its tables. The same
  settings and seed give another run in another version.
- A run whose numbers were not finite any more counts as diverged and has no matches.
- Fields: the net, and on the same deals the heuristic, has the first seat among the agents named; nets among them are
  of another seed. The last one fills the seats that are left. Half widths of 95 % intervals over the deals.

In the pictures a line is the mean over the seeds of the evaluations on the way, its band the 95 % interval over the
seeds (with one seed, over the deals; with two, there are thin lines of the two runs instead); once over decisions, once
over seconds. Each panel shows four variants at most; the grey lines are the others.
"""


def write_pages(folders: Folders) -> list[Path]:
    """Make the pages, the pictures and the cards of the zoo; what was written. Pictures of no study are removed."""
    texts, pictures = _made(folders)
    for file, text in texts.items():
        write_file(file, text)
    for file, parts in pictures.items():
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, picture(*parts))
    for stray in _pictures(folders) - pictures.keys():
        stray.unlink()
    return [*texts, *pictures]


def outdated_pages(folders: Folders) -> list[Path]:
    """The files that are not what the studies and results give: a page by its text, a picture by its checksum."""
    texts, pictures = _made(folders)
    contents = {file: file.read_text(encoding="utf-8") for file in [*texts, *pictures] if file.exists()}
    return [
        *(file for file, text in texts.items() if contents.get(file) != text),
        *(file for file, parts in pictures.items() if checksum(*parts) not in contents.get(file, "")),
        *sorted(_pictures(folders) - pictures.keys()),
    ]


def _pictures(folders: Folders) -> set[Path]:
    return set((folders.docs / "pictures").glob("experiments-*.svg"))


def _made(folders: Folders) -> tuple[dict[Path, str], dict[Path, tuple[Any, ...]]]:
    """File -> text of each page and card; file -> arguments of `picture`.

    Raises ``ValueError`` for results of a study that does not exist, and what `cards` raises.
    """
    names = study_names(folders.studies)
    if strays := {file.stem for file in folders.results.glob("*.jsonl")} - set(names):
        raise ValueError(f"there are results, but no studies, of these names: {', '.join(sorted(strays))}")
    speeds = read_speeds(folders.results)
    contents, sections, pictures = ["## The studies in short", ""], [], {}
    for name in names:
        study = read_study(name, folders.studies)
        by_rules = _grouped(study, folders.results_of(name))
        contents.append(_entry(study))
        sections.append(_section(name, study, by_rules, folders, speeds))
        if by_rules:
            opponent = {rules: _opponent(runs) for rules, runs in by_rules.items()}
            seconds = {
                rules: {variant: 1 / max(1.0, _speed(found, speeds)[0]) for variant, found in runs.items()}
                for rules, runs in by_rules.items()
            }
            file = folders.docs / "pictures" / f"experiments-{name}.svg"
            pictures[file] = (study.title, opponent, by_rules, seconds)
    texts = {
        folders.docs / "experiments.md": "\n".join([INTRODUCTION, *contents, "", *sections]),
        folders.docs / "leaderboard.md": leaderboard_page(folders),
        **cards(folders),
    }
    return texts, pictures


def _grouped(study: Study, results: Sequence[RunResult]) -> dict[str, dict[str, list[RunResult]]]:
    """Rule set -> variant -> runs by seed; what the study does not have any more comes last."""
    by_rules: dict[str, dict[str, list[RunResult]]] = {}
    for rules in _ordered(study.rules, (result.rules for result in results)):
        of_rules = sorted((r for r in results if r.rules == rules), key=lambda result: result.seed)
        by_rules[rules] = {
            variant: [result for result in of_rules if result.variant == variant]
            for variant in _ordered(study.variants, (result.variant for result in of_rules))
        }
    return by_rules


def _ordered(named: Iterable[str], found: Iterable[str]) -> list[str]:
    """What was ``found``, in the order of ``named``, then the others."""
    present = set(found)
    return list(dict.fromkeys([*(name for name in named if name in present), *sorted(present)]))


def _entry(study: Study) -> str:
    """A link to what the page says about the study, and the first sentence of its conclusion if it has one."""
    anchor = re.sub(r"[^\w -]", "", study.title.lower()).replace(" ", "-")
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", study.conclusion.strip(), maxsplit=1)[0]
    return f"- [{study.title}](#{anchor})" + (f": {' '.join(sentence.split())}" if sentence else "")


def _section(
    name: str, study: Study, by_rules: Mapping[str, Runs], folders: Folders, speeds: Mapping[str, Speed]
) -> str:
    """What the page says about one study."""
    lines = [f"## {study.title}", "", study.question, ""]
    lines += ["```", f"python -m experiments run {name}", "```", ""]
    if not by_rules:
        runs = len(study.rules) * len(study.variants) * len(study.seeds)
        lines += [f"Its {runs} runs have not been made yet.", ""]
    for rules, by_variant in by_rules.items():
        lines += [f"### {study.title}: {rules}", "", _table(by_variant, speeds), ""]
    fields = read_fields(name, folders)
    for rules in study.rules if fields else ():
        lines += [f"### {study.title}, fields: {rules}", "", markdown_table(fields_table(fields, rules)), ""]
    if by_rules:
        lines += [f"![Learning curves: {study.title}](pictures/experiments-{name}.svg)", ""]
        lines += [f"Measured on: {'; '.join(_origins(by_rules))}.", ""]
    if study.conclusion.strip():
        lines += [study.conclusion.strip(), ""]
    return "\n".join(lines)


def _table(by_variant: Runs, speeds: Mapping[str, Speed]) -> str:
    """A row for each variant under one rule set."""
    results = [result for runs in by_variant.values() for result in runs]
    matches = list(dict.fromkeys(match.agents for result in results for match in result.matches))
    varied = settings_that_vary(result.config for result in results)
    header = ["variant", "settings", "seeds", *map(_line_up, matches), "decisions", "decisions/s", "seconds"]
    rows = [header]
    for variant, runs in by_variant.items():
        finished = [run for run in runs if run.diverged is None]
        diverged = len(runs) - len(finished)
        settings = [_setting(name, runs) for name in varied if name in runs[0].config]
        rows.append(
            [
                variant,
                ", ".join(settings) or NOTHING,
                f"{len(runs)}" + (f", {diverged} diverged" if diverged else ""),
                *(_margin(finished, match) for match in matches),
                *_time(finished, speeds),
            ]
        )
    return markdown_table(rows)


def _time(runs: Sequence[RunResult], speeds: Mapping[str, Speed]) -> tuple[str, str, str]:
    """Decisions, decisions a second and seconds, for the table."""
    if not runs:
        return NOTHING, NOTHING, NOTHING
    decisions = statistics.fmean(run.decisions for run in runs)
    speed, alone = _speed(runs, speeds)
    about = "" if alone else "≈ "
    return f"{decisions:,.0f}", f"{about}{speed:,.0f}", f"{about}{decisions / max(1.0, speed):,.0f}"


def _speed(runs: Sequence[RunResult], speeds: Mapping[str, Speed]) -> tuple[float, bool]:
    """Decisions a second of a variant, and whether it was measured with nothing else running."""
    if measured := speeds.get(speed_key(runs[0].config)):
        return measured.decisions_per_second, True
    return sum(run.decisions for run in runs) / max(1e-9, sum(run.seconds for run in runs)), False


def _margin(runs: Sequence[RunResult], agents: tuple[str, str]) -> str:
    """The margin of a match over the seeds: mean, interval over seeds, and that of a single run over deals."""
    found = [match for run in runs for match in run.matches if match.agents == agents]
    if not found:
        return NOTHING
    mean, over_seeds = mean_of([match.margin for match in found])
    over_deals = statistics.fmean(match.margin_ci95 for match in found)
    return f"{mean:+.2f}" + ("" if over_seeds is None else f" ± {over_seeds:.2f}") + f" ({over_deals:.2f})"


def _line_up(agents: tuple[str, str]) -> str:
    one, others = ("net" if agent == POLICY else f"`{agent}`" for agent in agents)
    return f"one {one} among {'nets' if others == 'net' else others}"


def _origins(by_rules: Mapping[str, Runs]) -> list[str]:
    """Each machine, with the commits that ran on it."""
    commits: dict[str, set[str]] = {}
    for result in (result for runs in by_rules.values() for found in runs.values() for result in found):
        commits.setdefault(result.machine, set()).add(f"{result.version} {result.commit}".strip())
    return [
        f"{machine}, catbox {', '.join(sorted(versions))}" for machine, versions in sorted(commits.items())
    ]


def _opponent(by_variant: Runs) -> str:
    """Whom the curves are drawn against: the first opponent that is not ``random``, where there is one."""
    names = (name for runs in by_variant.values() for result in runs for name in result.curves)
    return next((name for name in names if name != "random"), "random")


def settings_that_vary(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names, but for the seed, of settings that have different values in the configurations.

    A setting that only some of them have (of one algorithm) does not vary if those agree on it.
    """
    values: dict[str, list[Any]] = {}
    for config in configs:
        for name, value in config.items():
            values.setdefault(name, []).append(value)
    return [name for name, found in values.items() if name != "seed" and any(v != found[0] for v in found)]


def _setting(name: str, runs: Sequence[RunResult]) -> str:
    """A setting with its value, or its values where runs of a variant differ (made on other machines)."""
    values = dict.fromkeys(_shown(run.config[name]) for run in runs if name in run.config)
    return f"`{name}={' or '.join(values)}`"


def _shown(value: Any) -> str:
    """A setting as the command line takes it."""
    if isinstance(value, list):
        return ",".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
