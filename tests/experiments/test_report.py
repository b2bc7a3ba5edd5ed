"""What the pages say of a study is what the JSON lines give: numbers, comparisons, pictures; nothing out of date."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from catbox_agents.arena.report import markdown_table
from docs.generators.__main__ import main
from docs.generators.curves import draw
from docs.generators.files import outdated_files, write_files
from docs.generators.studies import detectable, differences, holm, study_section
from experiments.results import Match, RunResult
from experiments.speeds import read_speeds
from tests.experiments.small_studies import Workplace


def result(variant: str, seed: int, margin: float, **changes: Any) -> RunResult:
    """A made-up line: one net among heuristics has ``margin`` at the end, and half of it on the way."""
    values: dict[str, Any] = {
        "study": "small",
        "rules": "3 players",
        "variant": variant,
        "seed": seed,
        "config": {"seed": seed, "entropy": {"low": 0.01}.get(variant, 0.12), "clip": 0.15},
        "decisions": 4_000_000,
        "seconds": 80.0 + seed,
        "decisions_per_second": 50_000.0,
        "curves": {
            "random": [(4_000_000, 3.0, 0.1)],
            "heuristic": [(2_000_000, margin / 2, 0.2), (4_000_000, margin, 0.2)],
        },
        "matches": [
            Match(agents=("policy", "random"), margin=3.0, margin_ci95=0.1, deals=1000),
            Match(agents=("policy", "heuristic"), margin=margin, margin_ci95=0.1, deals=1000),
            Match(agents=("heuristic", "policy"), margin=-margin, margin_ci95=0.1, deals=1000),
        ],
        "diverged": None,
        "version": "0.1.0",
        "commit": "abc",
        "machine": "Some processor, 2 cores",
    }
    return RunResult(**{**values, **changes})


def write_lines(workplace: Workplace, *results: RunResult) -> None:
    workplace.results.mkdir(exist_ok=True)
    workplace.file.write_text("".join(f"{line.model_dump_json()}\n" for line in results))


THREE_SEEDS = [
    result(name, seed, margin)
    for name, margins in {"high": (-0.6, -0.3, -0.6), "low": (0.1, 0.2, 0.6)}.items()
    for seed, margin in enumerate(margins, start=1)
]


def section(workplace: Workplace, *results: RunResult) -> str:
    write_lines(workplace, *results)
    return study_section("small", workplace.folders)


def test_what_comes_from_the_results_of_the_repository_is_current() -> None:
    assert main(["--check"]) == 0


def test_variants_are_compared_seed_by_seed(workplace: Workplace) -> None:
    """Margins 0.1, 0.2, 0.6: mean 0.3, standard error 0.153, times 4.303; differences -0.7, -0.5, -1.2."""
    workplace.write(seeds=[1, 2, 3])
    text = section(workplace, *THREE_SEEDS)
    found = differences({"low": THREE_SEEDS[3:], "high": THREE_SEEDS[:3]})
    assert found["high"] == pytest.approx([-0.7, -0.5, -1.2])
    assert f"p = {ttest_1samp(found['high'], 0).pvalue:.3f}" == "p = 0.062"
    assert (
        """\
| rules | variant | among heuristics | more than low | p | among random | heuristic among policies |
|---|---|---:|---:|---:|---:|---:|
| 3 players | low | +0.30 \u00b1 0.66 | \u2013 | \u2013 | +3.00 \u00b1 0.00 | -0.30 \u00b1 0.66 |
|  | high | -0.50 \u00b1 0.43 | -0.80 \u00b1 0.90 | 0.062 | +3.00 \u00b1 0.00 | +0.50 \u00b1 0.43 |
"""
        in text
    )
    assert text.startswith("6 runs of 4 million decisions, measured on 1,000 deals each by")
    assert "Some processor, 2 cores" in text

    clear = [result("high", seed, margin) for seed, margin in enumerate((-0.6, -0.5, -0.2), start=1)]
    assert "| **-0.73 \u00b1 0.14** | 0.002 |" in section(workplace, *THREE_SEEDS[3:], *clear)


def test_a_study_under_way_says_how_far_it_is(workplace: Workplace) -> None:
    assert study_section("small", workplace.folders) == (
        "Its 4 runs have not been made yet: `python -m experiments run small`."
    )
    text = section(workplace, result("low", 1, 0.4), result("high", 1, 0.5))
    assert text.startswith("4 runs of 4 million decisions, 2 of them so far,")
    assert "| 3 players | low | +0.40 | \u2013 | \u2013 |" in text
    assert "|  | high | +0.50 | +0.10 | \u2013 |" in text
    assert "would have been seen" not in text


def test_runs_that_diverged_are_left_out(workplace: Workplace) -> None:
    diverged = {"diverged": "training diverged in update 3: x", "matches": [], "decisions": 5}
    text = section(
        workplace, result("low", 1, 0.4), result("low", 2, -9.0, **diverged), result("high", 1, 1.0)
    )
    assert "| 3 players | low (1 of 2 diverged) | +0.40 |" in text
    write_files(workplace.folders)
    svg = (workplace.folders.docs / "pictures" / "experiments-small.svg").read_text()
    assert "low (diverged)" in svg


def test_what_the_study_has_no_more_is_not_shown(workplace: Workplace) -> None:
    assert "gone" not in section(workplace, *THREE_SEEDS, result("gone", 1, -2.0))


def test_holms_correction() -> None:
    """Sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, 0.04 * 1; none below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.2]) == [0.2]


@pytest.mark.parametrize(("seeds", "comparisons"), [(5, 1), (5, 16), (10, 4)])
def test_a_difference_that_would_have_been_seen_is_seen_in_four_of_five_studies(
    seeds: int, comparisons: int
) -> None:
    difference = detectable(1.0, seeds, comparisons)
    samples = np.random.default_rng(1).normal(difference, 1.0, (20_000, seeds))
    errors = samples.std(1, ddof=1) / np.sqrt(seeds)
    threshold = student.ppf(1 - 0.05 / (2 * comparisons), seeds - 1)
    assert np.mean(samples.mean(1) / errors > threshold) == pytest.approx(0.8, abs=0.01)


def test_the_check_finds_what_is_out_of_date(workplace: Workplace) -> None:
    def outdated() -> list[str]:
        return sorted(path.name for path in outdated_files(workplace.folders))

    pictures = ["experiments-small-narrow.svg", "experiments-small.svg"]
    write_lines(workplace, *THREE_SEEDS)
    assert outdated() == pictures
    assert workplace.report("--check") == 1
    assert workplace.report() == 0
    assert outdated() == []
    assert workplace.report("--check") == 0
    moved = THREE_SEEDS[0].model_copy(update={"curves": {"heuristic": [(2_000_000, 0.0, 0.2)]}})
    write_lines(workplace, moved, *THREE_SEEDS[1:])
    assert outdated() == pictures
    workplace.file.unlink()
    assert outdated() == pictures
    assert workplace.report() == 0
    assert not (workplace.folders.docs / "pictures" / "experiments-small.svg").exists()
    assert outdated() == []


def test_speeds_are_measured_by_variant_and_shown(workplace: Workplace) -> None:
    assert workplace.run("speeds", "small") == 0
    text = section(workplace, *THREE_SEEDS)
    found = read_speeds("small", workplace.folders)
    assert list(found["3 players"]) == ["low", "high"]
    assert f"| {found['3 players']['low']:,} |\n" in text
    assert min(found["3 players"].values()) > 0
    assert not workplace.runs.exists()


def test_the_curves_are_means_over_seeds_over_decisions_and_over_seconds() -> None:
    runs = {name: [line for line in THREE_SEEDS if line.variant == name] for name in ("low", "high")}
    seconds = {"3 players": {"low": 82 / 4_000_000, "high": 1e-5}}
    over_decisions, over_seconds = draw({"3 players": "heuristic"}, {"3 players": runs}, seconds).axes
    low = over_decisions.get_lines()[0]
    assert low.get_label() == "low: +0.30"
    assert list(low.get_xdata()) == pytest.approx([2.0, 4.0])
    assert list(low.get_ydata()) == pytest.approx([0.15, 0.3])
    assert list(over_seconds.get_lines()[0].get_xdata()) == pytest.approx([41.0, 82.0])


def test_evaluations_after_other_numbers_of_decisions_are_averaged_by_their_order() -> None:
    runs = [
        result(
            "low",
            seed,
            0.0,
            curves={"heuristic": [(1_000_000 * seed, 0.1 * seed, 0.2), (9_000_000, 1.0, 0.2)]},
        )
        for seed in (1, 2, 3)
    ]
    (panel,) = draw({"3 players": "heuristic"}, {"3 players": {"low": runs}}, {}).axes
    assert list(panel.get_lines()[0].get_xdata()) == pytest.approx([2.0, 9.0])
    assert list(panel.get_lines()[0].get_ydata()) == pytest.approx([0.2, 1.0])


def test_nine_variants_are_drawn_three_in_a_panel() -> None:
    runs = {f"v{i}": [result(f"v{i}", 1, 0.1 * i)] for i in range(9)}
    panels = draw(
        {"3 players": "heuristic"}, {"3 players": runs}, {"3 players": dict.fromkeys(runs, 1e-5)}
    ).axes
    legends = [
        [text.get_text().partition(":")[0] for text in axes.get_legend().get_texts()] for axes in panels
    ]
    assert legends[::2] == [["v0", "v1", "v2"], ["v3", "v4", "v5"], ["v6", "v7", "v8"]]
    assert all(len(axes.get_lines()) == 9 + 1 for axes in panels), "the others in grey, and the line at 0"


def test_columns_of_numbers_are_aligned_at_the_right() -> None:
    header = ["name", "number", "interval", "words", "range", "nothing"]
    rows = [["1", "1,000", "**+0.5 \u00b1 0.1**", "a", "0..6", ""], ["2", "\u2013", "", "3", "0", ""]]
    assert markdown_table([header, *rows]).splitlines()[1] == "|---|---:|---:|---|---|---|"
    assert markdown_table([header]).splitlines()[1] == "|" + "---|" * 6
