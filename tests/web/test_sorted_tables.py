"""Tables of the site are sorted by the column whose head is clicked."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

SCRIPT = Path(__file__).parents[2] / "docs" / "site" / "sort.js"
ROWS = [
    ("zoo", "+43.3 ± 1.0", ""),
    ("PPO", "\u22121.7 ± 3.3", "10,000,000"),
    ("random", "\u2212105.0 ± 1.0", "9"),
]
TABLE = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS)


def test_a_click_on_a_head_sorts_and_another_one_turns_the_order_round(browser: Browser) -> None:
    page = browser.new_page()
    heads = "<tr><th>agent</th><th>all</th><th>decisions</th></tr>"
    page.set_content(f"<div class=sortable><table><thead>{heads}</thead><tbody>{TABLE}</tbody></table></div>")
    page.add_script_tag(path=SCRIPT)
    for head, agents, order in (
        ("agent", ["PPO", "random", "zoo"], "ascending"),
        ("agent", ["zoo", "random", "PPO"], "descending"),
        ("all", ["zoo", "PPO", "random"], "descending"),
        ("all", ["random", "PPO", "zoo"], "ascending"),
        ("decisions", ["PPO", "random", "zoo"], "descending"),
        ("decisions", ["random", "PPO", "zoo"], "ascending"),
    ):
        page.get_by_role("button", name=head).click()
        assert page.locator("td:first-child").all_inner_texts() == agents, head
        assert page.locator("[aria-sort]").all_inner_texts() == [head]
        assert page.locator("[aria-sort]").get_attribute("aria-sort") == order
    page.close()


def test_a_table_that_is_too_wide_shows_that_more_follows(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<body>")
    page.add_script_tag(path=SCRIPT.with_name("tables.js"))
    for width, more in ((50, False), (500, True)):
        table = f"<div class=md-typeset__scrollwrap style='overflow: auto; width: 100px'><p style='width: {width}px'>a"
        page.evaluate("html => { document.body.innerHTML = html; }", table)
        page.wait_for_function("() => document.querySelector('[data-watched]')")
        page.wait_for_timeout(100)
        wrap = page.locator(".md-typeset__scrollwrap")
        assert ("more" in str(wrap.get_attribute("class")).split()) == more
    wrap.evaluate("wrap => { wrap.scrollLeft = 400; }")
    page.wait_for_function("() => !document.querySelector('.more')")
    page.close()
