"""The agent ``llm:model=NAME,...``: a language model behind an OpenAI-compatible chat-completions server.

Each decision is a conversation of its own: the prompt of `text_observation`, and after an answer that is no legal
action what is wrong with it (`parse_action`). docs/language_models.md describes the settings.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed, check_rows
from catbox_agents.files import writing
from catbox_agents.random_agent import SeededAgent
from catbox_agents.specs import make
from catbox_agents.text.answers import FAILURES, parse_action
from catbox_agents.text.observation import LONG, text_observation
from catbox_agents.text.text_game import DECISIONS, FALLEN_BACK, FIRST_TRY, REPAIRED
from catbox_env import Game
from catbox_env.core.extras import missing_extra

#: The environment variable with the key, the only place from which it is read.
KEY = "OPENAI_API_KEY"
#: The fallback that chooses no action: the answer is -1.
FORFEIT = "forfeit"
#: What is counted beside the decisions and the failures of `parse_action`: requests without an answer, requests with
#: one, the seconds these took, and their tokens. `catbox_agents.arena.report` shows it all.
REQUESTS = ("no_answer", "answers", "seconds", "input_tokens", "output_tokens")
NO_ANSWER, ANSWERS, SECONDS, INPUT, OUTPUT = REQUESTS
COST = "cost"
#: What a server of one's own is sent instead of a key.
_NO_KEY = "no-key"
#: A shorter key is a placeholder for a server that needs none, and may be part of any text.
_SHORTEST_KEY = 8
#: The longest message of a server that is reported, in characters.
_LONGEST = 500


class _NoAnswer(Exception):
    """The server gave no answer, after all retries of the client; the text says why."""


class LLMAgent(SeededAgent):
    """Asks a language model for every decision, ``parallel`` of them at a time.

    Args: the settings of the spec, as docs/language_models.md describes them; ``timeout`` in seconds, prices for a
    million tokens.

    Attributes:
        tally: how many decisions were legal at the ``first_try``, ``repaired`` or ``fallen_back``; how many requests
            were ``unparsable``, ``unknown``, ``illegal`` or got ``no_answer``; ``answers``, the ``seconds`` and the
            ``input_tokens`` and ``output_tokens`` of these, and with prices their ``cost``.

    If none of the first decisions gets an answer, ``act_batch`` raises ``RuntimeError``, then and from then on. Later
    a missing answer only means the fallback. Raises ``ValueError`` without a key where one is needed, `WriteError` for
    a log that cannot be written, and ``ModuleNotFoundError`` without the extra ``llm``.
    """

    def __init__(
        self,
        game: Game,
        seed: Seed = None,
        *,
        model: str,
        base_url: str | None = None,
        form: str = LONG,
        history: bool = True,
        list_actions: bool = False,
        temperature: float | None = None,
        max_completion_tokens: int | None = None,
        repairs: int = 2,
        fallback: str = "random",
        timeout: float = 60.0,
        max_retries: int = 4,
        parallel: int = 8,
        input_price: float | None = None,
        output_price: float | None = None,
        log: str | None = None,
    ) -> None:
        super().__init__(game, seed)
        try:
            import openai  # noqa: F401  (is it installed?)
        except ModuleNotFoundError as error:
            raise missing_extra(error, "the agent llm", "llm") from None
        if not (base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get(KEY)):
            raise ValueError(
                f"set the environment variable {KEY}, or give base_url=URL of a server of your own"
            )
        if not os.environ.get(KEY, "").isascii():
            raise ValueError(f"the environment variable {KEY} holds characters that no key has")
        self.needs_history = history
        self.tally: dict[str, float] = {}
        self._prompt: dict[str, Any] = {"form": form, "list_actions": list_actions}
        asked = {"temperature": temperature, "max_completion_tokens": max_completion_tokens}
        self._request = {"model": model} | {name: v for name, v in asked.items() if v is not None}
        self._server: dict[str, Any] = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        self._repairs, self._parallel = repairs, parallel
        self._prices = None if input_price is None and output_price is None else (input_price, output_price)
        self._fallback = None if fallback == FORFEIT else make(fallback, game, seed)
        self._log = None if log is None else Path(log)
        self._writes = threading.Lock()
        self._answered, self._broken = False, ""
        if self._log is not None:
            with writing(self._log):
                self._log.open("ab").close()

    def __getstate__(self) -> dict[str, Any]:
        """Without the client, which holds the key, and with nothing counted."""
        state = {name: value for name, value in vars(self).items() if name not in ("_client", "_writes")}
        return {**state, "tally": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _writes=threading.Lock())

    @functools.cached_property
    def _client(self) -> Any:
        import openai

        return openai.OpenAI(api_key=os.environ.get(KEY) or _NO_KEY, **self._server)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        """(N,) legal actions; with the fallback ``forfeit`` -1 where no answer was one."""
        seen, masks = check_rows(self.game, observations, action_masks)
        if self.needs_history and histories is None:
            raise ValueError("histories=None: the agent needs them, unless it has history=false")
        if self._broken:
            raise RuntimeError(self._broken)
        seeds = self.given_seeds(len(seen))
        past: Any = histories if self.needs_history else [None] * len(seen)
        if self._client.is_closed():  # by an interruption; made here, not by several threads at once
            del self._client
            _ = self._client
        stopped = threading.Event()
        threads = ThreadPoolExecutor(self._parallel)
        try:
            decided = list(threads.map(functools.partial(self._decide, stopped), seen, past))
        except BaseException:  # such as Ctrl-C: without a client, requests end
            stopped.set()
            self._client.close()
            raise
        finally:
            threads.shutdown(wait=not stopped.is_set(), cancel_futures=True)
        if not self._answered and decided:
            self._broken = f"{self._request['model']} has not answered: {decided[0][2]}"
            raise RuntimeError(self._broken)
        for _, told, _ in decided:
            self.tally = {name: self.tally.get(name, 0) + number for name, number in told.items()}
        actions = np.array([action for action, _, _ in decided], np.int64)
        left = np.flatnonzero(actions < 0)
        if self._fallback is not None and len(left):
            if seeds is not None and hasattr(self._fallback, "seed_decisions"):
                self._fallback.seed_decisions(seeds[left])
            actions[left] = self._fallback.act_batch(seen[left], masks[left])
        return actions

    def _decide(
        self, stopped: threading.Event, seen: NDArray[np.int8], past: Any
    ) -> tuple[int, dict[str, float], str]:
        """The action, -1 if no answer was legal; what was counted; and why there was no answer, "" if there was."""
        told: dict[str, float] = dict.fromkeys((*DECISIONS, *FAILURES, *REQUESTS), 0)
        if self._prices is not None:
            told[COST] = 0.0
        prompt = text_observation(seen, game=self.game, history=past, **self._prompt)
        messages = [{"role": "user", "content": prompt}]
        action, failures, error = -1, [], ""
        for left in range(self._repairs, -1, -1):
            if stopped.is_set():
                break
            try:
                answer = self._ask(messages, told)
            except _NoAnswer as none:
                failures.append(NO_ANSWER)
                error = str(none)
                break
            messages.append({"role": "assistant", "content": answer})
            parsed = parse_action(answer, seen, game=self.game)
            if parsed.action is not None:
                action = parsed.action
                break
            assert parsed.failure is not None, "without an action there is a failure"
            failures.append(parsed.failure)
            if left:
                again = f"{parsed.message}\nAnswer again; tries left: {left}."
                messages.append({"role": "user", "content": again})
        if stopped.is_set():  # the decision counts for nothing
            return action, told, error
        outcome = FALLEN_BACK if action < 0 else REPAIRED if failures else FIRST_TRY
        for kind in (outcome, *failures):
            told[kind] += 1
        if self._log is not None:
            named = None if action < 0 else self.game.action_to_string(action)
            self._write({"messages": messages, "outcome": outcome, "action": named}, failures, error, told)
        return action, told, error

    def _ask(self, messages: list[dict[str, str]], told: dict[str, float]) -> str:
        """The model's answer, "" for one without text. Raises `_NoAnswer`."""
        import openai

        began = time.perf_counter()
        try:
            reply = self._client.chat.completions.create(messages=messages, **self._request)
            answer = self._without_key(str(reply.choices[0].message.content or ""))
        except openai.APIError as error:
            raise _NoAnswer(self._without_key(f"{type(error).__name__}: {error}")[:_LONGEST]) from None
        # A reply in another form, or none.
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            raise _NoAnswer(f"the server's reply is not a chat completion ({type(error).__name__})") from None
        self._answered = True
        told[ANSWERS] += 1
        told[SECONDS] += time.perf_counter() - began
        names = {INPUT: "prompt_tokens", OUTPUT: "completion_tokens"}
        for (own, name), price in zip(names.items(), self._prices or (None, None), strict=True):
            used = getattr(reply.usage, name, None) or 0  # some servers tell none
            told[own] += used
            if self._prices is not None:
                told[COST] += (price or 0.0) * used / 1e6
        return answer

    def _write(self, line: dict[str, Any], failures: list[str], error: str, told: dict[str, float]) -> None:
        """Append a line of JSON to the log, with one call, so that several processes may write to it."""
        assert self._log is not None
        about = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **self._request}
        used = {name: told[name] for name in (INPUT, OUTPUT, SECONDS)}
        text = json.dumps({**about, **line, "failures": failures, "error": error or None, **used})
        with self._writes, writing(self._log), self._log.open("ab", buffering=0) as file:
            file.write(text.encode() + b"\n")

    def _without_key(self, text: str) -> str:
        """``text`` without the key, which a server may have repeated."""
        key = os.environ.get(KEY, "")
        return text.replace(key, f"[{KEY}]") if len(key) >= _SHORTEST_KEY else text
