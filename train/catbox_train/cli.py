"""The command line: ``catbox train``, ``evaluate``, ``play``, ``watch``, ``info``, ``compile``.

What a command needs is imported inside it: torch and matplotlib take seconds, which the others should not wait for.
"""

from __future__ import annotations

import ast
import glob
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperCommand, TyperGroup

import catbox_env
from catbox_env.core.game import Game
from catbox_env.core.registry import game_class


class _Commands(TyperGroup):
    """Turns ValueError and OSError, with which catbox refuses bad input, into one message and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            from catbox_agents import AgentError

            if isinstance(error, AgentError):
                typer.echo(error.agent_traceback(), err=True, nl=False)
            typer.echo(f"catbox: {error}", err=True)
            raise typer.Exit(2) from None


class _WithRules(TyperCommand):
    """Takes every rule of every game as an option of its own: ``--region laos`` is ``--rule region=laos``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        expanded: list[str] = []
        rest = iter(args)
        for text in rest:
            name, equals, value = text.partition("=")
            rule = name.removeprefix("--").replace("-", "_")
            if not text.startswith("--") or name in own or rule not in _rule_names():
                expanded.append(text)
                continue
            given = value if equals else next(rest, None)
            if given is None:
                raise ValueError(f"{name}: expected a value, such as {name} VALUE")
            expanded += ["--rule", f"{rule}={given}"]
        return super().parse_args(ctx, expanded)


def _rule_names() -> set[str]:
    return {field.name for game_id in catbox_env.GAMES for field in fields(game_class(game_id).rules_class)}


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_RULES_PANEL = "The game"


def _complete_game(incomplete: str) -> list[str]:
    return [game_id for game_id in catbox_env.GAMES if game_id.startswith(incomplete)]


def _complete_agent(incomplete: str) -> list[str]:
    paths = glob.glob(glob.escape(incomplete) + "*") if incomplete else []
    names = ["random", "heuristic", *paths]
    return [name for name in names if name.startswith(incomplete)]


GameId = Annotated[
    str,
    typer.Option(
        "--game", help="Id of the game.", autocompletion=_complete_game, rich_help_panel=_RULES_PANEL
    ),
]
Players = Annotated[
    int | None,
    typer.Option(
        "--players", "-p", help="Number of players.", show_default="the game's", rich_help_panel=_RULES_PANEL
    ),
]
Rounds = Annotated[
    str | None,
    typer.Option("--rounds", help="Rounds of a game: a number, or match.", rich_help_panel=_RULES_PANEL),
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME=VALUE",
        help="Any other rule: --rule num_ranks=7 --rule bids=1,3,4; also as --num-ranks 7.",
        rich_help_panel=_RULES_PANEL,
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="Same seed, same game.", show_default="new every time")
]
DEFAULT_GAME = "cat_in_the_box_v0"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"catbox {catbox_env.__version__}")
        raise typer.Exit()


@app.callback()
def _catbox(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Card games for learning machines: train, compare, play and watch agents."""


@app.command(cls=_WithRules)
def train(
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset", help="Settings by name.", show_default="the game's first, unless --config is given"
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="YAML file of settings.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any setting, as often as you like; see --settings."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the run.", show_default="a new one in runs/"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --output.")] = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Import the modules that the file of settings or the run names for opponents."
        ),
    ] = False,
    show_settings: Annotated[bool, typer.Option("--settings", help="List the settings and leave.")] = False,
    game: Annotated[
        str | None,
        typer.Option(
            "--game",
            help="Id of the game.",
            autocompletion=_complete_game,
            show_default="the preset's",
            rich_help_panel=_RULES_PANEL,
        ),
    ] = None,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Train an agent by self-play.

    Settings come from the preset, then the file, then the options of the command, the last one counting. Ctrl-C
    saves and stops; --resume goes on exactly from there. Modules that a file names for opponents are imported with
    --trust alone.

    [bold]Examples[/]

    catbox train --players 3

    catbox train --preset standard --players 5 --set seed=7 --output runs/five

    catbox train --resume --output runs/five
    """
    from catbox_train import config as configuration
    from catbox_train.progress import TrainingDiverged, TrainingInterrupted
    from catbox_train.run_folder import check_trusted, free_run_folder

    if show_settings:
        table = Table("setting", "default", "what it does", title="Settings of a training run")
        for row in configuration.TrainConfig.describe():
            table.add_row(*row)
        Console().print(table, f"Presets: {', '.join(configuration.preset_names())}")
        return
    overrides: dict[str, Any] = {"game": game} if game is not None else {}
    overrides |= {
        f"game_options.{name}": value for name, value in rule_options(game, players, rounds, rule).items()
    }
    overrides |= dict(_pair(text, "--set") for text in settings or [])
    try:
        if resume:
            if output is None:
                raise ValueError(
                    "--resume: name the folder of the run with --output, such as --output runs/quick"
                )
            if preset is not None or config is not None or overrides:
                raise ValueError("--resume goes on with the settings of the run: leave out all others")
            from catbox_train.ppo import resume as resume_run

            resume_run(output, trust=trust)
            return
        if preset is None and config is None:
            preset = configuration.default_preset(game or DEFAULT_GAME)
        chosen = configuration.load_config(preset, config, overrides)
        if config is not None and "opponents" not in overrides:
            check_trusted(chosen.opponents, config, trust)
        from catbox_train.ppo import train as train_run

        name = preset or (config.stem if config else chosen.game.rpartition("_v")[0])
        folder = output or free_run_folder(Path("runs"), name)
        try:
            train_run(chosen, folder)
        finally:
            if output is None:  # refused before anything was written: leave no empty folders
                with suppress(OSError):
                    folder.rmdir()
                    folder.parent.rmdir()
    except TrainingDiverged as diverged:
        typer.echo(f"catbox: {diverged}", err=True)
        raise typer.Exit(1) from None
    except TrainingInterrupted as stopped:
        typer.echo(str(stopped), err=True)
        raise typer.Exit(130) from None


@app.command(cls=_WithRules, no_args_is_help=True)
def evaluate(
    agents: Annotated[
        list[str],
        typer.Argument(
            help="Two or more of: random, heuristic, a checkpoint's path, package.module:Class. "
            "The last one fills the seats that are left.",
            autocompletion=_complete_agent,
        ),
    ],
    deals: Annotated[
        int, typer.Option("--deals", "-n", help="Deals, each played once per rotation of seats.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same result.")] = 0,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", help="Write one line per agent to this file.")
    ] = None,
    game: GameId = DEFAULT_GAME,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Compare agents on the same deals, from every seat.

    [bold]Examples[/]

    catbox evaluate heuristic random --players 5 --deals 1000

    catbox evaluate runs/standard heuristic --players 3 --json result.json
    """
    from catbox_agents import EvaluationInterrupted
    from catbox_train.evaluate import run

    try:
        run(build_game(game, players, rounds, rule), agents, deals, seed, json_path, csv_path)
    except EvaluationInterrupted as stopped:
        typer.echo(f"catbox: {stopped}", err=True)
        raise typer.Exit(130) from None


@app.command(cls=_WithRules)
def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Your opponents; the last one fills the seats that are left. Default: heuristic, where there is one."
        ),
    ] = None,
    seat: Annotated[int, typer.Option("--seat", help="Where you sit, from 0.")] = 0,
    seed: Seed = None,
    game: GameId = DEFAULT_GAME,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Play against agents at the terminal. Type help at the prompt.

    [bold]Examples[/]

    catbox play --players 3

    catbox play heuristic random --players 4 --rounds match --seed 7
    """
    from catbox_agents.specs import default_agent
    from catbox_train.play import play as play_game

    played = build_game(game, players, rounds, rule)
    play_game(played, agents or [default_agent(played.id)], seat, seed, Console())


@app.command(cls=_WithRules)
def watch(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Who plays; the last one fills the seats that are left. Default: heuristic, where there is one."
        ),
    ] = None,
    delay: Annotated[
        float, typer.Option("--delay", min=0, max=3600, help="Seconds between two moves.")
    ] = 0.0,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each move.")] = False,
    reasons: Annotated[bool, typer.Option("--reasons", help="Show why, for agents that can say it.")] = False,
    seed: Seed = None,
    game: GameId = DEFAULT_GAME,
    players: Players = None,
    rounds: Rounds = None,
    rule: RuleOptions = None,
) -> None:
    """Watch agents play, move by move, with every hand open.

    [bold]Examples[/]

    catbox watch --players 5 --delay 1

    catbox watch runs/standard heuristic --players 3 --step --reasons
    """
    from catbox_agents.specs import default_agent
    from catbox_train.play import watch as watch_game

    game_object = build_game(game, players, rounds, rule)
    watch_game(game_object, agents or [default_agent(game_object.id)], seed, Console(), delay, step, reasons)


@app.command(cls=_WithRules)
def info(
    game: GameId = DEFAULT_GAME, players: Players = None, rounds: Rounds = None, rule: RuleOptions = None
) -> None:
    """Show the rules, the actions and the observation of a rule set.

    [bold]Example[/]

    catbox info --players 2 --rounds match
    """
    shown = build_game(game, players, rounds, rule)
    console = Console()
    console.print(f"[bold]{shown.id}[/]: {shown.num_players} players, games: {', '.join(catbox_env.GAMES)}")

    rules = Table("rule", "value", title="Rules")
    for name, value in shown.options.items():
        rules.add_row(name, str(value))
    console.print(rules)

    actions = Table("ids", "action", title=f"Actions: {shown.num_actions}")
    for first, last, text in shown.describe_actions():
        actions.add_row(str(first) if first == last else f"{first} .. {last}", text)
    console.print(actions)

    layout = shown.observation_layout
    observation = Table(
        "part", "offset", "shape", "values", "what it holds", title=f"Observation: {layout.size} x int8"
    )
    for row in layout.table():
        observation.add_row(*row)
    console.print(observation)


@app.command("compile")
def compile_code(
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            help="Id of a game, as often as you like.",
            autocompletion=_complete_game,
            show_default="all",
        ),
    ] = None,
) -> None:
    """Fill the cache of compiled code in advance, for a container or a cluster.

    Set NUMBA_CACHE_DIR to the folder that is to hold it, here and where catbox runs later.

    [bold]Example[/]

    NUMBA_CACHE_DIR=/opt/catbox-cache catbox compile
    """
    from catbox_train.compile import compile_games

    compile_games(game or list(catbox_env.GAMES), Console())


def build_game(game_id: str, players: int | None, rounds: str | None, rule: list[str] | None) -> Game:
    """The game that the options of a command name. Raises ValueError for what cannot be played."""
    return catbox_env.make_game(game_id, **rule_options(game_id, players, rounds, rule))


def rule_options(
    game_id: str | None, players: int | None, rounds: str | None, rule: list[str] | None
) -> dict[str, Any]:
    """The options of a command as those of ``make_game``. Raises ValueError for text that is not NAME=VALUE."""
    options: dict[str, Any] = {}
    if players is not None:
        options["num_players"] = players
    if rounds is not None:
        options["rounds"] = _value(rounds)
    for text in rule or []:
        name, value = _pair(text, "--rule")
        if name in options:
            raise ValueError(f"--rule {text!r}: {name} was given before; give it once")
        options[name] = _value(value)
    # One number for a rule that takes several: --rule bids=1
    for field in fields(game_class(game_id or DEFAULT_GAME).rules_class):
        if "tuple" in str(field.type) and isinstance(options.get(field.name), int):
            options[field.name] = (options[field.name],)
    return options


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
    return name.strip(), value.strip()


def _value(text: str) -> Any:
    """A number, a list of numbers, true or false as such; anything else is the text itself."""
    text = text.strip()
    if text == "":
        return ()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return tuple(value) if isinstance(value, list) else value


def main() -> None:
    """Entry point of the command ``catbox``."""
    app(prog_name="catbox")


if __name__ == "__main__":
    main()
