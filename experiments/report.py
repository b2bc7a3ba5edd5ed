"""docs/experiments.md and its pictures: the numbers from the JSON lines alone, the words from the studies."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from catbox_agents.arena.report import markdown_table
from catbox_agents.files import write_atomically, writing
from experiments.fields import FieldResult, fields_table, read_fields
from experiments.pictures import checksum, picture
from experiments.results import RunResult, mean_of, read_results, results_file
from experiments.speeds import Speeds
from experiments.study import Study, read_study, settings_that_vary, study_names

PICTURES = "pictures"
POLICY = "policy"
#: Before the list of studies.
CONTENTS = "## The studies in short"
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


def write_report(studies: Path, results: Path, page: Path) -> list[Path]:
    """Make the page and its pictures; what was written. Pictures of studies that are gone are removed."""
    folder = page.parent / PICTURES
    text, pictures = _report(studies, results)
    for parent in (page.parent, *([folder] if pictures else [])):
        with writing(parent):
            parent.mkdir(parents=True, exist_ok=True)
    write_atomically(page, text.encode())
    for name, parts in pictures.items():
        write_atomically(folder / name, picture(*parts))
    for stray in _pictures(folder) - {folder / name for name in pictures}:
        stray.unlink()
    return [page, *(folder / name for name in pictures)]


def check_report(studies: Path, results: Path, page: Path) -> list[Path]:
    """The files that are not what the studies and results give: the page by its text, a picture by its checksum."""
    folder = page.parent / PICTURES
    text, pictures = _report(studies, results)
    outdated = [page] if not page.exists() or page.read_bytes() != text.encode() else []
    for name, parts in pictures.items():
        file = folder / name
        if not file.exists() or checksum(*parts) not in file.read_text(encoding="utf-8"):
            outdated.append(file)
    return outdated + sorted(_pictures(folder) - {folder / name for name in pictures})


def _pictures(folder: Path) -> set[Path]:
    return set(folder.glob("experiments-*.svg"))


def _report(studies: Path, results: Path) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """The text of the page, and file name -> arguments of `picture`.

    Raises ``ValueError`` for results of a study that does not exist.
    """
    names = study_names(studies)
    if strays := sorted(file for file in results.glob("*.jsonl") if file.stem not in names):
        raise ValueError(f"{strays[0]}: there is no study {strays[0].stem!r}; rename or delete the file")
    speeds = Speeds(results)
    contents, sections, pictures = [CONTENTS, ""], [], {}
    for name in names:
        study = read_study(name, studies)
        found = read_results(results_file(name, results))
        contents.append(_entry(study))
        sections.append(_section(name, study, found, read_fields(name, results), speeds))
        if found:
            by_rules = {
                rules: {variant: _of(found, rules, variant) for variant in _variants(study, found, rules)}
                for rules in _ordered(study.rules, (result.rules for result in found))
            }
            opponent = {
                rules: _opponent(result for result in found if result.rules == rules) for rules in by_rules
            }
            seconds = {
                rules: {
                    variant: 1 / max(1.0, _speed(of_variant, speeds)[0])
                    for variant, of_variant in runs.items()
                }
                for rules, runs in by_rules.items()
            }
            pictures[f"experiments-{name}.svg"] = (study.title, opponent, by_rules, seconds)
    return "\n".join([INTRODUCTION, *contents, "", *sections]), pictures


def _entry(study: Study) -> str:
    """A link to what the page says about the study, and the first sentence of its conclusion if it has one."""
    anchor = re.sub(r"[^\w -]", "", study.title.lower()).replace(" ", "-")
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z])", study.conclusion.strip(), maxsplit=1)[0]
    return f"- [{study.title}](#{anchor})" + (f": {' '.join(sentence.split())}" if sentence else "")


def _section(
    name: str, study: Study, results: Sequence[RunResult], fields: Sequence[FieldResult], speeds: Speeds
) -> str:
    """What the page says about one study."""
    lines = [f"## {study.title}", "", study.question, ""]
    lines += ["```", f"python -m experiments run {name}", "```", ""]
    if not results:
        runs = len(study.rules) * len(study.variants) * len(study.seeds)
        lines += [f"Its {runs} runs have not been made yet.", ""]
    for rules in _ordered(study.rules, (result.rules for result in results)):
        of_rules = [result for result in results if result.rules == rules]
        lines += [f"### {study.title}: {rules}", "", _table(study, of_rules, rules, speeds), ""]
    for rules in study.rules if fields else ():
        lines += [f"### {study.title}, fields: {rules}", "", markdown_table(fields_table(fields, rules)), ""]
    if results:
        lines += [f"![Learning curves: {study.title}]({PICTURES}/experiments-{name}.svg)", ""]
        lines += [f"Measured on: {'; '.join(_origins(results))}.", ""]
    if study.conclusion.strip():
        lines += [study.conclusion.strip(), ""]
    return "\n".join(lines)


def _table(study: Study, results: Sequence[RunResult], rules: str, speeds: Speeds) -> str:
    """A row for each variant under one rule set."""
    matches = list(dict.fromkeys(match.agents for result in results for match in result.matches))
    varied = settings_that_vary(result.config for result in results)
    header = ["variant", "settings", "seeds", *map(_line_up, matches), "decisions", "decisions/s", "seconds"]
    rows = [header]
    for variant in _variants(study, results, rules):
        runs = _of(results, rules, variant)
        diverged = sum(run.diverged is not None for run in runs)
        finished = [run for run in runs if run.diverged is None]
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


def _time(runs: Sequence[RunResult], speeds: Speeds) -> tuple[str, str, str]:
    """Decisions, decisions a second and seconds, for the table."""
    if not runs:
        return NOTHING, NOTHING, NOTHING
    decisions = statistics.fmean(run.decisions for run in runs)
    speed, alone = _speed(runs, speeds)
    about = "" if alone else "≈ "
    return f"{decisions:,.0f}", f"{about}{speed:,.0f}", f"{about}{decisions / max(1.0, speed):,.0f}"


def _speed(runs: Sequence[RunResult], speeds: Speeds) -> tuple[float, bool]:
    """Decisions a second of a variant, and whether it was measured with nothing else running."""
    measured = speeds.of(runs[0].config)
    if measured:
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


def _origins(results: Sequence[RunResult]) -> list[str]:
    """Each machine, with the commits that ran on it."""
    commits: dict[str, dict[str, None]] = {}
    for result in results:
        version = f"{result.version} {result.commit}".strip()
        commits.setdefault(result.machine, {})[version] = None
    return [
        f"{machine}, catbox {', '.join(sorted(versions))}" for machine, versions in sorted(commits.items())
    ]


def _opponent(results: Iterable[RunResult]) -> str:
    """Whom the curves are drawn against: the first opponent that is not ``random``, where there is one."""
    names = list(dict.fromkeys(name for result in results for name in result.curves))
    return next((name for name in names if name != "random"), "random")


def _of(results: Sequence[RunResult], rules: str, variant: str) -> list[RunResult]:
    """The runs of one variant under one rule set, by seed."""
    found = [result for result in results if (result.rules, result.variant) == (rules, variant)]
    return sorted(found, key=lambda result: result.seed)


def _variants(study: Study, results: Sequence[RunResult], rules: str) -> list[str]:
    return _ordered(study.variants, (result.variant for result in results if result.rules == rules))


def _ordered(named: Iterable[str], found: Iterable[str]) -> list[str]:
    """What was ``found``, in the order of the study, then what the study does not have any more."""
    present = dict.fromkeys(found)
    return list(dict.fromkeys([*(name for name in named if name in present), *sorted(present)]))


def _setting(name: str, runs: Sequence[RunResult]) -> str:
    """A setting with its value, or its values where runs of a variant differ (made on other machines)."""
    values = dict.fromkeys(_shown(run.config[name]) for run in runs if name in run.config)
    return f"`{name}={' or '.join(values)}`"


def _shown(value: Any) -> str:
    """A setting as the command line takes it."""
    if isinstance(value, list):
        return ",".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
