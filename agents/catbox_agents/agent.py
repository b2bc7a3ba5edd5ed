"""What an agent is, and how to get one from a text.

| spec | agent |
|---|---|
| ``"random"`` | uniform over the legal actions, any game |
| ``"heuristic"`` | the hand-written player of the game (:data:`HEURISTICS`) |
| a path | a trained checkpoint (needs torch) |
| ``"package.module:Class"`` | your own: ``Class(game, seed)`` is called |

An agent is told the observation and the action mask of the seat to move (and that seat's history where it asks for
it) and nothing else, ever: it holds no state of a game, so one agent may play several seats of many games at once.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.machinery
import inspect
import operator
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from catbox_agents.errors import AgentError
from catbox_agents.heuristics import HEURISTICS
from catbox_env.core.checks import as_array, shown
from catbox_env.core.game import Game, check_game_object
from catbox_env.core.rng import seed_sequence

Seed = int | np.random.SeedSequence | None

#: The agents every game has: name -> "module:Class".
BUILT_IN = {"random": "catbox_agents.uniform:RandomAgent"}


class Agent:
    """Base of the agents here. Your own need not inherit from it, only have these three members.

    Inherit to write one of ``act`` and ``act_batch`` alone: the other then calls it.
    """

    #: True for an agent that wants the ``history`` argument; the others are given None.
    needs_history: bool = False

    def __init__(self, game: Game, seed: Seed = None) -> None:
        self.game = game

    def act(
        self,
        observation: NDArray[np.int8],
        action_mask: NDArray[Any],
        history: NDArray[np.int8] | None = None,
    ) -> int:
        """The id of one legal action. ``observation`` (O,) int8, ``action_mask`` (A,) nonzero where legal,
        ``history`` (T, 2) int8 or None."""
        if type(self).act_batch is Agent.act_batch:
            raise NotImplementedError(
                f"{type(self).__name__} has to define act(observation, action_mask, history=None) or act_batch"
            )
        past = None if history is None else history[None]
        return whole(self.act_batch(observation[None], action_mask[None], past)[0], type(self).__name__)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        """One legal action for each row: (N, O), (N, A) and (N, T, 2) or None in, (N,) integers out."""
        rows = range(len(observations))
        past = [None] * len(observations) if histories is None else histories
        name = type(self).__name__
        actions = [whole(self.act(observations[i], action_masks[i], past[i]), name) for i in rows]
        return np.array(actions, dtype=np.int64)


def whole(action: object, name: str) -> int:
    """``action`` as an int; TypeError, naming the class of the agent, for what is no integer (2.0 is none)."""
    try:
        return operator.index(action)  # type: ignore[arg-type]  # that is what is found out
    except TypeError:
        raise TypeError(f"{name} chose {action!r}: expected an integer, the id of a legal action") from None


#: What :func:`make` takes, or an agent.
AgentSpec = str | os.PathLike[str] | Agent


def make(spec: str | os.PathLike[str], game: Game, seed: Seed = None) -> Agent:
    """The agent that ``spec`` names (see the table above), ready to play ``game``.

    ``seed`` feeds the agent's own generator, if it has one. Raises ValueError for a spec that names no agent, for a
    checkpoint that is damaged or was trained for another game, and for a class that is not an agent.
    """
    if not isinstance(spec, str | os.PathLike):
        raise ValueError(f"agent {shown(spec)}: expected a text, such as 'random', or a path")
    check_game_object(game)
    if seed is not None:
        seed_sequence(seed)  # refuses what is no seed
    text = os.fspath(spec).strip()
    if text in BUILT_IN:
        return _construct(BUILT_IN[text], game, seed)
    if text == "heuristic":
        if game.id not in HEURISTICS:
            raise ValueError(
                f"there is no heuristic agent for {game.id!r}, only for: {', '.join(HEURISTICS)}; use 'random'"
            )
        return _construct(HEURISTICS[game.id], game, seed)
    if text and (os.path.exists(text) or _looks_like_path(text)):
        return _load_checkpoint(text, game, seed)
    if imports_module(text):
        return _construct(text, game, seed)
    raise ValueError(_unknown(text))


def checked_rows(
    game: Game, observations: Any, action_masks: Any
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """What `Agent.act_batch` was given, as contiguous arrays (N, O) int8 and (N, A) bool.

    Raises ValueError for other shapes: compiled code does not look where it reads.
    """
    seen, masks = as_array("observations", observations), as_array("action_masks", action_masks)
    rows = len(masks) if masks.ndim else 0
    if (seen.shape, masks.shape) != (
        (rows, game.observation_layout.size),
        (rows, game.num_actions),
    ) or not {seen.dtype.kind, masks.dtype.kind} <= set("biu"):
        raise ValueError(
            f"observations {seen.dtype} of shape {seen.shape} and action masks {masks.dtype} of shape {masks.shape}: "
            f"expected integers of shape (N, {game.observation_layout.size}) and (N, {game.num_actions})"
        )
    return np.ascontiguousarray(seen, np.int8), np.ascontiguousarray(masks, np.bool_)


def imports_module(spec: str) -> bool:
    """Whether ``spec`` has the form ``"package.module:Class"``: to make that agent is to run the module's code."""
    module, _, class_name = spec.strip().partition(":")
    return all(part.isidentifier() for part in [*module.split("."), class_name])


def agent_of(agent: AgentSpec, label: str, game: Game, seed: int) -> Agent:
    """The agent that a spec names, made with ``seed``; an object is checked, under the name ``label``, and kept."""
    if isinstance(agent, str | os.PathLike):
        return make(agent, game, seed)
    return check_agent(agent, label, game)


def agent_seed(*known: int | bytes) -> int:
    """A seed to hand to an agent: 128 bits, a hash (SHA-256) of what the agent may know; random when nothing is given.

    A seed that follows from the seed of the deals tells the deals: whoever holds it tries the small seeds one after
    the other until one gives the same number. So nothing goes in here but the agent's place in the line-up and, where
    its random numbers have to differ from game to game, the first observation that it is shown itself.
    """
    if not known:
        return secrets.randbits(128)
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in known]
    text = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return int.from_bytes(hashlib.sha256(b"catbox agent " + text).digest()[:16], "little")


def is_users_own(agent: Agent) -> bool:
    """Whether the agent's class does not come with catbox, whose agents keep nothing from one decision to the next."""
    return type(agent).__module__.partition(".")[0] != __package__


def label_of(agent: AgentSpec) -> str:
    """What to call an agent that was given no name: its spec, or its class."""
    return os.fspath(agent) if isinstance(agent, str | os.PathLike) else type(agent).__name__


def default_agent(game_id: str) -> str:
    """The spec of the best agent that comes with the game."""
    return "heuristic" if game_id in HEURISTICS else "random"


def known_agents(game: Game | None = None) -> list[str]:
    """The names that :func:`make` knows without a path or a class (for ``game``, where one is given)."""
    return [*BUILT_IN, *(["heuristic"] if game is None or game.id in HEURISTICS else [])]


def check_agent(agent: object, name: str, game: Game | None = None) -> Agent:
    """``agent`` itself if it has the members of :class:`Agent` and, with ``game`` given, was not made for another game
    or for rules that play differently (`same_to_play`); else ValueError."""
    if isinstance(agent, type):
        raise ValueError(
            f"{name} is the class {agent.__name__}, expected an agent of it: {agent.__name__}(game, seed)"
        )
    for method in ("act", "act_batch"):
        if not callable(getattr(agent, method, None)):
            raise ValueError(
                f"{name} is not an agent: {type(agent).__name__} has no method {method!r}; expected a subclass of "
                "catbox_agents.Agent that defines act()"
            )
    own = getattr(agent, "game", None)
    if game is not None and isinstance(own, Game):
        if own.id != game.id:
            raise ValueError(
                f"{name} was made for the game {own.id!r}, asked to play {game.id!r}: make it for that game"
            )
        differing = differing_options(own.options, game.options)
        if not same_to_play(own, game, differing):
            raise ValueError(
                f"{name} was made for {own.id} with {named(own.options, differing)}, asked to play with "
                f"{named(game.options, differing)}: make it for these rules"
            )
    return cast(Agent, agent)


def differing_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names of the options in which two games differ."""
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


def named(options: Mapping[str, Any], names: Sequence[str]) -> str:
    """These options in words."""
    return ", ".join(f"{name}={options.get(name)!r}" for name in names)


def same_to_play(one: Game, other: Game, differing: Sequence[str]) -> bool:
    """Whether an agent made for one of two games that differ in the options ``differing`` may play the other too.

    The reward and the game's ``lenient_options`` may differ, as long as the observation has the same parts.
    """

    def parts(game: Game) -> list[tuple[str, tuple[int, ...]]]:
        return [(part.name, part.shape) for part in game.observation_layout.values()]

    return set(differing) <= {"reward", *one.lenient_options} and parts(one) == parts(other)


def needs_history(agent: Agent) -> bool:
    """Whether the agent asks for the history; one that does not say does not."""
    return bool(getattr(agent, "needs_history", False))


def _construct(spec: str, game: Game, seed: Seed) -> Agent:
    module_name, class_name = spec.split(":")
    # The names of agents of later versions or other programs ("zoo:expert") read like a class of a module that is
    # not there, so a missing module gets the same answer as an unknown name.
    try:
        module = _import(module_name)
    except ModuleNotFoundError as error:
        if not _is_missing(module_name, error):
            raise  # the user's module exists and itself lacks something: show where
        raise ValueError(_unknown(spec) + f" (there is no module {error.name!r} to import)") from None
    except SyntaxError as error:
        raise ValueError(f"module {module_name!r} is not valid Python: {error}") from None
    factory = getattr(module, class_name, None)
    if not isinstance(factory, type):
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        raise ValueError(f"module {module_name!r} has no class {class_name!r}{_closest(class_name, classes)}")
    try:
        inspect.signature(factory).bind(game, seed)
    except (TypeError, ValueError) as error:  # ValueError: a class of C code that does not tell its arguments
        raise ValueError(
            f"{spec!r} is not an agent: it is called as {class_name}(game, seed): {error}"
        ) from None
    try:
        agent = factory(game, seed)
    except Exception as error:
        if module_name.partition(".")[0] == __package__:  # our own say themselves what is wrong
            raise
        raise AgentError(spec, error) from error
    return check_agent(agent, repr(spec))


def _import(name: str) -> ModuleType:
    """The module ``name``; what is installed nowhere is looked for in the working directory, as ``python -m`` would.

    The directory comes onto ``sys.path`` only for a module that is there, and last: where no module is named, or a
    library has the name, no file of that folder runs.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        here = os.getcwd()
        top = name.partition(".")[0]
        found = _is_missing(name, error) and importlib.machinery.PathFinder.find_spec(top, [here])
        if not found or here in sys.path:
            raise
        sys.path.append(here)
    return importlib.import_module(name)


def _is_missing(name: str, error: ModuleNotFoundError) -> bool:
    """Whether it is the module ``name``, or a package that it is in, that was not found."""
    return error.name is not None and (name + ".").startswith(error.name + ".")


def _load_checkpoint(path: str, game: Game, seed: Seed) -> Agent:
    try:
        from catbox_agents.policy import PolicyAgent
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise ValueError(
            f"to load the checkpoint {path!r} the package {error.name!r} is needed: "
            "pip install 'catbox-env[agents]'"
        ) from None
    try:
        return check_agent(PolicyAgent.load(path, game, seed), path)
    except OSError as error:
        raise ValueError(f"no agent: {error}") from None


def _looks_like_path(text: str) -> bool:
    return "/" in text or os.sep in text or Path(text).suffix in (".safetensors", ".json", ".pt")


def _unknown(spec: str) -> str:
    known = known_agents()
    return (
        f"unknown agent {shown(spec)}{_closest(spec, known)}; expected one of the known agents: {', '.join(known)}, "
        "the path of a checkpoint, or 'package.module:Class' for your own"
    )


def _closest(given: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(given, names, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
