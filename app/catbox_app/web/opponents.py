"""Which agents a page may name: those that come with catbox, with bounds, and those that the server was started with.

A page must not be able to load a file or to import a module: a spec may be a path, or ``package.module:Class``.
"""

from __future__ import annotations

from collections.abc import Sequence

from catbox_agents import known_agents
from catbox_agents.settings import CONFIGURED, is_configured, read_settings, specs_within
from catbox_env.core import compilation
from catbox_env.core.checks import closest, shown

#: The most of what a setting of a search may ask for: no decision of a page takes long.
BOUNDS = {
    "worlds": 512,
    "budget": 2.0,
    "proposals": 16,
    "simulations": 4000,
    "parallel": 64,
    "samples": 512,
}


#: Why some agents are not offered where catbox is not compiled, for people who open a table.
NOT_COMPILED = (
    "catbox is not compiled here. Agents that search, the level hard and estimated points play hundreds of games for "
    "one move, which takes too long without Numba: the command catbox web has them."
)


def is_offered(spec: str) -> bool:
    """Whether an agent that comes with catbox is quick enough here: without compilation, a search is not."""
    return compilation.HAS_NUMBA or (spec != "hard" and not is_configured(spec))


def check_opponent(spec: str, also: Sequence[str] = ()) -> None:
    """Raise ``ValueError`` unless a page may name ``spec``. ``also``: specs that the host allows."""
    if not is_offered(spec):
        raise ValueError(f"agent {shown(spec)}: {NOT_COMPILED}")
    if spec in also or spec in known_agents():
        return
    if not is_configured(spec) or spec != spec.strip():
        known = [*also, *known_agents()]
        raise ValueError(
            f"agent {shown(spec)}{closest(spec, known)}; expected one of {', '.join(known)}, or settings of "
            f"{', '.join(CONFIGURED)}. Others, such as a checkpoint, are allowed by who starts the server: "
            "catbox web --agent SPEC"
        )
    for name, value in read_settings(spec).items():
        if name in BOUNDS and value > BOUNDS[name]:
            raise ValueError(
                f"agent {shown(spec)}: {name} is at most {BOUNDS[name]:g} at a table in the browser"
            )
    for within in specs_within(spec).values():
        if is_configured(within):
            raise ValueError(f"agent {shown(spec)}: no search within a search at a table in the browser")
        check_opponent(within, also)
