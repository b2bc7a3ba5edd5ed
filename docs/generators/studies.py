"""docs/experiments.md and its pictures: the numbers from the JSON lines alone, the words from the studies."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from catbox_agents.system.files import write_atomically
from docs.generators import headroom, quick_run
from docs.generators.cards import cards
from docs.generators.curves import Runs, picture
from docs.generators.figures import Picture, picture_file, shown
from docs.generators.leaderboard import leaderboard_pages
from docs.generators.tables import grouped_table, machines_in_words
from experiments.fields import FieldResult, read_fields
from experiments.results import Folders, RunResult, mean_of
from experiments.speeds import Speed, read_speeds, speed_of
from experiments.study import Study, read_study, study_names

POLICY = "policy"
NOTHING = "-"

INTRODUCTION = """\
# Experiments

What single settings of training are worth. Tables that decide a default are here, all results in
`experiments/results/`. `python -m experiments --help` says how to run a study of your own.

**All of them are older than the learner of today**: they were trained before commit 6a084db4 (27 November 2026), since
when an update plays whole games. Most have three seeds of 3 million decisions; with intervals of up to ± 0.4, a gain of
less than that could have gone unseen, and no comparison is corrected for their number. They are to be run again.

- Figures are [margins](training.md#evaluation) in points per round after training, on new deals, the same for the same
  seed. "±" is half the 95 % interval over the seeds (Student's t), in brackets half that over the deals of a single
  seed.
- Decisions/s counts playing and learning without evaluations, on an idle machine; "≈" marks runs that may have shared
  it.
- In the pictures a line is the mean over the seeds, its band the 95 % interval.
"""

#: What was tried for the agents of the zoo beside the studies.
THIRD_EDITION = """\
## The third edition of the zoo

What was tried for the [agents of today](zoo.md), with 95 % intervals over deals. Among the second edition:

- Training that starts from the second edition, at tables with it (0.25), the heuristic (0.2), heuristics with bad
  habits (`habits`, 0.2) and random players (0.05), earns +0.70 ± 0.15 with two players and
  +0.57 ± 0.10 with three after 120 million decisions. From scratch, 103 million earn +0.03 ± 0.18 with two and 140
  million +0.22 ± 0.14 with three.
- A search finds actions that are worth 0.83 ± 0.08 points a decision more than the agent's with two players and
  0.25 ± 0.05 with three, as a second search in other worlds judges. Networks that learn from 60,000 searched positions
  to correct the agent gain 0.03 to 0.07 and 0.03 to 0.04 of it in positions that they have not seen, whether
  they have two layers of 128, 256 or 512, and whether they also see all plays of the round in order or the cards that
  the search expects in each hand: intervals of ± 0.02 and ± 0.01 overlap
  (`python -m experiments.lessons`).
- The critic's value after some tricks instead of rollouts to the end: no difference could be shown
  (+0.01 ± 0.07 points a decision, against +0.05 ± 0.08 for rollouts in two and a half times the time).
- Rollouts by two layers of 64, trained for 30 million decisions (-1.07 ± 0.24 among agents of the zoo), make a search
  a fifth faster with three players and no stronger: -0.32 ± 0.47 among searches of 20 ms with the agent's own (120
  deals).
- Sixty million more decisions, six variants of the heuristic among the opponents: with five players 2.49 instead of
  2.12 ± 0.05 among `heuristic:7`, 2.08 instead of 1.93 ± 0.06 among `heuristic:8`, 3.46 instead of 3.58 ± 0.03 among
  random players. With four no gain (-0.03 ± 0.06, 2,000 deals).
- More random players in Cat Te (0.5 instead of 0.3), 15 to 30 million decisions more: among random players 3.82 ± 0.07
  instead of 3.71 ± 0.06 for five in Laos and 1.65 instead of 1.56 ± 0.04 for three in Khmer. For two
  in Laos, even with 0.6, 1.39 instead of 1.36 ± 0.02.
- What held Petrify back was what the agent sees. With every kind of tile, 40 million decisions of PPO brought it to
  1.02 ± 0.11 among heuristics (500 deals), 2.7 million of `exit` from there to 1.01 ± 0.11. With features that look
  twelve moves ahead instead of eight, the same weights earn 1.40 ± 0.08. From there, 14 million decisions gain 0.03 ±
  0.04 among copies of the agent that they start from; with the feature `lead`, 0.47 ± 0.05, and 1.61 ± 0.04 among
  heuristics (2,000 deals). With six moves in `lead` instead of four, the same weights earn 0.56 ± 0.05 and 1.60 ±
  0.04, and a move takes a third longer. With 4 x 4 tiles neither features nor heuristics at nine of ten tables (1.17
  instead of 1.14 ± 0.06) make a difference.
"""


def write_pages(folders: Folders) -> list[Path]:
    """Make the pages, the pictures and the cards of the zoo; what was written. Pictures of no result are removed."""
    made = _made(folders)
    for file, content in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content.svg() if isinstance(content, Picture) else content.encode())
    for stray in _pictures(folders) - made.keys():
        stray.unlink()
    return list(made)


def outdated_pages(folders: Folders) -> list[Path]:
    """The files that are not what the studies and results give: a page by its text, a picture by its checksum."""
    made = _made(folders)
    return [
        *(file for file, content in made.items() if not _is_current(file, content)),
        *sorted(_pictures(folders) - made.keys()),
    ]


def _is_current(file: Path, content: str | Picture) -> bool:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return content.checksum in text if isinstance(content, Picture) else content == text


def _pictures(folders: Folders) -> set[Path]:
    """The pictures that come from results."""
    return {
        file
        for pattern in (
            "experiments-*",
            "leaderboard*",
            headroom.NAME,
            f"{quick_run.CURVES}*",
            f"{quick_run.ARENA}*",
        )
        for file in (folders.docs / "pictures").glob(f"{pattern}.svg")
    }


def _made(folders: Folders) -> dict[Path, str | Picture]:
    """File -> text of each page and card, and each picture.

    Raises ``ValueError`` for results of a study that does not exist, and what `cards` raises.
    """
    names = study_names(folders.studies)
    if strays := {file.stem for file in folders.results.glob("*.jsonl")} - set(names):
        raise ValueError(f"there are results, but no studies, of these names: {', '.join(sorted(strays))}")
    speeds = read_speeds(folders.results)
    sections, machines = [], set()
    pictures: dict[Path, str | Picture] = {}
    for name in names:
        study = read_study(name, folders.studies)
        results = folders.results_of(name)
        machines |= {result.machine for result in results}
        by_rules = _grouped(study, results)
        sections.append(_section(name, study, by_rules, folders, speeds))
        if by_rules and study.table:
            opponent = {rules: _opponent(runs) for rules, runs in by_rules.items()}
            seconds = {
                rules: {variant: 1 / max(1.0, _speed(found, speeds)[0]) for variant, found in runs.items()}
                for rules, runs in by_rules.items()
            }
            pictures[picture_file(f"experiments-{name}", folders)] = picture(
                study.title, opponent, by_rules, seconds
            )
    page = "\n".join([INTRODUCTION, *_measured_on(machines), *sections, THIRD_EDITION])
    return {
        folders.docs / "experiments.md": page,
        **pictures,
        **leaderboard_pages(folders),
        **headroom.headroom_picture(folders),
        **quick_run.quick_run_pictures(folders),
        **cards(folders),
    }


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


def _measured_on(machines: Collection[str]) -> list[str]:
    return [f"Measured on: {machines_in_words(machines)}.", ""] if machines else []


def _section(
    name: str, study: Study, by_rules: Mapping[str, Runs], folders: Folders, speeds: Sequence[Speed]
) -> str:
    """What the page says about one study."""
    found = [run for of_rules in by_rules.values() for runs in of_rules.values() for run in runs]
    millions = dict.fromkeys(f"{round(run.decisions / 1e6, 1):g}" for run in found if run.diverged is None)
    size = f", {len(study.seeds)} seeds of {' / '.join(millions)} million decisions" if millions else ""
    parts = [f"## {study.title}", f"`{name}`{size}: {study.question}"]
    fields = read_fields(name, folders)
    if study.conclusion.strip():
        parts.append(study.conclusion.strip())
    if not found:
        runs = len(study.rules) * len(study.variants) * len(study.seeds)
        parts.append(f"Its {runs} runs have not been made yet.")
    elif study.table:
        parts.append(_table(study, by_rules, speeds))
        if fields:
            parts.append(grouped_table(fields_table(fields)))
        parts.append(shown(f"experiments-{name}", f"Learning curves: {study.title}"))
    return "\n\n".join(parts) + "\n"


def _table(study: Study, by_rules: Mapping[str, Runs], speeds: Sequence[Speed]) -> str:
    """A row for each variant under each rule set."""
    every = [result for runs in by_rules.values() for found in runs.values() for result in found]
    matches = list(dict.fromkeys(match.agents for result in every for match in result.matches))
    rows = [["rules", "variant", *map(_line_up, matches), "decisions/s"]]
    for rules, by_variant in by_rules.items():
        for variant, runs in by_variant.items():
            finished = [run for run in runs if run.diverged is None]
            few = (
                "" if len(finished) == len(study.seeds) else f" ({len(finished)} of {len(study.seeds)} seeds)"
            )
            margins = [_margin(finished, match) for match in matches]
            rows.append([rules, variant + few, *margins, _pace(finished, speeds)])
    return grouped_table(rows)


def _pace(runs: Sequence[RunResult], speeds: Sequence[Speed]) -> str:
    """Decisions a second, for the table."""
    if not runs:
        return NOTHING
    speed, alone = _speed(runs, speeds)
    return f"{'' if alone else '≈ '}{speed:,.0f}"


def _speed(runs: Sequence[RunResult], speeds: Sequence[Speed]) -> tuple[float, bool]:
    """Decisions a second of a variant, and whether it was measured with nothing else running."""
    if measured := speed_of(runs[0].config, speeds):
        return measured.decisions_per_second, True
    return sum(run.decisions for run in runs) / max(1e-9, sum(run.seconds for run in runs)), False


def _margin(runs: Sequence[RunResult], agents: tuple[str, str]) -> str:
    """The margin of a match: mean and interval over the seeds; for a single one, that over the deals in brackets."""
    found = [match for run in runs for match in run.matches if match.agents == agents]
    if not found:
        return NOTHING
    mean, over_seeds = mean_of([match.margin for match in found])
    return f"{mean:+.2f} " + (
        f"({found[0].margin_ci95:.2f})" if over_seeds is None else f"± {over_seeds:.2f}"
    )


def _line_up(agents: tuple[str, str]) -> str:
    one, others = ("net" if agent == POLICY else f"`{agent}`" for agent in agents)
    return f"{one} among {'nets' if others == 'net' else others}"


def _opponent(by_variant: Runs) -> str:
    """Whom the curves are drawn against: the first opponent that is not ``random``, where there is one."""
    names = (name for runs in by_variant.values() for result in runs for name in result.curves)
    return next((name for name in names if name != "random"), "random")


def fields_table(results: Sequence[FieldResult]) -> list[list[str]]:
    """A row for each field under each rule set: means over the seeds, and the difference with its 95 % interval.

    The interval comes from the deals; that of the difference takes the two margins as independent, which is wider than
    the deals that they share allow.
    """
    rows = [["rules", "among", "net", "net minus heuristic"]]
    for rules, field in dict.fromkeys((result.rules, result.field) for result in results):
        found = [result for result in results if (result.rules, result.field) == (rules, field)]
        count = len(found)
        net, heuristic = (sum(getattr(r, name) for r in found) / count for name in ("net", "heuristic"))
        of_net, of_heuristic = (
            math.hypot(*(getattr(r, name) for r in found)) / count for name in ("net_ci95", "heuristic_ci95")
        )
        rows.append(
            [
                rules,
                field,
                f"{net:+.2f} ± {of_net:.2f}",
                f"{net - heuristic:+.2f} ± {math.hypot(of_net, of_heuristic):.2f}",
            ]
        )
    return rows
