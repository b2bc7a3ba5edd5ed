"""The page is what the JSON lines give: its numbers, its pictures, and nothing that is out of date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catbox_agents.arena.report import markdown_table
from docs.generators.__main__ import main
from docs.generators.curves import draw
from docs.generators.studies import outdated_pages, write_pages
from experiments.results import Match, RunResult
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
        "matches": [Match(agents=("policy", "heuristic"), margin=margin, margin_ci95=0.1 * seed, deals=1000)],
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


def page(workplace: Workplace) -> str:
    write_pages(workplace.folders)
    return workplace.page.read_text()


def outdated(workplace: Workplace) -> list[str]:
    return [path.name for path in outdated_pages(workplace.folders)]


def test_the_page_of_the_repository_is_what_its_results_give() -> None:
    assert main(["--check"]) == 0


def test_the_table_has_means_with_intervals_over_the_seeds(workplace: Workplace) -> None:
    """Margins 0.1, 0.2, 0.6: mean 0.3, standard error 0.153, times 4.303."""
    workplace.write(seeds=[1, 2, 3], conclusion="The rest is\nnoise.")
    write_lines(workplace, *THREE_SEEDS)
    table = """\
`small`, 3 seeds of 4 million decisions: Does it run?

The rest is
noise.

| rules | variant | net among `heuristic` | decisions/s |
|---|---|---:|---|
| 3 players | low | +0.30 ± 0.66 | ≈ 48,780 |
|  | high | -0.50 ± 0.43 | ≈ 48,780 |
"""
    text = page(workplace)
    assert table in text, "in the order of the study"
    assert "\nMeasured on: Some processor, 2 cores.\n" in text
    assert "have not been made" not in text


def test_runs_that_diverged_are_left_out(workplace: Workplace) -> None:
    workplace.write(seeds=[1, 2])
    diverged = {"diverged": "training diverged in update 3: x", "matches": [], "decisions": 5}
    lines = [result("low", 1, 0.4), result("low", 2, -9.0, **diverged), result("high", 1, 1.0, **diverged)]
    write_lines(workplace, *lines)
    text = page(workplace)
    assert "| 3 players | low (1 of 2 seeds) | +0.40 (0.10) | ≈ 49,383 |" in text
    assert "|  | high (0 of 2 seeds) | - | - |" in text
    assert "2 seeds of 4 million decisions" in text
    svg = (workplace.page.parent / "pictures" / "experiments-small.svg").read_text()
    assert "high (diverged)" in svg


def test_variants_that_left_the_study_stay(workplace: Workplace) -> None:
    write_lines(workplace, *THREE_SEEDS, result("gone", 1, -2.0))
    assert "|  | gone | -2.00 (0.10) |" in page(workplace)


def test_a_study_without_a_table_is_its_question_and_its_conclusion(workplace: Workplace) -> None:
    workplace.write(seeds=[1, 2, 3], conclusion="No.", table=False)
    write_lines(workplace, *THREE_SEEDS)
    studies, _, _ = page(workplace).partition("\n## The third edition")
    assert studies.endswith("`small`, 3 seeds of 4 million decisions: Does it run?\n\nNo.\n")
    assert not (workplace.page.parent / "pictures" / "experiments-small.svg").exists()
    assert outdated(workplace) == []


def test_a_study_without_results_says_so(workplace: Workplace) -> None:
    assert "\n`small`: Does it run?\n\nIts 2 runs have not been made yet.\n" in page(workplace)
    assert outdated(workplace) == []


def test_the_check_finds_what_is_out_of_date(workplace: Workplace) -> None:
    write_lines(workplace, *THREE_SEEDS)
    assert outdated(workplace) == ["experiments.md", "experiments-small.svg", "leaderboard.md"]
    assert workplace.report() == 0
    assert outdated(workplace) == []
    assert workplace.report("--check") == 0

    text = workplace.page.read_text()
    workplace.page.write_text(text.replace("+0.30", "+0.40"))
    assert outdated(workplace) == ["experiments.md"]
    assert workplace.report("--check") == 1
    workplace.page.write_text(text)

    moved = THREE_SEEDS[0].model_copy(update={"curves": {"heuristic": [(2_000_000, 0.0, 0.2)]}})
    write_lines(workplace, moved, *THREE_SEEDS[1:])
    assert outdated(workplace) == ["experiments-small.svg"]

    workplace.file.unlink()
    assert outdated(workplace) == ["experiments.md", "experiments-small.svg"]
    page(workplace)
    assert not (workplace.page.parent / "pictures" / "experiments-small.svg").exists()
    assert outdated(workplace) == []


def test_the_curves_are_means_over_seeds_over_decisions_and_over_seconds() -> None:
    runs = {name: [line for line in THREE_SEEDS if line.variant == name] for name in ("low", "high")}
    seconds = {"3 players": {"low": 82 / 4_000_000, "high": 1e-5}}
    over_decisions, over_seconds = draw({"3 players": "heuristic"}, {"3 players": runs}, seconds).axes
    low = over_decisions.get_lines()[0]
    assert low.get_label() == "low"
    assert list(low.get_xdata()) == pytest.approx([2.0, 4.0])
    assert list(low.get_ydata()) == pytest.approx([0.15, 0.3])
    assert list(over_seconds.get_lines()[0].get_xdata()) == pytest.approx([41.0, 82.0])


def test_nine_variants_are_drawn_three_in_a_panel() -> None:
    runs = {f"v{i}": [result(f"v{i}", 1, 0.1 * i)] for i in range(9)}
    panels = draw(
        {"3 players": "heuristic"}, {"3 players": runs}, {"3 players": dict.fromkeys(runs, 1e-5)}
    ).axes
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in panels]
    assert legends[::2] == [["v0", "v1", "v2"], ["v3", "v4", "v5"], ["v6", "v7", "v8"]]
    assert all(len(axes.get_lines()) == 9 + 1 for axes in panels), "the others in grey, and the line at 0"


def test_results_of_a_study_that_does_not_exist_are_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.results.mkdir()
    Path(workplace.results / "gone.jsonl").write_text("")
    assert workplace.report() == 1
    assert "there are results, but no studies, of these names: gone" in capsys.readouterr().err


def test_columns_of_numbers_are_aligned_at_the_right() -> None:
    header = ["name", "number", "interval", "words", "range", "nothing"]
    rows = [["1", "1,000", "**+0.5 \u00b1 0.1**", "a", "0..6", ""], ["2", "\u2013", "", "3", "0", ""]]
    assert markdown_table([header, *rows]).splitlines()[1] == "|---|---:|---:|---|---|---|"
    assert markdown_table([header]).splitlines()[1] == "|" + "---|" * 6
