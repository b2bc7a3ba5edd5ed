"""What docs/experiments.md says of a study: a table of its variants, each compared with the first, and curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import nct, t, ttest_1samp

from catbox_agents.arena.results import Estimate
from docs.generators.curves import Runs, picture
from docs.generators.figures import Picture, narrow, picture_file, shown_by_width
from docs.generators.tables import grouped_table, machines_in_words
from experiments.results import Folders, RunResult, mean_of
from experiments.speeds import read_speeds
from experiments.study import Study, read_study, study_names

POLICY, HEURISTIC = "policy", "heuristic"
#: The measure by which variants are compared: what one policy earns among heuristics.
MEASURE = (POLICY, HEURISTIC)
#: What else the table shows.
OTHER_MATCHES = ((POLICY, "random"), (HEURISTIC, POLICY))
#: A comparison is certain below this, after the correction.
LEVEL = 0.05
#: The probability with which a difference "would have been seen".
POWER = 0.8
NOTHING = "\u2013"


def study_section(name: str, folders: Folders) -> str:
    """What the page shows of the study ``name``: how it was made, its table and its curves.

    Raises ``OSError`` for a study that does not exist, ``ValueError`` for an invalid one.
    """
    study = read_study(name, folders.studies)
    by_rules = grouped(study, folders.results_of(name))
    found = [run for runs in by_rules.values() for of_variant in runs.values() for run in of_variant]
    wanted = len(study.rules) * len(study.variants) * len(study.seeds)
    if not found:
        return f"Its {wanted} runs have not been made yet: `python -m experiments run {name}`."
    millions = dict.fromkeys(f"{round(run.decisions / 1e6, 1):g}" for run in found if run.diverged is None)
    made = "" if len(found) == wanted else f", {len(found)} of them so far"
    lines = [
        f"{wanted} runs of {' / '.join(millions)} million decisions{made}, measured on {found[0].matches[0].deals:,} "
        f"deals each by `python -m experiments run {name}`, catbox "
        f"{', '.join(sorted({run.commit for run in found}))}; {machines_in_words({run.machine for run in found})}.",
        "",
        _table(by_rules, read_speeds(name, folders)),
        "",
        *_power(by_rules),
        shown_by_width(f"experiments-{name}", f"Learning curves: {study.title}"),
    ]
    return "\n".join(lines)


def study_pictures(folders: Folders) -> dict[Path, Picture]:
    """File -> learning curves of each study that has results; those for phones without curves over time."""
    pictures = {}
    for name in study_names(folders.studies):
        study = read_study(name, folders.studies)
        by_rules = grouped(study, folders.results_of(name))
        if by_rules:
            seconds = {
                rules: {variant: 1 / speed for variant, speed in of_rules.items()}
                for rules, of_rules in read_speeds(name, folders).items()
            }
            opponents = dict.fromkeys(by_rules, HEURISTIC)
            for file, one in ((f"experiments-{name}", False), (narrow(f"experiments-{name}"), True)):
                pictures[picture_file(file, folders)] = picture(
                    study.title, opponents, by_rules, {} if one else seconds, one
                )
    return pictures


def grouped(study: Study, results: Sequence[RunResult]) -> dict[str, dict[str, list[RunResult]]]:
    """Rule set -> variant -> runs by seed, of what the study has today."""
    by_rules: dict[str, dict[str, list[RunResult]]] = {}
    for result in sorted(results, key=lambda result: result.seed):
        if result.rules in study.rules and result.variant in study.variants:
            by_rules.setdefault(result.rules, {}).setdefault(result.variant, []).append(result)
    return {
        rules: {variant: by_rules[rules][variant] for variant in study.variants if variant in by_rules[rules]}
        for rules in study.rules
        if rules in by_rules
    }


def differences(runs: Runs) -> dict[str, list[float]]:
    """Variant -> how much more it earns than the first variant, by `MEASURE`, for each seed that both have."""
    first, *others = runs
    base = {run.seed: _margin(run, MEASURE) for run in runs[first] if run.diverged is None}
    return {
        variant: [
            _margin(run, MEASURE) - base[run.seed]
            for run in runs[variant]
            if run.diverged is None and run.seed in base
        ]
        for variant in others
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """The ``p_values`` of several tests after Holm's correction (1979), in the same order."""
    order = np.argsort(p_values)
    steps = np.array(p_values)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(1, np.maximum.accumulate(steps))
    return corrected.tolist()


def _corrected(by_rules: Mapping[str, Runs]) -> dict[tuple[str, str], float]:
    """Rule set and variant -> p of its comparison with the first variant: paired t-test over the seeds, corrected."""
    found = {
        (rules, variant): float(ttest_1samp(values, 0).pvalue)
        for rules, runs in by_rules.items()
        for variant, values in differences(runs).items()
        if len(values) > 1
    }
    return dict(zip(found, holm(list(found.values())), strict=True)) if found else {}


def _table(by_rules: Mapping[str, Runs], speeds: Mapping[str, Mapping[str, int]]) -> str:
    """A row for each variant under each rule set; ``speeds`` as `read_speeds` returns them."""
    p_values = _corrected(by_rules)
    first = next(iter(next(iter(by_rules.values()))))
    rows = [
        [
            "rules", "variant", "among heuristics", f"more than {first}", "p", "among random",
            "heuristic among policies", *(["decisions/s"] if speeds else []),
        ]
    ]  # fmt: skip
    for rules, runs in by_rules.items():
        by_variant = differences(runs)
        for variant, of_variant in runs.items():
            finished = [run for run in of_variant if run.diverged is None]
            diverged = len(of_variant) - len(finished)
            name = variant + (f" ({diverged} of {len(of_variant)} diverged)" if diverged else "")
            difference, p = NOTHING, p_values.get((rules, variant))
            if by_variant.get(variant):
                difference = _in_words(by_variant[variant])
                if p is not None and p < LEVEL:
                    difference = f"**{difference}**"
            rows.append(
                [
                    rules,
                    name,
                    _mean(finished, MEASURE),
                    difference,
                    NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
                    *(_mean(finished, match) for match in OTHER_MATCHES),
                    *([f"{speeds[rules][variant]:,}"] if speeds else []),
                ]
            )
    return grouped_table(rows)


def _power(by_rules: Mapping[str, Runs]) -> list[str]:
    """What the comparisons could have seen, in a sentence; nothing before two seeds."""
    comparisons = len(_corrected(by_rules))
    found = []
    for rules, runs in by_rules.items():
        values = [np.array(own) for own in differences(runs).values() if len(own) > 1]
        if values:
            seeds = min(map(len, values))
            spread = math.sqrt(sum(own.var(ddof=1) for own in values) / len(values))
            found.append(f"{detectable(spread, seeds, comparisons):.2f} ({rules})")
    if not found:
        return []
    return [
        f"Bold: p < {LEVEL}, of paired t-tests over the seeds after Holm's correction for {comparisons} comparisons. A "
        f"difference of {', '.join(found)} would have been seen in four of five such studies.",
        "",
    ]


def detectable(spread: float, seeds: int, comparisons: int) -> float:
    """The difference that a paired t-test over ``seeds`` sees with a probability of `POWER`.

    ``spread``: the standard deviation of the differences. With Bonferroni's correction for ``comparisons``,
    which Holm's never exceeds.
    """
    threshold = t.ppf(1 - LEVEL / (2 * comparisons), seeds - 1)
    # In standard errors; the power rises from almost 0 to almost 1.
    shift = brentq(lambda shift: nct.sf(threshold, seeds - 1, shift) - POWER, 0, 10 * threshold)
    return float(shift) * spread / math.sqrt(seeds)


def _margin(run: RunResult, agents: tuple[str, str]) -> float:
    return next(match.margin for match in run.matches if match.agents == agents)


def _mean(runs: Sequence[RunResult], agents: tuple[str, str]) -> str:
    return _in_words([_margin(run, agents) for run in runs]) if runs else NOTHING


def _in_words(values: Sequence[float]) -> str:
    """The mean with its interval over the seeds; of a single one, itself."""
    mean, reach = mean_of(values)
    return f"{mean:+.2f}" if reach is None else str(Estimate(mean, mean - reach, mean + reach))
