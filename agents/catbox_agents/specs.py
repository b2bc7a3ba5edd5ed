"""Makes agents from specs: strings that name an agent.

| spec | agent |
|---|---|
| ``"random"`` | plays random legal actions, in every game |
| ``"heuristic"`` | the hand-written player of the game (`HEURISTICS`) |
| ``"careful"`` | in Cat in the Box: bids low, and prefers its bid and declarations for its hand to more tricks |
| ``"habits"`` | in Cat in the Box: the heuristic with a bad habit, which depends on its discard |
| ``"never_red"`` | in Cat in the Box: the heuristic, but it declares red only if nothing else is legal |
| ``"heuristic:N"``, ``"careful:N"``, ... | a variant of these: other weights, drawn by the number N, 1 or more |
| ``"best"`` | the strongest agent without search: ``zoo``, else ``heuristic``, else ``random`` |
| ``"easy"``, ``"normal"``, ``"hard"`` | opponents of that level, mixtures of the others (`resolve`) |
| ``"zoo"`` | the trained agent for these rules that comes with catbox (`catbox_agents.zoo`) |
| ``"zoo:NAME"`` | a trained agent by name |
| ``"search:..."``, ``"ismcts:..."``, ``"pimc:..."`` | searches, with or without settings (`settings.CONFIGURED`) |
| ``"llm:model=NAME,..."`` | a language model behind a server (`catbox_agents.text.llm_agent`) |
| a path | a trained checkpoint, or a model saved by Stable-Baselines3 (``.zip``) |
| ``"package.module@PATH"`` | a checkpoint whose network or features are of your own, in that module |
| ``"package.module:Class"`` | your own class, called as ``Class(game, seed)`` |
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from catbox_agents.adaptation import adaptation
from catbox_agents.agent import Agent, RandomAgent, Seed, check_agent, other_rules
from catbox_agents.errors import AgentError
from catbox_agents.heuristics import HEURISTICS, STYLES, hand_written
from catbox_agents.imports import import_module, import_name, is_class, is_missing
from catbox_agents.networks.checkpoint import PolicyCheckpoint, load_checkpoint
from catbox_agents.networks.game_note import noted_game
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.settings import CONFIGURED, read_settings, specs_within
from catbox_agents.zoo import PREFIX as ZOO
from catbox_agents.zoo import zoo_agent, zoo_agents
from catbox_env import Game, make_game
from catbox_env.core.checks import short_repr, unknown
from catbox_env.core.rng import seed_sequence
from catbox_env.core.spec import check_game_object

#: Opponents by strength. The search of ``hard`` has a fixed number of worlds instead of a time budget, so that it plays
#: the same on every machine.
LEVELS = {
    "easy": "catbox_agents.levels:EasyAgent",
    "normal": "{hand_written}",
    "hard": "search:worlds=64,policy={best}{model}",
}

#: The spec of the strongest agent without search that comes with catbox, see `best_agent`.
BEST = "best"

#: The spec of the zoo's agent for the rules at hand.
OF_THE_ZOO = "zoo"

#: A spec, which `make` takes, or an agent.
AgentSpec = str | os.PathLike[str] | Agent


class Kind(Enum):
    """What a spec names, see the table above."""

    WORD = "random, best, zoo or a level"
    HAND_WRITTEN = "a hand-written player or a variant of one"
    ZOO = "a trained agent of the zoo"
    CONFIGURED = "an agent with settings"
    POLICY = "a checkpoint"
    SB3_MODEL = "a model saved by Stable-Baselines3"
    CLASS = "a class of a user's own"


@dataclass(frozen=True)
class Spec:
    """A spec, as `parse_spec` reads it.

    Attributes:
        text: the spec, without spaces around it.
        path: the file or folder of a POLICY or an SB3_MODEL.
        modules: those that it names, whose code runs when the agent is made.
        variant: the number of a variant of a HAND_WRITTEN player; 0 is the player itself.
        agents: those in the settings of a CONFIGURED one.
    """

    text: str
    kind: Kind
    path: str = ""
    modules: tuple[str, ...] = ()
    variant: int = 0
    agents: tuple[Spec, ...] = ()

    def leaves(self) -> Iterator[Spec]:
        """The spec itself, or the agents in its settings, and so on."""
        if self.kind is not Kind.CONFIGURED:
            yield self
        for agent in self.agents:
            yield from agent.leaves()

    @property
    def runs_code(self) -> bool:
        """Whether making the agent runs the code of modules that the spec names."""
        return any(leaf.modules for leaf in self.leaves())

    @property
    def asks_server(self) -> bool:
        """Whether the agent sends what it sees, and a key, to a server that the spec may name: ``"llm:..."``."""
        asks = self.kind is Kind.CONFIGURED and CONFIGURED[_name(self.text)].asks_server
        return asks or any(agent.asks_server for agent in self.agents)

    @property
    def needs_trust(self) -> bool:
        """Whether a spec that a stranger wrote could do harm: it runs code or asks a server."""
        return self.runs_code or self.asks_server


def parse_spec(spec: str, words: Sequence[str] = ()) -> Spec:
    """What ``spec`` names; imports and reads nothing but the index of the zoo.

    Raises ``ValueError`` for a text that cannot be a spec, and for unknown settings and agents of the zoo; ``words``:
    what else the caller accepts, for the message.
    """
    text = spec.strip()
    if _name(text) in CONFIGURED:
        return Spec(text, Kind.CONFIGURED, agents=tuple(map(parse_spec, specs_within(text).values())))
    if text.startswith(ZOO):
        zoo_agent(text)  # raises ValueError unless there is one
        return Spec(text, Kind.ZOO)
    if _name(text) in STYLES:
        return Spec(text, Kind.HAND_WRITTEN, variant=_variant(text))
    if text in names():
        return Spec(text, Kind.WORD)
    modules, path = split_modules(text)
    if _is_path(path):
        return Spec(text, Kind.SB3_MODEL if Path(path).suffix == ".zip" else Kind.POLICY, path, modules)
    if is_class(text):
        return Spec(text, Kind.CLASS, modules=(text.partition(":")[0],))
    raise ValueError(_unknown(text, words))


def names() -> list[str]:
    """The specs that name an agent in one word."""
    with_settings = (name for name, kind in CONFIGURED.items() if not kind.required)
    others = (style for style in STYLES if style != "heuristic")
    return ["random", "heuristic", BEST, OF_THE_ZOO, *with_settings, *LEVELS, *others]


def make(spec: str | os.PathLike[str], game: Game, seed: Seed = None) -> Agent:
    """The agent that ``spec`` names (see the table above), ready to play ``game``.

    ``seed`` seeds the agent's own generator, if it has one. Raises ValueError for an unknown agent or setting, for a
    checkpoint that is damaged or was trained for another game, and for a class that is not an agent.
    """
    if not isinstance(spec, str | os.PathLike):
        raise ValueError(f"agent {short_repr(spec)}: expected a string, such as 'random', or a path")
    check_game_object(game)
    if seed is not None:
        seed_sequence(seed)  # raises ValueError unless it is a seed
    text = os.fspath(spec).strip()
    parse_spec(text)  # an error is about what the user wrote
    parsed = parse_spec(resolve(text, game))
    match parsed.kind:
        case Kind.WORD:  # the only one that stands for no other
            return RandomAgent(game, seed)
        case Kind.HAND_WRITTEN:
            style = _name(parsed.text)
            if game.id not in STYLES[style]:
                raise ValueError(
                    f"there is no {style} agent for {game.id!r}, only for: {', '.join(STYLES[style])}; "
                    f"use {hand_written_agent(game.id)!r}"
                )
            return hand_written(game, seed, parsed.variant, style)
        case Kind.CONFIGURED:
            factory = import_class(CONFIGURED[_name(parsed.text)].made_by, "agent")
            try:
                configured: Agent = factory(game, seed, **read_settings(parsed.text))
            except ValueError as error:
                raise ValueError(f"agent {short_repr(parsed.text)}: {error}") from error
            return configured
        case Kind.CLASS:
            return _construct(parsed.text, game, seed)
    try:
        if parsed.kind is Kind.SB3_MODEL:
            model: Agent = _sb3().SB3Agent.load(parsed.path, game, seed)
            return model
        return PolicyAgent.of(load_policy(parsed.text, game, adapt=True), game, seed)
    except OSError as error:
        raise ValueError(f"the checkpoint could not be loaded: {error}") from None


def resolve(spec: str, game: Game) -> str:
    """The spec that ``"best"``, ``"zoo"`` or a level stands for in ``game``; any other spec unchanged.

    Raises ``ValueError`` for ``"zoo"`` if the zoo has no agent for these rules.

    | level | how it plays |
    |---|---|
    | ``easy`` | each action is random with probability 1/2, else that of the hand-written player |
    | ``normal`` | the hand-written player (``heuristic``; ``random`` in a game without one) |
    | ``hard`` | a search in 64 worlds with ``best``; where something is hidden, others may play like ``normal`` |
    """
    if spec in LEVELS:
        best, by_hand = best_agent(game), hand_written_agent(game.id)
        model = "" if game.is_perfect_information or best == by_hand else f",opponent_model={by_hand}"
        return LEVELS[spec].format(best=best, hand_written=by_hand, model=model)
    if spec == OF_THE_ZOO:
        if not (agents := zoo_agents(game)):
            raise ValueError("the zoo has no agent for these rules: use 'best', the strongest there is")
        return agents[0].spec
    return best_agent(game) if spec == BEST else spec


def load_policy(spec: str, game: Game | None = None, *, adapt: bool = False) -> PolicyCheckpoint:
    """The checkpoint of the policy that ``spec`` names: an agent of the zoo, a path, or ``"package.module@PATH"``.

    ``game``, ``adapt`` and errors as in `load_checkpoint`; raises ``ValueError`` also for an agent that is not in the
    zoo, cannot play ``game`` or has a damaged file.
    """
    text = spec.strip() if game is None else resolve(spec.strip(), game)
    if text.startswith(ZOO):
        agent = zoo_agent(text, game)
        agent.check()
        return load_checkpoint(agent.path, game, adapt=adapt)
    modules, path = split_modules(text)
    return load_checkpoint(path, game, adapt=adapt, modules=modules)


def trained_for(spec: str) -> tuple[str, dict[str, Any]] | None:
    """The id and options of the game that the agent was trained for; None if it was trained for none, or does not say.

    For an agent with settings, those of the first trained agent in them. Raises ``ValueError`` for a spec that is none,
    and for a damaged checkpoint.
    """
    for leaf in parse_spec(spec).leaves():
        if leaf.kind is Kind.ZOO:
            agent = zoo_agent(leaf.text)
            return agent.game_id, agent.options
        if not os.path.exists(leaf.path):
            continue
        if leaf.kind is Kind.SB3_MODEL:
            if note := noted_game(_sb3().read_model(leaf.path).observation_space):
                return note["game"], note["options"]
            continue
        checkpoint = load_policy(leaf.text)
        return checkpoint.game_id, checkpoint.options
    return None


def can_play(agent: AgentSpec, game: Game) -> bool:
    """Whether the agent was made or trained for these rules, for rules that they are part of, or for none.

    Errors as in `trained_for`.
    """
    if isinstance(agent, str | os.PathLike):
        trained = trained_for(os.fspath(agent))
        own = None if trained is None else make_game(trained[0], **trained[1])
    else:
        own = getattr(agent, "game", None)
    if not isinstance(own, Game):
        return True
    return not other_rules(own, game) or (own.id == game.id and adaptation(own, game) is not None)


def adapted_from(spec: str, game: Game) -> str:
    """What the agent was trained for, as `other_rules` says it, if it plays ``game`` by adaptation; else an empty text.

    For an agent with settings, the first such agent in them. Raises ``ValueError`` for unknown settings, and for an
    agent of the zoo that cannot play ``game``.
    """
    for leaf in parse_spec(resolve(spec.strip(), game)).leaves():
        leaf = parse_spec(resolve(leaf.text, game))
        if leaf.kind is Kind.ZOO:
            zoo_agent(leaf.text, game)
        elif leaf.kind is not Kind.POLICY or not os.path.exists(leaf.path):
            continue
        try:
            adapted = load_policy(leaf.text, game, adapt=True).adapted
        except ValueError:
            continue  # `make` says why it cannot play
        if adapted is not None:
            return other_rules(adapted.original, game)
    return ""


def load_parts(spec: str) -> None:
    """Read the checkpoints and import the classes that ``spec`` names, whatever game they are for.

    Raises ``ValueError`` for one that is missing, damaged or not an agent.
    """
    for leaf in parse_spec(spec).leaves():
        try:
            if leaf.kind is Kind.SB3_MODEL:
                _sb3().read_model(leaf.path)
            elif leaf.kind is Kind.POLICY:
                load_policy(leaf.text)
            elif leaf.kind is Kind.CLASS:
                import_class(leaf.text, "agent")
        except OSError as error:
            raise ValueError(f"agent {short_repr(leaf.text)} cannot be loaded: {error}") from None


def _name(text: str) -> str:
    """The name of an agent with settings, or of a hand-written one, if ``text`` is the spec of one."""
    return text.partition(":")[0]


def _variant(text: str) -> int:
    """The number of a variant of a hand-written player; 0: the player itself."""
    style, colon, number = text.partition(":")
    if colon and not re.fullmatch("[1-9][0-9]{0,8}", number):
        raise ValueError(f"agent {short_repr(text)}: expected {style}:N with a number N of 1 or more")
    return int(number or 0)


def split_modules(text: str) -> tuple[tuple[str, ...], str]:
    """The modules and the path of ``package.module@PATH`` or ``one+another@PATH``; none, and the path, of any other."""
    names, _, path = text.partition("@")
    is_code = path and all(part.isidentifier() for part in names.replace("+", ".").split("."))
    return (tuple(names.split("+")), path) if is_code and not os.path.exists(text) else ((), text)


def _is_path(text: str) -> bool:
    """Whether ``text`` looks like a path, or is one."""
    is_one = "/" in text or os.sep in text or Path(text).suffix in (".safetensors", ".zip", ".json", ".pt")
    return is_one or (bool(text) and os.path.exists(text))


def agent_of(agent: AgentSpec, label: str, game: Game, seed: int) -> Agent:
    """The agent that a spec names, made with ``seed``. An object is checked and returned; errors call it ``label``."""
    if isinstance(agent, str | os.PathLike):
        return make(agent, game, seed)
    return check_agent(agent, label, game)


def label_of(agent: AgentSpec) -> str:
    """The default name of an agent, of printable characters: its spec, or its class."""
    name = os.fspath(agent) if isinstance(agent, str | os.PathLike) else type(agent).__name__
    return printable(name.strip())


def labels_of(agents: Sequence[AgentSpec]) -> list[str]:
    """A name for each agent, all different: its `label_of`, numbered from the second one on if repeated."""
    labels: list[str] = []
    for agent in agents:
        base = label_of(agent)
        numbered = (base if number == 1 else f"{base} #{number}" for number in count(1))
        labels.append(next(label for label in numbered if label not in labels))
    return labels


def printable(text: str) -> str:
    """``text`` with question marks for characters that no terminal or file should get, such as control codes."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def is_users_own(agent: Agent) -> bool:
    """Whether the agent's class is not part of catbox. Catbox's own agents keep no state between decisions."""
    return type(agent).__module__.partition(".")[0] != __package__


def hand_written_agent(game_id: str) -> str:
    """The spec of the heuristic, or ``"random"`` for a game without one."""
    return "heuristic" if game_id in HEURISTICS else "random"


def best_agent(game: Game) -> str:
    """What ``"best"`` stands for in ``game``: the zoo's agent for its rules, else `hand_written_agent`."""
    return next((agent.spec for agent in zoo_agents(game)), hand_written_agent(game.id))


def known_agents(game: Game | None = None) -> list[str]:
    """The specs that `make` knows, except paths and classes; with ``game`` given, those that can play it."""
    zoo = [agent.spec for agent in zoo_agents(game if game is None else check_game_object(game))]
    there = {style: game is None or game.id in games for style, games in STYLES.items()} | {
        OF_THE_ZOO: bool(zoo)
    }
    return [*(name for name in names() if there.get(name, True)), *zoo]


def import_class(spec: str, what: str) -> type:
    """The class that ``spec``, ``"package.module:Class"``, names; ``what`` it is, such as ``"agent"``, for messages.

    Importing the module runs its code. Raises ValueError if there is no such module or class.
    """
    named: type = import_name(spec, what, type)
    return named


def _construct(spec: str, game: Game, seed: Seed) -> Agent:
    module = spec.partition(":")[0]
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if not is_missing(module, error):
            raise
        # "league:expert", a name from another program, looks like a module and its class.
        raise ValueError(f"{_unknown(spec)} (there is no module {error.name!r} to import)") from None
    except SyntaxError:
        pass  # the next line says where
    factory = import_class(spec, "agent")
    try:
        inspect.signature(factory).bind(game, seed)
    except (TypeError, ValueError) as error:  # ValueError: a class written in C that has no signature
        name = spec.partition(":")[2]
        raise ValueError(
            f"{spec!r} is not an agent: it cannot be called as {name}(game, seed): {error}"
        ) from None
    try:
        agent = factory(game, seed)
    except Exception as error:
        if spec.partition(".")[0] == __package__:  # catbox's own agents raise messages for users
            raise
        raise AgentError(spec, error) from error
    return check_agent(agent, repr(spec))


def _sb3() -> ModuleType:
    """The module `catbox_agents.networks.sb3_agent`. Raises ``ValueError`` without the extra."""
    try:
        return importlib.import_module("catbox_agents.networks.sb3_agent")
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None


def _unknown(spec: str, words: Sequence[str] = ()) -> str:
    more = ", 'zoo:NAME', 'llm:model=NAME', the path of a checkpoint, or 'package.module:Class' for your own"
    return unknown("agent", spec, [*words, *names()], more=more)
