"""Build the documentation site into site/: `make docs`.

The pages are written for a code host: they link files of the repository, also those outside docs/. `assemble` copies
them into build/docs with links between pages of the site, and turns examples, notebooks and the texts at the top of
the repository into pages. Zensical makes the site of them, as mkdocs.yml says, with mkdocstrings the reference from
the docstrings, and stops where a link between pages, or an anchor, leads nowhere. The pictures cannot load the font of
the pages: `with_font` writes it into each. The playground is written beside the pages. `faults` then reads what was
built: it finds what a browser would have to load from another host.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

from docs import playground

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "build" / "docs"
SITE = ROOT / "site"
#: Folders of docs/ that are copied as they are.
ASSETS = ("images", "pictures", "screenshots", "site")
#: Files of the browser table that the pages use too.
OF_THE_TABLE = ("figtree.woff2", "font.css", "icon.svg")
#: Texts at the top of the repository that are pages of the site; what the README says, the home page says there.
TOP = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}

#: Packages whose public names, those of the table in docs/api.md, have a reference page.
PACKAGES = ("catbox_env", "agents/catbox_agents", "train/catbox_train")
#: What a page or a style sheet loads from another host.
ELSEWHERE = re.compile(
    r"<(?:script|img|iframe|source|video|audio)\b[^>]*?\bsrc(?:set)?=\"?https?:[^\"> ]+"
    r"|<link\b(?![^>]*rel=\"?(?:canonical|next|prev)\b)[^>]*?\bhref=\"?https?:[^\"> ]+"
    r"|url\(\s*['\"]?(?:\w+:)?//[^)]+"
)
#: The heading of the page of a missing address, as the theme has it and as the site does.
THEIR_NOT_FOUND, NOT_FOUND = "<h1>404 - Not found</h1>", "<h1>This page does not exist</h1>"
#: What makes a button of the link before `<!-- button -->`.
BUTTON = "{ .md-button .md-button--primary }"
SECOND_BUTTON = "{ .md-button }"

FENCED = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r'(\]\(|\b(?:src|srcset|href)=")([^)"#\s]+)')
#: Spaces at which no line is broken, of a share, an interval and a number of players; a date in a table.
WHOLE = re.compile(r"(?<=\d) (?=%|± \d|players\b)|(?<=\d ±) (?=\d)")
DATE = re.compile(r"(?<=\| )(\d{4}-\d\d-\d\d)\b")
PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img src="([^"]+)"([^>]*)>\s*</picture>'
)


def pages() -> dict[Path, str]:
    """Every page: the file that it comes from, and its name in the site's sources."""
    found = {path: path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    found |= {ROOT / name: page for name, page in TOP.items()}
    for folder, suffix in (("examples", ".py"), ("notebooks", ".ipynb")):
        for path in sorted((ROOT / folder).glob(f"[!_]*{suffix}")):
            found[path] = f"{folder}/{path.stem}.md"
    return found | {ROOT / folder: f"reference/{Path(folder).name}.md" for folder in PACKAGES}


def moved(text: str, source: Path, page: str, known: dict[Path, str]) -> str:
    """``text`` of the file ``source`` with its links as they are on the site's ``page``.

    Raises ``ValueError`` for a link to a file that is not on the site.
    """

    def link(found: re.Match[str]) -> str:
        before, target = found.groups()
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = (source.parent / target).resolve()
        home = ROOT / "docs" / "index.md" if path == ROOT / "README.md" else path
        if home in known:
            name = known[home]
        elif path.is_file() and path.relative_to(ROOT).parts[:2] in [("docs", folder) for folder in ASSETS]:
            name = path.relative_to(ROOT / "docs").as_posix()
        else:
            raise ValueError(f"{source.relative_to(ROOT)}: {target} is no page or picture of the site")
        return before + os.path.relpath(name, Path(page).parent)

    def prose(part: str) -> str:
        part = DATE.sub(r'<span class="whole">\1</span>', WHOLE.sub("\u00a0", part))
        return PICTURE.sub(r'<img src="\2#only-light"\3><img src="\1#only-dark"\3>', LINK.sub(link, part))

    parts, end = [], 0
    for fence in FENCED.finditer(text):
        parts += [prose(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, prose(text[end:])])


def public_names() -> dict[str, list[str]]:
    """Module -> its public names, from the table in docs/api.md."""
    section = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").partition("\n## Public names\n")[2]
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return {module: re.findall(r"`(\w+)`", names) for module, names in rows}


def reference_page(package: Path) -> str:
    """The directives by which mkdocstrings documents ``package`` and its public modules."""
    parts = []
    for module, names in public_names().items():
        if module.partition(".")[0] == package.name:
            level, place = 1 + module.count("."), package.parent.joinpath(*module.split("."))
            # A function that is named like the module that it comes from is found there alone.
            apart = [name for name in names if (place / f"{name}.py").is_file() and not name.endswith("_v0")]
            members = [name for name in names if name not in apart]
            options = f"\n    options:\n      heading_level: {level}\n      members: [{', '.join(members)}]"
            parts.append(f"::: {module}{options}")
            for name in apart:
                parts.append(f"::: {module}.{name}.{name}\n    options:\n      heading_level: {level + 1}")
    return "\n\n".join(parts) + "\n"


def example_page(path: Path) -> str:
    """A program of examples/ as a page."""
    return f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"


def notebook_page(path: Path, page: str, known: dict[Path, str]) -> str:
    """A notebook as a page: its text, its code and what it printed; its pictures go into a folder beside it."""
    parts, pictures = [], (SOURCES / page).parent / "pictures"
    heading = path.stem
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heading = [heading, *re.findall(r"^#+ (.+)$", text.replace("`", ""), re.MULTILINE)][-1]
        parts.append(
            moved(text, path, page, known) if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        )
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", [])})
            name = f"{path.stem}-{len(parts)}"
            if "image/svg+xml" in data or "image/png" in data:
                pictures.mkdir(parents=True, exist_ok=True)
            if "image/svg+xml" in data:
                svg = "".join(data["image/svg+xml"])
                (pictures / f"{name}.svg").write_text(svg, encoding="utf-8")
                # It says itself what it shows.
                alt = ": ".join(unescape(words) for words in re.findall(r"<(?:title|desc)>(.*?)</", svg)[:2])
                parts.append(f"![{alt}]({pictures.name}/{name}.svg)")
            elif "image/png" in data:
                (pictures / f"{name}.png").write_bytes(base64.b64decode("".join(data["image/png"])))
                parts.append(f"![Plot: {heading}]({pictures.name}/{name}.png)")
            else:
                parts.append("```text\n" + "".join(data["text/plain"]).rstrip("\n") + "\n```")
    return "\n\n".join(parts) + "\n"


def with_font(picture: str, font: bytes) -> str:
    """An SVG with the ``font`` in it, a WOFF2 file of Figtree, for all its text that has no style of its own.

    A picture without text needs none.
    """
    if "<text" not in picture:
        return picture
    data = base64.b64encode(font).decode()
    face = f"@font-face{{font-family:Figtree;font-weight:300 900;src:url(data:font/woff2;base64,{data})}}"
    style = f"<style>{face}svg{{font-family:Figtree,system-ui,sans-serif}}</style>"
    return re.sub(r"<svg\b[^>]*>", lambda found: found[0] + style, picture, count=1)


def assemble() -> None:
    """Write build/docs, from which Zensical builds the site."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    known = pages()
    for path, page in known.items():
        target = SOURCES / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            text = example_page(path)
        elif path.is_dir():
            text = reference_page(path)
        elif path.suffix == ".ipynb":
            text = notebook_page(path, page, known)
        else:
            text = moved(path.read_text(encoding="utf-8"), path, page, known)
        text = playground.PLACE.sub(playground.TABLE, text).replace("<!-- button -->", BUTTON)
        text = text.replace("<!-- second button -->", SECOND_BUTTON)
        # After the language of a block a page may name the file that it is written into.
        text = re.sub(r"^(```\w+) ([\w/.]+)$", r'\1 title="\2"', text, flags=re.MULTILINE)
        target.write_text(text, encoding="utf-8")
    for folder in ASSETS:
        shutil.copytree(ROOT / "docs" / folder, SOURCES / folder)
    for name in OF_THE_TABLE:
        shutil.copyfile(playground.FRONT_END / name, SOURCES / "site" / name)
    font = (playground.FRONT_END / "figtree.woff2").read_bytes()
    for path in (path for path in SOURCES.rglob("*.svg") if path.parent.name != "site"):
        path.write_text(with_font(path.read_text(encoding="utf-8"), font), encoding="utf-8")


def write_not_found() -> None:
    """Say on the page of a missing address where else to go. Its links begin at the root of the site, as those of its
    navigation do. `faults` finds the page if the theme had other words there."""
    path = SITE / "404.html"
    text = path.read_text(encoding="utf-8")
    places = {"index": "the home page", "playground": "the playground", "getting_started": "getting started"}
    home, play, begin = (f'<a href="/{page}.html">{words}</a>' for page, words in places.items())
    told = f"{NOT_FOUND}<p>It may have moved: search for it above, or go to {home}, {play} or {begin}.</p>"
    path.write_text(text.replace(THEIR_NOT_FOUND, told), encoding="utf-8")


def faults() -> list[str]:
    """What is wrong with the built site, a line for each fault: files of other hosts, lists that are none, names that
    the reference does not have, the theme's own page of a missing address.

    Links and anchors Zensical has checked; that pictures exist, `moved`.
    """
    not_found = (SITE / "404.html").read_text(encoding="utf-8")
    found = [] if NOT_FOUND in not_found else ["404.html: the theme has other words, see write_not_found"]
    for module, names in public_names().items():
        text = (SITE / "reference" / f"{module.partition('.')[0]}.html").read_text(encoding="utf-8")
        found += [
            f"{module}.{name}: not in the reference"
            for name in names
            if not re.search(rf'id="{module}\.(?:{name}\.)?{name}"', text) and not name.endswith("_v0")
        ]
    for path in sorted([*SITE.rglob("*.html"), *SITE.rglob("*.css")]):
        text, where = path.read_text(encoding="utf-8"), path.relative_to(SITE)
        found += [f"{where}: loads {part[0]} from another host" for part in ELSEWHERE.finditer(text)]
        for paragraph in re.findall(r"<p>(.*?)</p>", text, re.DOTALL):
            for line in re.findall(r"^(?:[-*] |\d+\. |\||```).*", paragraph, re.MULTILINE):
                found.append(f"{where}: {line!r} is no list, table or code block")
    return found


def main() -> None:
    """Build the site; exit with what is wrong."""
    argparse.ArgumentParser(description="Build the documentation site into site/.").parse_args()
    assemble()
    shutil.rmtree(SITE, ignore_errors=True)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    print(re.sub(r"\x1b\[[\d;]*m", "", built.stdout).partition("Traceback")[0], end="")
    if built.returncode:
        sys.exit(f"Zensical has refused the pages of {SOURCES.relative_to(ROOT)}/, or failed")
    write_not_found()
    playground.build(SITE / playground.FOLDER)
    if found := faults():
        sys.exit("\n".join(found))
    print(f"{len(pages())} pages in site/. To look at them: {sys.executable} -m http.server --directory site")


if __name__ == "__main__":
    main()
