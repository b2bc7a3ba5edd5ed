"""`catbox play` and `catbox watch`: one game at the terminal, shown move by move. Serves every game."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from catbox_agents import Agent, AgentError, make
from catbox_agents.agent import agent_seed, needs_history
from catbox_agents.arena.records import GameRecord
from catbox_app.typed_actions import parse_action, shortened
from catbox_env import Game, GameState
from catbox_env.core.rng import seed_sequence

#: Actions whose reasons are shown.
MOST_REASONS = 5

HELP = """\
Type what you want to do:
  an action     in full ("{action}"), shortened to what tells it apart ("{short}"), or by its id ("#{id}")
  list          the actions you may take now, with their ids
  hint          what the heuristic thinks of them, and why
  table         show the game again
  help          this text
  quit          leave the game (so do Ctrl-D and Ctrl-C)"""


def play(game: Game, specs: Sequence[str], seat: int, seed: int | None, console: Console) -> None:
    """A person in ``seat`` against agents; returns when the game is over or the person leaves.

    Raises ValueError for a seat that is not there or agents that cannot play this game.
    """
    if not 0 <= seat < game.num_players:
        raise ValueError(f"seat {seat}: expected 0 to {game.num_players - 1} in a game of {game.num_players}")
    others = [other for other in range(game.num_players) if other != seat]
    session = _begin(
        game, dict(zip(others, fill(specs, len(others)), strict=True)), seed, console, viewer=seat
    )
    session.names[seat] = "you"
    _read_any_bytes()
    against = escape(", ".join(dict.fromkeys(session.names[other] for other in others)))
    console.print(
        f"You are player_{seat}, against {against}. Type [bold]help[/] if you are lost.", highlight=False
    )
    try:
        while not session.state.is_terminal():
            if session.state.current_player == seat:
                session.show()
                action = _ask(game, session, console)
                if action is None:
                    console.print("You left the game. Bye!")
                    return
                session.take(action)
            else:
                session.take(session.agent_action())
    except (EOFError, KeyboardInterrupt):
        console.print("\nYou left the game. Bye!")
        return
    session.finish()


def watch(
    game: Game,
    specs: Sequence[str],
    seed: int | None,
    console: Console,
    delay: float = 0.0,
    step: bool = False,
    reasons: bool = False,
) -> None:
    """Agents among themselves: the position and the move at every decision.

    ``delay``: seconds between moves; ``step``: wait for Enter instead; ``reasons``: show the reasons of agents
    that give them (those with a method ``explain``).
    """
    session = _begin(game, dict(enumerate(fill(specs, game.num_players))), seed, console, viewer=None)
    _read_any_bytes()
    try:
        while not session.state.is_terminal():
            session.show()
            if reasons:
                session.explain(session.agents[session.state.current_player])
            session.take(session.agent_action())
            _wait(console, delay, step)
    except (EOFError, KeyboardInterrupt):
        console.print("\nStopped watching.")
        return
    session.finish()


def replay(record: GameRecord, console: Console, delay: float = 0.0, step: bool = False) -> None:
    """A recorded game, shown as `watch` shows one, with the probability of each move where the agent told it."""
    states = record.states()
    session = _Session(next(states), dict(enumerate(record.agents)), {}, console, viewer=None)
    _read_any_bytes()
    try:
        for action, policy in zip(record.actions, record.policies, strict=True):
            session.show()
            seat = session.state.current_player
            next(states)
            session.tell(seat, action, _chance(action, policy))
            _wait(console, delay, step)
    except (EOFError, KeyboardInterrupt):
        console.print("\nStopped watching.")
        return
    if record.forfeit is None:
        session.finish()
        return
    session.show()
    forfeit = record.forfeit
    text = f"player_{forfeit['seat']} ({forfeit['agent']}) forfeited the game: {forfeit['reason']}"
    console.print(text, highlight=False, markup=False)
    session.show_returns(record.returns)


def _chance(action: int, policy: list[tuple[int, float]] | None) -> str:
    """The probability of ``action`` in a recorded policy, in words."""
    if policy is None:
        return ""
    return f"  ({dict(policy).get(action, 0):.0%} of its policy)"


def _wait(console: Console, delay: float, step: bool) -> None:
    if step:
        console.input("[dim]Enter for the next move[/] ")
    elif delay > 0:
        time.sleep(delay)


def fill(specs: Sequence[str], seats: int) -> list[str]:
    """One spec for each of ``seats``, the last one repeated. Raises ValueError for none or too many."""
    if not 1 <= len(specs) <= seats:
        raise ValueError(
            f"{len(specs)} agents for {seats} seats: name 1 to {seats} (the last fills those left)"
        )
    return [*specs, *[specs[-1]] * (seats - len(specs))]


def _read_any_bytes() -> None:
    """From here on bytes that are no text are read as question marks: they are not understood, and asked again."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def _begin(
    game: Game, specs: dict[int, str], seed: int | None, console: Console, viewer: int | None
) -> _Session:
    """A new game with the agents that ``specs`` names by seat."""
    deal_seed, *_ = seed_sequence(seed).spawn(1 + game.num_players)
    state = game.new_initial_state(seed=deal_seed)
    # Nothing goes into an agent's seed but what it is shown itself.
    agents = {s: make(spec, game, agent_seed(s, state.observation(s).tobytes())) for s, spec in specs.items()}
    return _Session(state, dict(specs), agents, console, viewer)


class _Session:
    """A game under way at the terminal: its state, the agents that play it, and how it is shown."""

    def __init__(
        self,
        state: GameState,
        names: dict[int, str],
        agents: dict[int, Agent],
        console: Console,
        viewer: int | None,
    ) -> None:
        self.game, self.state = state.game, state
        self.agents, self.names = agents, names
        self.console = console
        self.viewer = viewer
        self.rounds = 0

    def show(self) -> None:
        """Print the position, with the hand of the viewer or all hands."""
        self.console.print()
        self.console.print(Text.assemble(*self.game.render(self.state.record, self.viewer)))

    def agent_action(self) -> int:
        """The action of the agent whose turn it is. Raises ValueError, naming the agent, for an illegal one."""
        seat = self.state.current_player
        agent = self.agents[seat]
        past = self.state.history_observation(seat) if needs_history(agent) else None
        try:
            action = agent.act(self.state.observation(seat), self.state.action_mask(), past)
        except Exception as error:
            raise AgentError(self.names[seat], error) from error
        try:
            self.state.clone().apply_action(action)
        except ValueError as error:
            raise ValueError(f"agent {self.names[seat]!r}: {error}") from None
        return int(action)

    def take(self, action: int) -> None:
        """Apply an action and print what the viewer may know of it. Raises ValueError for an illegal one."""
        seat = self.state.current_player
        moves = len(self.state.history())
        self.state.apply_action(action)
        shown = action if self.viewer is None else int(self.state.history_observation(self.viewer)[moves, 1])
        self.tell(seat, shown)

    def tell(self, seat: int, shown: int, more: str = "") -> None:
        """Print an action of ``seat`` that was taken, -1 for one that the viewer may not know, and a round's end."""
        text = "moves in secret" if shown < 0 else self.game.action_to_string(shown)
        self.console.print(f"player_{seat} ({self.names[seat]}): {text}{more}", highlight=False, markup=False)
        if self.state.round_ended:
            self.rounds += 1
            self.console.print(self._round_info())

    def explain(self, agent: Agent) -> None:
        """Print the reasons of an agent that gives them, for its best actions."""
        explain: Callable[..., dict[int, dict[str, float]]] | None = getattr(agent, "explain", None)
        if explain is None:
            self.console.print("(this agent gives no reasons)")
            return
        try:
            reasons = explain(self.state.observation(self.state.current_player), self.state.action_mask())
        except Exception as error:
            raise AgentError(type(agent).__name__, error) from error
        table = Table(title="points by reason, best first")
        table.add_column("action")
        for name in (*next(iter(reasons.values())), "total"):
            table.add_column(name, justify="right")
        for action, points in list(reasons.items())[:MOST_REASONS]:
            values = [*points.values(), sum(points.values())]
            table.add_row(self.game.action_to_string(action), *(f"{value:.2f}" for value in values))
        self.console.print(table)

    def finish(self) -> None:
        """Print the last position and the returns."""
        self.show()
        self.show_returns(self.state.returns())

    def show_returns(self, returns: list[float]) -> None:
        """Print what each seat has earned."""
        best = max(returns)
        for seat, value in enumerate(returns):
            mark = "  <- best" if value == best else ""
            self.console.print(
                f"player_{seat} ({self.names[seat]}): {value:g}{mark}", highlight=False, markup=False
            )

    def _round_info(self) -> Table:
        """The statistics of the round that has ended, a row for each player."""
        table = Table(title=f"round {self.rounds}")
        table.add_column("player")
        for name in self.game.info_names:
            table.add_column(name.replace("_", " "), justify="right")
        for seat in range(self.game.num_players):
            values = self.state.info(seat).values()
            table.add_row(f"player_{seat} ({self.names[seat]})", *map(str, values))
        return table


def _ask(game: Game, session: _Session, console: Console) -> int | None:
    """A legal action from the person to move; None when the person leaves. Nothing that is typed raises."""
    legal = session.state.legal_actions()
    while True:
        text = console.input("[bold]your move>[/] ").strip()
        word = text.lower()
        if word in ("quit", "exit", "q"):
            return None
        if word in ("help", "h", "?"):
            name = game.action_to_string(legal[0])
            known = HELP.format(action=name, short=shortened(game, legal), id=legal[0])
            console.print(known, markup=False, highlight=False)
        elif word in ("list", "l"):
            for action in legal:
                console.print(
                    f"  #{action:<3} {game.action_to_string(action)}", highlight=False, markup=False
                )
        elif word in ("table", "t"):
            session.show()
        elif word == "hint":
            _hint(game, session, console)
        elif word:
            try:
                action = parse_action(game, legal, text)
                session.state.clone().apply_action(action)  # says which rule forbids it, if one does
            except ValueError as error:
                console.print(
                    f"{error} (or type help, list, hint)", style="yellow", markup=False, highlight=False
                )
            else:
                return action


def _hint(game: Game, session: _Session, console: Console) -> None:
    try:
        adviser = make("heuristic", game)
    except ValueError as error:  # a game without one
        console.print(str(error), markup=False)
        return
    session.explain(adviser)
