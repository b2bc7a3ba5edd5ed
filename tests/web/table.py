"""What a person does at the browser table, for the tests."""

from __future__ import annotations

import json
import math
from typing import Any

from playwright.sync_api import Locator, Page, WebSocket, expect

#: Milliseconds that the first move of an agent may take: its code may have to be compiled.
COMPILING = 180_000
#: Position, waiting for whom, and whether it differs from the one before.
_SETTLED = """before => {
  const table = document.querySelector(".table");
  if (table === null) return false;
  const {number, waits} = table.dataset;
  return number !== before && (waits === "you" || waits === "over");
}"""


def open_table(
    page: Page, title: str, players: int, opponent: str = "normal", *, seed: int | None = 7, pace: str = "0"
) -> None:
    """From the lobby to the first position in which player_0 is to move."""
    page.get_by_role("radio", name=title).check(force=True)
    page.get_by_role("radio", name=str(players), exact=True).check(force=True)
    for seat in range(1, players):
        seat_choice(page, seat).select_option(opponent)
    unfold_rules(page)
    page.get_by_label("Seed").fill("" if seed is None else str(seed))
    page.get_by_label("Speed of the agents").select_option(pace)
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for_turn(page)


def seat_choice(page: Page, seat: int) -> Locator:
    """Who sits at ``seat``, to be chosen in the lobby."""
    return page.locator(".seats select").nth(seat)


def name_oneself(page: Page, name: str) -> None:
    page.get_by_label("Your name", exact=True).fill(name)
    page.keyboard.press("Enter")


def open_more(page: Page) -> None:
    """Shows the seed and what else there is about the deal."""
    page.get_by_text("More", exact=True).click()


def wait_for_turn(page: Page, before: str = "-") -> str:
    """Waits for another position than ``before`` in which this page is to move or the game is over; its number."""
    page.wait_for_function(_SETTLED, arg=before, timeout=COMPILING)
    return number(page)


def play(page: Page) -> str:
    """Takes the first legal action; the number of the next position as in `wait_for_turn`."""
    before = number(page)
    cards(page).first.click()
    return wait_for_turn(page, before)


def play_at(page: Page, pages: list[Page]) -> None:
    """Takes the first legal action at ``page`` and waits until all ``pages`` show a later position."""
    before = int(number(page))
    cards(page).first.click()
    for each in pages:
        each.wait_for_function(
            'before => Number(document.querySelector(".table")?.dataset.number) > before', arg=before
        )


def mark_picture(page: Page) -> None:
    """Marks the picture that is shown, for `wait_for_new_picture`."""
    page.locator(".picture svg").evaluate("picture => picture.setAttribute('data-marked', '')")


def wait_for_new_picture(page: Page) -> None:
    """Waits until the marked picture is drawn anew: a click while that happens would be lost."""
    expect(page.locator(".picture svg")).to_have_count(1)
    expect(page.locator(".picture svg[data-marked]")).to_have_count(0)


def number(page: Page) -> str:
    """The number of actions played that the page shows."""
    return str(page.locator(".table").get_attribute("data-number"))


def is_over(page: Page) -> bool:
    return page.locator(".table").get_attribute("data-waits") == "over"


def cards(page: Page) -> Locator:
    """The legal actions in the picture."""
    return page.locator(".picture [data-action]")


def buttons(page: Page) -> Locator:
    """The legal actions as buttons."""
    return page.get_by_role("group", name="Legal actions").get_by_role("button")


def expect_values(page: Page) -> None:
    """Waits until the coach has written a value beside each legal action."""
    page.wait_for_function(
        """() => {
            const choices = [...document.querySelectorAll(".coach .choice, .advise .choice")];
            return choices.length > 0 && choices.every((choice) => choice.querySelector(".value"));
        }""",
        timeout=COMPILING,
    )


def heard(page: Page) -> list[dict[str, Any]]:
    """Loads the page anew; the list of the messages of its server, to which each new one is added."""
    messages: list[dict[str, Any]] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: messages.append(json.loads(text)))

    page.on("websocket", listen)
    page.reload()
    return messages


def numbered(messages: list[dict[str, Any]]) -> set[int]:
    """The actions whose probability, as the coach has told it last, is not 0 in whole percent."""
    told = [message["values"] for message in messages if message["type"] == "coach"][-1]
    return {one["action"] for one in told if math.floor(100 * one["value"] + 0.5) > 0}


def unfold_rules(page: Page) -> None:
    """Shows the seed and the rules in the lobby, which are folded."""
    page.locator(".lobby .rules").evaluate("rules => { rules.open = true; }")


def unfold(page: Page) -> None:
    """Shows the legal actions as buttons, which are folded."""
    page.get_by_text("All legal actions").click()


def play_to_the_end(page: Page) -> int:
    """Clicks on the last legal action in the picture until the game is over; returns how many actions that took."""
    actions, at = 0, wait_for_turn(page)
    while not is_over(page):
        cards(page).last.click()
        at = wait_for_turn(page, at)
        actions += 1
    return actions


def play_to_the_end_of_a_round(page: Page) -> None:
    """Clicks on the last legal action in the picture until a round, but not the game, is over."""
    wait_for_turn(page)
    while page.locator(".table").get_attribute("data-waits") != "next":
        assert not is_over(page)
        before = number(page)
        cards(page).last.click()
        page.wait_for_function(
            _SETTLED.replace('"over"', '"over" || waits === "next"'), arg=before, timeout=COMPILING
        )


def expect_end(page: Page, players: int) -> None:
    """The end of the game is told in a table with a row for every seat."""
    end = page.get_by_role("region", name="End of the round")
    expect(end).to_be_visible()
    expect(end.locator(".result-table tbody tr")).to_have_count(players)
