"""Build the documentation site into site/: `make docs`.

The pages are written for a code host: they link files of the repository, also those outside docs/. `assemble` copies
them into build/docs with links between pages of the site, and turns examples, notebooks and the texts at the top of
the repository into pages. Zensical makes the site of them, as mkdocs.yml says, and stops where a link between pages
leads nowhere. The playground is written beside the pages. `faults` then reads what was built: it finds pages,
pictures and anchors that are missing, and everything that a browser would have to load from another host.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from docs import playground
from docs.reference import reference

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "build" / "docs"
SITE = ROOT / "site"
#: Folders of docs/ that are copied as they are.
ASSETS = ("images", "pictures", "screenshots", "site")
#: Texts at the top of the repository that are pages of the site; what the README says, the home page says there.
TOP = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}

#: Packages whose public names have a reference page, made from their docstrings.
PACKAGES = ("catbox_env", "agents/catbox_agents", "train/catbox_train")

FENCED = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r'(\]\(|\b(?:src|srcset|href)=")([^)"#\s]+)')
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


def navigation() -> list[str]:
    """The pages that mkdocs.yml names, in their order."""

    def named(entry: Any) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        else:
            for inner in entry.values() if isinstance(entry, dict) else entry:
                yield from named(inner)

    return list(named(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))


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
        return PICTURE.sub(r'<img src="\2#only-light"\3><img src="\1#only-dark"\3>', LINK.sub(link, part))

    parts, end = [], 0
    for fence in FENCED.finditer(text):
        parts += [prose(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, prose(text[end:])])


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
            text = reference(path.name)
        elif path.suffix == ".ipynb":
            text = notebook_page(path, page, known)
        else:
            text = moved(path.read_text(encoding="utf-8"), path, page, known)
        text = text.replace(playground.PLACE, playground.FRAME)
        # After the language of a block a page may name the file that it is written into.
        text = re.sub(r"^(```\w+) ([\w/.]+)$", r'\1 title="\2"', text, flags=re.MULTILINE)
        target.write_text(text, encoding="utf-8")
    for folder in ASSETS:
        shutil.copytree(ROOT / "docs" / folder, SOURCES / folder)


class Page(HTMLParser):
    """What a built page has and asks for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        #: Lines of paragraphs that were meant as a list, a table or a block of code.
        self.unread = [
            line
            for paragraph in re.findall(r"<p>(.*?)</p>", text, re.DOTALL)
            for line in re.findall(r"^(?:[-*] |\d+\. |\||```).*", paragraph, re.MULTILINE)
        ]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given["href"])
        elif tag in ("script", "img", "iframe", "source", "video", "audio"):
            self.loaded += [given[name] for name in ("src", "srcset") if name in given]


def faults() -> list[str]:
    """What is wrong with the built site, a line for each fault."""
    built = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(SITE.rglob("*.html"))}
    found = [
        f"{page}: not built" for page in navigation() if not (SITE / page).with_suffix(".html").is_file()
    ]
    found += [
        f"{page}: not in the navigation of mkdocs.yml"
        for page in sorted({*pages().values()} - {*navigation()})
    ]
    for path, page in built.items():
        found += [
            f"{path.relative_to(SITE)}: {line!r} is no list, table or code block" for line in page.unread
        ]
        if path.name == "404.html":  # its links begin at the root of the host
            continue
        where = path.relative_to(SITE)
        for target in page.links + page.loaded:
            if re.match(r"[a-z]+:", target) and not target.startswith("file:"):
                if target in page.loaded and not target.startswith("data:"):
                    found.append(f"{where}: loads {target} from another host")
                continue
            name, _, anchor = unquote(target).partition("#")
            other = (path.parent / name.partition("?")[0]).resolve() if name else path
            if not other.is_file():
                found.append(f"{where}: {target} does not exist")
            elif anchor and other in built and anchor not in built[other].ids:
                found.append(f"{where}: {target}: no such anchor")
    for path in sorted(SITE.rglob("*.css")):
        for target in re.findall(r"url\(\s*['\"]?(\w+:)?//", path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(SITE)}: loads {target}// from another host")
    return found


def main() -> None:
    """Build the site; exit with what is wrong."""
    assemble()
    shutil.rmtree(SITE, ignore_errors=True)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    print(re.sub(r"\x1b\[[\d;]*m", "", built.stdout).partition("Traceback")[0], end="")
    if built.returncode:
        sys.exit(f"Zensical has refused the pages of {SOURCES.relative_to(ROOT)}/, or failed")
    playground.build(SITE / playground.FOLDER)
    if found := faults():
        sys.exit("\n".join(found))
    print(f"{len(pages())} pages in site/. To look at them: {sys.executable} -m http.server --directory site")


if __name__ == "__main__":
    main()
