"""The benchmark: what is played, what it is worth, and that others can verify it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents import play_out
from catbox_agents.arena.seatings import deal_seed
from catbox_agents.bench import BenchInterrupted, run_bench, scenarios, suite, suite_names, verify
from catbox_agents.bench.games import packed, unpacked
from catbox_agents.bench.report import card_rows, draw_card, leaderboard, leaderboard_page
from catbox_agents.bench.run import GAMES_FILE, SUBMISSION_FILE, WORK_FOLDER, current_hash
from catbox_env import Vec
from tests.agents.bench.small import HERE, SUITE, _few_deals, change, change_games, submit  # noqa: F401  (a fixture)

#: The hash of every scenario of version 1, by suite: what is played never changes.
HASHES = Path(__file__).with_name("hashes.json")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "kept"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenarios, "QUICK", 25)
        submit(folder)
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    shutil.copytree(kept, tmp_path / "submission")
    return tmp_path / "submission"


def test_a_submission_holds_and_says_what_was_checked(folder: Path) -> None:
    found = verify(folder, search_share=1.0)
    assert found.is_valid, found.problems
    assert len(found.holds) == 14
    assert any("opponent third decides the same in" in line for line in found.holds)
    found = verify(folder, agents="heuristic:5", search_share=1.0)
    assert found.is_valid, found.problems
    assert len(found.holds) == 28
    assert sorted(path.name for path in folder.iterdir()) == [GAMES_FILE, SUBMISSION_FILE]


def test_the_score_is_how_much_more_than_the_heuristic_in_its_seats_in_units_of_the_spread(
    kept: Path,
) -> None:
    content = json.loads((kept / SUBMISSION_FILE).read_text())
    for scenario in suite(SUITE, quick=True).scenarios:
        (result,) = (each for each in content["scenarios"] if each["name"] == scenario.name)
        more = result["margin"] - result["heuristic"]
        assert result["score"] == pytest.approx(100 * more / scenario.table.spread, abs=1e-5)
        if scenario.opponent == "heuristic":
            assert result["heuristic"] == 0
    every = [each["score"] for each in content["scenarios"]]
    assert content["score"]["mean"] == pytest.approx(np.mean(every), abs=1e-5)
    assert content["score"]["worst_score"] == min(every)
    assert content["tables"].keys() == {"petrify-4x4", "petrify-full"}


@pytest.mark.parametrize("role", ["visitor", "resident"])
def test_a_margin_is_that_of_games_played_one_by_one(role: str, tmp_path: Path) -> None:
    name = f"cat_in_the_box-3p-{role}-careful-v1"
    every = suite("cat_in_the_box", quick=True)
    played = replace(every, scenarios=tuple(each for each in every.scenarios if each.name == name))
    (result,) = run_bench("heuristic:5", played, tmp_path / "out")["scenarios"]
    (scenario,) = played.scenarios
    root, game = np.random.SeedSequence(played.seed), scenario.table.game
    for agent, margin in (("heuristic:5", result["margin"]), ("heuristic", result["heuristic"])):
        one, others = (agent, "careful") if role == "visitor" else ("careful", agent)
        margins = []
        for number in range(scenario.first, scenario.first + scenario.deals):
            for seat in range(3):
                vec = Vec(game, 1, seed=[deal_seed(root, number)], auto_deal=False)
                points = play_out(vec, [one if k == seat else others for k in range(3)], until="end_of_game")[
                    0
                ]
                ahead = points[seat] - (points.sum() - points[seat]) / 2
                margins.append(ahead if role == "visitor" else -ahead)
        assert margin == pytest.approx(np.mean(margins), abs=1e-5)


@pytest.mark.slow
def test_one_and_two_processes_and_a_stopped_run_write_the_same(folder: Path, tmp_path: Path) -> None:
    def content(path: Path) -> tuple[dict[str, Any], bytes]:
        found = json.loads((path / SUBMISSION_FILE).read_text())
        del found["times"]
        return found, (path / GAMES_FILE).read_bytes()

    done = 0

    def stop(games: int, total: int) -> None:
        nonlocal done
        done += 1
        if done == 9:
            raise KeyboardInterrupt

    with pytest.raises(BenchInterrupted, match="the same command resumes"):
        submit(tmp_path / "stopped", progress=stop)
    counts: list[int] = []
    submit(tmp_path / "stopped", progress=lambda games, total: counts.append(games), processes=2)
    assert content(tmp_path / "stopped") == content(folder)
    assert not (tmp_path / "stopped" / WORK_FOLDER).exists()
    assert counts[1] > 0


def test_a_finished_submission_is_not_written_over(folder: Path) -> None:
    with pytest.raises(
        ValueError, match=r"holds submission\.json, of another submission: name another folder"
    ):
        submit(folder, "random")


def test_an_error_ends_the_scenario_and_never_scores(tmp_path: Path) -> None:
    content = submit(tmp_path / "out", f"{HERE}:Raising")
    first, *others = content["scenarios"]
    assert "five" in first["error"]
    assert all("score" in each for each in others)
    assert content["score"] is None
    assert content["tables"]["petrify-4x4"] is None
    assert content["tables"]["petrify-full"] is not None
    assert verify(tmp_path / "out").is_valid
    assert "error" in card_rows(content)[1]


def test_an_agent_for_one_table_is_measured_there(tmp_path: Path) -> None:
    content = submit(tmp_path / "out", ["zoo:cat_in_the_box-3p", "zoo:petrify-4x4"])
    assert content["score"] is None
    assert [*content["tables"]] == ["petrify-4x4"]
    assert verify(tmp_path / "out", agents="zoo:petrify-4x4").is_valid
    with pytest.raises(ValueError, match="none can play a table of the suite petrify"):
        submit(tmp_path / "other", "zoo:cat_in_the_box-3p")


def test_without_its_games_nothing_can_be_verified(folder: Path) -> None:
    (folder / GAMES_FILE).unlink()
    with pytest.raises(FileNotFoundError, match=r"holds no games\.jsonl.*benchmark/README"):
        verify(folder)


def test_a_private_seed_is_needed_to_verify_and_gives_other_deals_and_variants(
    folder: Path, tmp_path: Path
) -> None:
    secret = "a secret of sixteen letters"
    private = suite(SUITE, private_seed=secret, quick=True)
    public = suite(SUITE, quick=True)
    assert private.seed != public.seed
    pairs = zip(private.scenarios, public.scenarios, strict=True)
    assert {one.opponent for one, other in pairs if one.spec != other.spec} == {"variant-1", "variant-2"}
    run_bench("heuristic:5", private, tmp_path / "out")
    assert verify(tmp_path / "out", private_seed=secret).is_valid
    assert verify(tmp_path / "out").problems == ["it was played with a private seed"]
    assert not verify(tmp_path / "out", private_seed=secret + "!").is_valid
    assert not verify(folder, private_seed=secret).is_valid
    assert secret not in (tmp_path / "out" / SUBMISSION_FILE).read_text()
    with pytest.raises(ValueError, match="at least 16 characters"):
        suite(SUITE, private_seed="short")


def first_result(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["scenarios"][0]
    return found


def number_changed(folder: Path) -> None:
    change(folder, lambda content: first_result(content).update(margin=1.5))


def total_changed(folder: Path) -> None:
    change(folder, lambda content: content["score"].update(mean=99.0))


def score_left_out(folder: Path) -> None:
    change(folder, lambda content: content.update(score=None))


def scenario_missing(folder: Path) -> None:
    change(folder, lambda content: content["scenarios"].pop(3))


def scenario_twice(folder: Path) -> None:
    change(folder, lambda content: content["scenarios"].append(first_result(content)))


def scenario_unknown(folder: Path) -> None:
    change(folder, lambda content: first_result(content).update(name="petrify-4x4-visitor-mine-v1"))


def hash_of_another_version(folder: Path) -> None:
    change(folder, lambda content: first_result(content).update(hash="0123456789abcdef"))


def games_replaced(folder: Path) -> None:
    (folder / GAMES_FILE).write_bytes((folder / GAMES_FILE).read_bytes() + b"\n")


def games_cut(folder: Path) -> None:
    data = (folder / GAMES_FILE).read_bytes()[:-2000]
    (folder / GAMES_FILE).write_bytes(data)
    change(folder, lambda content: content.update(games=hashlib.sha256(data).hexdigest()))


def change_block(folder: Path, make: Any) -> None:
    game = suite(SUITE).tables[0].game
    change_games(folder, 0, make, 16 * 2, game.max_game_length)


def illegal_move(folder: Path) -> None:
    def twice(actions: np.ndarray) -> np.ndarray:
        actions[0, 2] = actions[0, 1]
        return actions

    change_block(folder, twice)


def no_action(folder: Path) -> None:
    def beyond(actions: np.ndarray) -> np.ndarray:
        actions[5, 0] = 999
        return actions

    change_block(folder, beyond)


def game_cut(folder: Path) -> None:
    def shorter(actions: np.ndarray) -> np.ndarray:
        actions[3, (actions[3] >= 0).sum() - 1] = -1
        return actions

    change_block(folder, shorter)


def game_twice(folder: Path) -> None:
    def copied(actions: np.ndarray) -> np.ndarray:
        actions[2:4] = actions[:2]
        return actions

    change_block(folder, copied)


def seats_swapped(folder: Path) -> None:
    change_block(folder, lambda actions: actions.reshape(16, 2, -1)[:, ::-1].reshape(32, -1))


def search_replaced_later(folder: Path) -> None:
    """The last game against a search has another move of it, and is played on by its rules."""
    content = json.loads((folder / SUBMISSION_FILE).read_text())
    lines = [json.loads(line) for line in (folder / GAMES_FILE).read_text().splitlines()]
    (number,) = (k for k, line in enumerate(lines) if line["scenario"] == "petrify-4x4-resident-search-v1")
    scenario = next(
        each for each in suite(SUITE, quick=True).scenarios if each.name == lines[number]["scenario"]
    )
    game = scenario.table.game
    actions = unpacked(lines[number]["actions"], 8, game.max_game_length)
    root = np.random.SeedSequence(suite(SUITE).seed)
    vec = Vec(game, 1, seed=[deal_seed(root, scenario.first + 3)], auto_deal=False)
    moves = actions[-1][actions[-1] >= 0].tolist()
    changed: list[int] = []
    while vec.current_player[0] >= 0:
        legal = np.flatnonzero(vec.action_mask[0])
        follows = len(changed) < len(moves) and changed == moves[: len(changed)]
        action = moves[len(changed)] if follows else int(legal[0])
        if follows and vec.current_player[0] == 1 and len(legal) > 1 and action == moves[len(changed)]:
            action = int(next(each for each in legal if each != action))  # a move of the search
        changed.append(action)
        vec.step(np.array([action]))
    games = [[each for each in row if each >= 0] for row in actions.tolist()]
    games[-1] = changed
    lines[number]["actions"] = packed(games)
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    (folder / GAMES_FILE).write_bytes(data)
    content["games"] = hashlib.sha256(data).hexdigest()
    (folder / SUBMISSION_FILE).write_text(json.dumps(content))


def games_not_canonical(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / GAMES_FILE).read_text().splitlines()]
    again = zlib.compress(zlib.decompress(base64.b64decode(lines[0]["actions"])), 0)
    lines[0]["actions"] = base64.b64encode(again).decode()
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    (folder / GAMES_FILE).write_bytes(data)
    change(folder, lambda content: content.update(games=hashlib.sha256(data).hexdigest()))


def numbers_without_end(folder: Path) -> None:
    change(folder, lambda content: first_result(content).update(margin=10**400))


FORGERIES: dict[Any, str] = {
    number_changed: r"petrify-4x4-visitor-random-v1: margin is 1\.5, expected",
    total_changed: "score is .*99",
    score_left_out: "score is None, expected",
    scenario_missing: "scenario petrify-4x4-visitor-variant-2-v1 is missing",
    scenario_twice: "scenario petrify-4x4-visitor-random-v1 is there twice",
    scenario_unknown: "scenario 'petrify-4x4-visitor-mine-v1' is not one that was played",
    hash_of_another_version: "petrify-4x4-visitor-random-v1 has the hash '0123456789abcdef', with this version",
    search_replaced_later: "the opponent search decides otherwise in",
    games_not_canonical: "expected them as catbox bench run packs them",
    numbers_without_end: "petrify-4x4-visitor-random-v1: margin is 1000",
    games_replaced: "games.jsonl is not the file that the submission names",
    games_cut: "games.jsonl, line",
    illegal_move: "petrify-4x4-visitor-random-v1: game 1 of the block, move 3: action .* is illegal",
    no_action: "petrify-4x4-visitor-random-v1: game 6 of the block, move 1: action 999 is illegal",
    game_cut: "petrify-4x4-visitor-random-v1: game 4 of the block, .* has no more actions",
    game_twice: "petrify-4x4-visitor-random-v1: ",
    seats_swapped: "petrify-4x4-visitor-random-v1: ",
}


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_submission_is_refused_by_name(forge: Any, folder: Path) -> None:
    forge(folder)
    # Only what a search decided needs that the search is asked again.
    found = verify(folder, search_share=1.0 if forge is search_replaced_later else 0.0)
    assert not found.is_valid
    assert any(__import__("re").search(FORGERIES[forge], problem) for problem in found.problems), (
        found.problems
    )


def with_true_hashes(folder: Path) -> None:
    """As whoever knows the hashes would forge."""
    true = {each.name: current_hash(each) for each in suite(SUITE, quick=True).scenarios}
    change(folder, lambda content: [each.update(hash=true[each["name"]]) for each in content["scenarios"]])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a weak opponent", "other deals", "other rules"])
def test_games_that_were_played_otherwise_are_refused(kind: str, tmp_path: Path) -> None:
    played = suite(SUITE, quick=True)
    changed = []
    for scenario in played.scenarios:
        if kind == "a weak opponent" and scenario.opponent == "heuristic":
            scenario = replace(scenario, spec="random")
        elif kind == "other deals":
            scenario = replace(scenario, first=scenario.first + 64)
        elif kind == "other rules" and scenario.table.name == "petrify-4x4":
            table = replace(scenario.table, options={**scenario.table.options, "move_rule": "up_to"})
            scenario = replace(scenario, table=table, spec="random" if scenario.file else scenario.spec)
        changed.append(scenario)
    run_bench("heuristic:5", replace(played, scenarios=tuple(changed)), tmp_path / "out")
    if kind == "other deals":
        lines = [json.loads(line) for line in (tmp_path / "out" / GAMES_FILE).read_text().splitlines()]
        data = "".join(f"{json.dumps({**line, 'first': line['first'] - 64})}\n" for line in lines).encode()
        (tmp_path / "out" / GAMES_FILE).write_bytes(data)
        change(tmp_path / "out", lambda content: content.update(games=hashlib.sha256(data).hexdigest()))
    assert any("has the hash" in problem for problem in verify(tmp_path / "out").problems)
    with_true_hashes(tmp_path / "out")
    found = verify(tmp_path / "out")
    assert not found.is_valid
    expected = {"a weak opponent": "the opponent heuristic decides otherwise in"}.get(
        kind, "petrify-4x4-visitor"
    )
    assert any(expected in problem for problem in found.problems), found.problems


def test_another_agent_than_the_one_that_played_is_noticed(folder: Path) -> None:
    found = verify(folder, agents="heuristic:6")
    assert any("its fingerprint is another" in problem for problem in found.problems)
    assert any("the agent decides otherwise in" in problem for problem in found.problems)
    listed = [problem for problem in found.problems if "of the block, move" in problem]
    assert listed, "the first differences"
    assert re.search(
        r": the agent in the block from deal \d+, game \d+ of the block, move \d+: .+, now .+$", listed[0]
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"agent": {}},
        {"agent": {"name": "a\nb", "specs": {}, "fingerprints": {}}},
        {"declared": {"track": "learn-10M", "decisions": 10**12}},
        {"catbox": 1},
        {"score": {"mean": 1}},
        {"tables": {"petrify-4x4": {"mean": "x"}}},
        {"scenarios": [{"name": "petrify-4x4-visitor-random-v1", "error": "a\x1b[2J"}]},
        {"scenarios": [{"name": "petrify-4x4-visitor-random-v1", "error": "a", "score": 100}]},
    ],
)
def test_content_of_the_wrong_kind_is_refused_by_all_who_read_it(wrong: dict[str, Any], folder: Path) -> None:
    change(folder, lambda content: content.update(wrong))
    for read in (verify, lambda folder: leaderboard([folder])):
        with pytest.raises(ValueError, match=r"submission\.json: |decisions="):
            read(folder)


def test_files_that_never_end_are_not_read(folder: Path) -> None:
    for target in ("/dev/zero", os.devnull):
        (folder / GAMES_FILE).unlink()
        (folder / GAMES_FILE).symlink_to(target)
        with pytest.raises(ValueError, match="is no regular file"):
            verify(folder)


def test_one_agent_twice_is_no_learner_of_two_seeds(kept: Path, folder: Path) -> None:
    with pytest.raises(ValueError, match="are of the same agent: leave one out"):
        leaderboard([kept, folder])


@pytest.mark.parametrize("text", ["", "null", "{}", '{"format": "catbox-submission-1"}', "[" * 100_000])
def test_other_files_are_refused(text: str, folder: Path) -> None:
    (folder / SUBMISSION_FILE).write_text(text)
    with pytest.raises(ValueError, match=r"submission\.json"):
        verify(folder)


def test_packed_games_come_back_and_damage_is_refused() -> None:
    games = [[3, 1, 2], [], [65_535]]
    found = unpacked(packed(games), 3, 5)
    assert [row[row >= 0].tolist() for row in found] == games
    for text, number, most in (
        (packed(games), 4, 5),
        (packed(games), 3, 2),
        (packed(games)[:-8], 3, 5),
        ("not base 64!", 3, 5),
        (packed([[0] * 60_000] * 50), 3, 5),
    ):
        with pytest.raises(ValueError, match="actions"):
            unpacked(text, number, most)


def test_declarations_are_checked(tmp_path: Path) -> None:
    for declared, message in (
        ({"track": "learn"}, "unknown track 'learn'"),
        ({"decision": 3}, "unknown declaration 'decision'"),
        ({"decisions": "3"}, "decisions='3': expected a number"),
        ({"track": "learn-1B", "decisions": 3}, "the track learn-1B also needs settings and seed"),
    ):
        with pytest.raises(ValueError, match=message):
            submit(tmp_path / "out", declared=declared)


def test_submissions_of_one_name_are_seeds_of_a_row(kept: Path, tmp_path: Path) -> None:
    for seed in (6, 7):
        declared = {"decisions": 12, "track": "learn-1B", "settings": "none", "seed": seed}
        submit(tmp_path / f"{seed}", f"heuristic:{seed}", name="variants", declared=declared)
    one, both = sorted(leaderboard([kept, tmp_path / "6", tmp_path / "7"]), key=lambda row: row["seeds"])
    scores = [json.loads((tmp_path / f"{k}" / SUBMISSION_FILE).read_text())["score"]["mean"] for k in (6, 7)]
    assert both["score"]["mean"] == pytest.approx(np.mean(scores), abs=1e-5)
    assert both["score"]["ci95"] == pytest.approx(12.7062 * abs(scores[0] - scores[1]) / 2, rel=1e-3)
    assert (one["agent"], both["agent"], both["seeds"]) == ("heuristic:5", "variants", 2)
    page = leaderboard_page([one, both])
    assert "| variants, 2 of 5 seeds (quick) |" in page
    assert "| learn-1B, 12 decisions |" in page
    change(tmp_path / "7", lambda content: content["declared"].update(seed=6))
    with pytest.raises(ValueError, match="are of the same seed: leave one out"):
        leaderboard([tmp_path / "6", tmp_path / "7"])


def test_the_card_has_a_cell_for_each_scenario(kept: Path) -> None:
    content = json.loads((kept / SUBMISSION_FILE).read_text())
    rows = card_rows(content)
    assert rows[0] == ["", "petrify-4x4", "petrify-full"]
    assert sum(cell != "" for row in rows[1:] for cell in row[1:]) == 14
    words = [text.get_text() for text in draw_card(content).axes[0].texts]
    assert {"mean", "among random", "among heuristic variant 1", "among the 2nd edition"} <= set(words)


def test_no_two_scenarios_share_deals_or_a_name() -> None:
    for name in suite_names():
        every = suite(name).scenarios
        assert len({each.name for each in every}) == len(every)
        spans = {
            (each.table.name, number)
            for each in every
            for number in range(each.first, each.first + each.deals)
        }
        assert len(spans) == sum(each.deals for each in every)
        assert all(each.file is None or each.file.exists() for each in every)
        assert [table.spread > 0 for table in suite(name).tables]


def test_what_is_played_never_changes() -> None:
    """If this fails, a rule, an opponent or a search plays differently than when version 1 was frozen: undo that, or
    make another version of the scenarios."""
    found = {
        name: {each.name: current_hash(each) for each in suite(name).scenarios} for name in suite_names()
    }
    assert found == json.loads(HASHES.read_text())
