"""The command line: ``catbox train``, ``evaluate``, ``arena``, ``play`` and the others.

Each command imports what only it needs: torch and matplotlib take seconds to load.
"""

from __future__ import annotations

import gc
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import catbox_env
from catbox_app.commands.advise import advise
from catbox_app.commands.arena import arena
from catbox_app.commands.bench import bench
from catbox_app.commands.best_response import best_response
from catbox_app.commands.compile import compile_code
from catbox_app.commands.dataset import dataset
from catbox_app.commands.evaluate import evaluate
from catbox_app.commands.exploitability import exploitability
from catbox_app.commands.info import info
from catbox_app.commands.play import play
from catbox_app.commands.prompt import prompt
from catbox_app.commands.replay import replay
from catbox_app.commands.train import train
from catbox_app.commands.watch import watch
from catbox_app.commands.web import web
from catbox_app.options import with_game
from catbox_app.output import finish, make_lenient
from catbox_app.rules import DEFAULT_GAME
from catbox_env.core.compilation import on_first_compilation

#: Exit code of a program that Ctrl-C stopped.
INTERRUPTED = 130
#: Shown on a terminal.
COMPILING = "Compiling: this can take a minute."


class _Commands(TyperGroup):
    """Turns ValueError and OSError, which catbox raises for bad input, into a message and exit code 2.

    The exit code is 1 if a process was killed: the input was fine.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            from catbox_agents import AgentError  # takes a second

            if isinstance(error, AgentError):
                typer.echo(error.agent_traceback(), err=True, nl=False)
            message = str(error)
            if isinstance(error, OSError) and error.filename is not None and error.strerror:
                message = f"{error.filename}: {error.strerror}"  # without the errno
            typer.echo(f"catbox: {message}", err=True)
            raise typer.Exit(1 if isinstance(error, ChildProcessError) else 2) from None
        except KeyboardInterrupt:
            typer.echo("catbox: stopped", err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"catbox {catbox_env.__version__}")
        raise typer.Exit()


@app.callback()
def _catbox(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Card games for reinforcement learning: train, compare, play and watch agents."""


#: The default of --game in the help of commands whose agents may be trained for a game.
GAME_OF_AGENTS = f"that of a trained agent, else {DEFAULT_GAME}"

app.command()(with_game(train))
app.command(no_args_is_help=True)(with_game(evaluate, GAME_OF_AGENTS))
app.command(no_args_is_help=True)(with_game(arena, GAME_OF_AGENTS))
app.command(no_args_is_help=True)(with_game(dataset, GAME_OF_AGENTS))
app.command(no_args_is_help=True)(with_game(exploitability, GAME_OF_AGENTS))
app.add_typer(bench, name="bench")
app.command("best-response", no_args_is_help=True)(with_game(best_response))
app.command()(with_game(play, GAME_OF_AGENTS))
app.command()(with_game(watch, GAME_OF_AGENTS))
app.command()(with_game(advise))
app.command()(web)
app.command(no_args_is_help=True)(replay)
app.command()(with_game(info, shows_rules=True))
app.command()(with_game(prompt))
app.command("compile")(compile_code)


def main() -> None:
    """Entry point of the command ``catbox``."""
    make_lenient()
    if sys.stderr.isatty():
        on_first_compilation(lambda: typer.echo(COMPILING, err=True))
    try:
        app(prog_name="catbox")
    except SystemExit as ended:
        sys.exit(finish() if ended.code in (None, 0) else ended.code)
    finally:
        gc.freeze()  # Python would look for cycles in all that was imported: a second
