"""What agents of the zoo leave on the table: the clairvoyant, the phases, and the share of the deal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from catbox_agents import zoo
from catbox_agents.play import play_out
from catbox_agents.search.playing import Player, rollout_player
from catbox_env import Game, Vec, make_game
from docs.generators.headroom import headroom_picture, headroom_table
from experiments import headroom
from experiments.headroom import (
    PHASES,
    PLAYS,
    clairvoyant_gains,
    lost_by_phase,
    phases,
    play_clairvoyant,
    sampled_margins,
    share_of_the_deal,
    with_margins,
)
from tests.experiments.small_studies import Workplace

SEEDS = [np.random.SeedSequence(number) for number in range(3)]


def table(name: str) -> tuple[Game, Player]:
    game = with_margins(zoo.zoo_agent(zoo.PREFIX + name).game)
    return game, rollout_player(game, zoo.PREFIX + name)


def best_by_hand(game: Game, player: Player, seed: np.random.SeedSequence, own: int, depth: int) -> float:
    """One game at a time: the margin of the seat ``own`` that sees everything."""
    games, paid = Vec(game, 1, seed=[seed], auto_deal=False), 0.0
    while not games.terminated[0]:
        mask = games.action_mask
        action = int(player.agent.act_batch(games.observation, mask)[0])
        if games.current_player[0] == own and depth > 0:
            values = {}
            for tried in np.flatnonzero(mask[0]).tolist():
                after = games.take(np.array([0]))
                after.step(np.array([tried]))
                value = float(after.rewards[0, own])
                if not after.terminated[0]:
                    if depth == 1:
                        value += play_out(after, player.agent, "end_of_game")[0, own]
                    else:
                        value += play_clairvoyant(after, np.array([own]), player, depth - 1)[0]
                values[tried] = value
            if max(values.values()) > values[action]:
                action = max(values, key=lambda tried: (values[tried], -tried))
        games.step(np.array([action]))
        paid += float(games.rewards[0, own])
    return paid


@pytest.mark.parametrize(
    "name", [pytest.param("cat_in_the_box-3p", marks=pytest.mark.slow), "cat_te-2p-laos"]
)
def test_a_clairvoyant_seat_takes_the_best_action_and_more_depth_never_costs(name: str) -> None:
    game, player = table(name)
    seats = game.num_players
    shallow, deep = (clairvoyant_gains(game, player, SEEDS, depth) for depth in (1, 2))
    assert all(0 <= one <= two for one, two in zip(shallow, deep, strict=True))
    for depth, gains in ((1, shallow), (2, deep)):
        by_hand = np.mean([best_by_hand(game, player, SEEDS[0], own, depth) for own in range(seats)])
        assert gains[0] == pytest.approx(by_hand, abs=1e-4)


@pytest.mark.slow
def test_points_are_lost_in_phases_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headroom, "WORLDS", 8)
    game, player = table("cat_in_the_box-4p")
    lost = lost_by_phase(game, player, SEEDS)
    assert set(lost) <= set(PHASES)
    assert {"discard", "bid", "2-3 cards"} <= set(lost)
    assert all(len(points) == len(SEEDS) for points in lost.values())
    assert lost == lost_by_phase(game, player, SEEDS), "the searches have seeds of their own"
    # Judged in the worlds that it was chosen in, no action would be worse than the agent's.
    monkeypatch.setattr(headroom, "WORLDS", 1)
    assert min(min(points) for points in lost_by_phase(game, player, SEEDS).values()) < 0


def test_plays_are_counted_by_the_cards_in_hand() -> None:
    games = Vec(make_game("cat_te_v0", num_players=2), 1, seed=1, auto_deal=False)
    random, found = np.random.default_rng(1), {}
    while not games.terminated[0]:
        cards = int(games.observation[:, games.game.observation_layout["hand"].slice].sum())
        (found[cards],) = phases(games.game, games.observation)
        games.step(np.array([random.choice(np.flatnonzero(games.action_mask[0]))]))
    expected = {**dict.fromkeys((2, 3), 0), **dict.fromkeys((4, 5), 1), 6: 2}
    assert expected.items() <= {cards: PLAYS.index(phase) for cards, phase in found.items()}.items()


def sampled(deal: float, luck: float, deals: int = 400) -> np.ndarray:
    random = np.random.default_rng(3)
    return random.normal(0, deal, (deals, 1, 2)) + random.normal(0, luck, (deals, 8, 2))


@pytest.mark.parametrize(("deal", "luck", "share"), [(1, 1, 0.5), (2, 1, 0.8), (0, 1, 0), (1, 0, 1)])
def test_the_share_of_the_deal(deal: float, luck: float, share: float) -> None:
    assert share_of_the_deal(sampled(deal, luck)) == pytest.approx(share, abs=0.05)


def test_seats_that_sample_play_the_same_deal_in_different_ways() -> None:
    game, _ = table("cat_in_the_box-3p")
    margins = np.array(sampled_margins(game, "zoo:cat_in_the_box-3p", SEEDS))
    assert margins.shape == (3, headroom.REPEATS, 3)
    assert margins.sum(axis=2) == pytest.approx(0, abs=1e-3)
    assert (margins.std(axis=1) > 0).any()


def test_blocks_are_kept_and_the_table_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headroom, "DEALS", 2)
    monkeypatch.setattr(headroom, "BLOCKS", 2)
    workplace = Workplace(tmp_path)
    (workplace.folders.own / "zoo.yaml").write_text("cat_te-2p-laos: {}\npetrify-4x4: {}\n")
    file = workplace.results / headroom.FILE
    assert workplace.run("headroom", "petrify-4x4") == 0
    assert workplace.run("headroom", "petrify-5x5") == 1, "unknown"
    first = file.read_text()
    assert first.count("\n") == 2
    assert workplace.run("headroom") == 0
    assert file.read_text().startswith(first)
    assert file.read_text().count("\n") == 4

    def nothing(*given: object) -> Sequence[float]:
        raise AssertionError("measured twice")

    monkeypatch.setattr(headroom, "clairvoyant_gains", nothing)
    assert workplace.run("headroom") == 0
    *rows, _, picture = headroom_table(workplace.folders).splitlines()
    tables = ["Cat Te, 2 players, Laos", "Petrify, 2 players, 4 x 4 tiles"]
    assert [row.split("|")[1].strip() for row in rows[2:]] == tables
    assert [row.split("|")[2].strip() for row in rows[2:]] == ["4", "4"]
    assert picture.endswith("](pictures/headroom.svg)")
    (drawn,) = headroom_picture(workplace.folders).values()
    svg = drawn.svg().decode()
    assert all(f">{table}</text>" in svg for table in tables)
    assert svg.count(">± ") == 3, "Petrify hides nothing, so nothing is searched for"


def test_before_anything_is_measured_the_page_says_how(tmp_path: Path) -> None:
    """Also if the zoo has no agent of a name yet."""
    workplace = Workplace(tmp_path)
    (workplace.folders.own / "zoo.yaml").write_text("cat_te-9p: {}\n")
    assert headroom_table(workplace.folders) == "Not measured yet: `python -m experiments headroom`."
    assert headroom_picture(workplace.folders) == {}
