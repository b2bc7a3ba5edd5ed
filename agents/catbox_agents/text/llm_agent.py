"""The agent ``llm:model=NAME,...``: a language model behind an OpenAI-compatible chat-completions server.

Each decision is a conversation of its own: the prompt of `text_observation`, and after an answer that is no legal
action what is wrong with it (`parse_action`). docs/language_models.md describes the settings.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed, SeededAgent, check_rows
from catbox_agents.errors import encodable
from catbox_agents.specs import make
from catbox_agents.system.files import writing
from catbox_agents.text.answers import FAILURES, parse_action
from catbox_agents.text.observation import LONG, text_observation
from catbox_agents.text.text_game import DECISIONS, FALLEN_BACK, FIRST_TRY, REPAIRED
from catbox_env import Game
from catbox_env.core.extras import missing_extra

if TYPE_CHECKING:
    from httpx2 import AsyncClient

#: The environment variable with the key, the only place from which it is read.
KEY = "OPENAI_API_KEY"
#: The server without ``base_url`` and ``OPENAI_BASE_URL``.
OPENAI = "https://api.openai.com/v1"
#: The fallback that chooses no action: the agent raises an error.
STOP = "stop"
#: What is counted beside the decisions and the failures of `parse_action`: answers, the seconds these took, and their
#: tokens. `catbox_agents.arena.report` shows it all.
ANSWERED = ("answers", "seconds", "input_tokens", "output_tokens")
ANSWERS, SECONDS, INPUT, OUTPUT = ANSWERED
COST = "cost"
#: The largest reply that is read, in bytes.
LARGEST_REPLY = 4_000_000
#: The statuses after which a request is tried again, as are those from 500.
TRY_AGAIN = (408, 409, 429)
#: A shorter key is a placeholder for a server that needs none, and may be part of any text.
_SHORTEST_KEY = 8
#: The longest message of a server that is reported, in characters.
_LONGEST = 500


class _NoAnswer(Exception):
    """Why a request got no answer. ``pause``: the seconds after which to try again; None: that would be in vain."""

    def __init__(self, why: str, pause: float | None = None) -> None:
        super().__init__(why)
        self.pause = pause


class LLMAgent(SeededAgent):
    """Asks a language model for every decision, ``parallel`` of them at a time.

    Args: the settings of the spec, as docs/language_models.md describes them; ``timeout`` in seconds, prices for a
    million tokens.

    Attributes:
        tally: how many decisions were legal at the ``first_try``, ``repaired`` or ``fallen_back``; how many answers
            were ``unparsable``, ``unknown`` or ``illegal``; ``answers``, the ``seconds`` and the ``input_tokens`` and
            ``output_tokens`` of these, and with prices their ``cost``.

    Raises ``ValueError`` without a key where one is needed, `WriteError` for a log that cannot be written, and
    ``ModuleNotFoundError`` without the extra ``llm``.
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
            import httpx2  # noqa: F401  (is it installed?)
        except ModuleNotFoundError as error:
            raise missing_extra(error, "the agent llm", "llm") from None
        server = base_url or os.environ.get("OPENAI_BASE_URL")
        if not (server or _key()):
            raise ValueError(
                f"set the environment variable {KEY}, or give base_url=URL of a server of your own"
            )
        if not (_key().isascii() and _key().isprintable()):
            raise ValueError(f"the environment variable {KEY} holds characters that no key has")
        self.needs_history = history
        self.tally: dict[str, float] = {}
        self._prompt: dict[str, Any] = {"form": form, "list_actions": list_actions}
        asked = {"temperature": temperature, "max_completion_tokens": max_completion_tokens}
        self._request = {"model": model} | {name: v for name, v in asked.items() if v is not None}
        self._url = f"{(server or OPENAI).strip().rstrip('/')}/chat/completions"
        self._timeout, self._max_retries = timeout, max_retries
        self._repairs, self._parallel = repairs, parallel
        self._prices = None if input_price is None and output_price is None else (input_price, output_price)
        self._fallback = None if fallback == STOP else make(fallback, game, seed)
        self._log = None if log is None else Path(log)
        if self._log is not None:
            with writing(self._log):
                self._log.open("ab").close()

    def __getstate__(self) -> dict[str, Any]:
        """With nothing counted."""
        return {**vars(self), "tally": {}}

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        """(N,) legal actions. Raises ``RuntimeError`` if the server does not answer, and with ``fallback="stop"`` if no
        answer was a legal action; the other requests then end, as they do after Ctrl-C."""
        from anyio.from_thread import start_blocking_portal  # in the extra llm

        seen, masks = check_rows(self.game, observations, action_masks)
        if self.needs_history and histories is None:
            raise ValueError("histories=None: the agent needs them, unless it has history=false")
        seeds = self.given_seeds(len(seen))
        past: Any = histories if self.needs_history else [None] * len(seen)
        with (
            start_blocking_portal() as portal
        ):  # a thread with an event loop: this one may have a loop already
            actions = np.array(portal.call(self._decide_all, seen, past), np.int64)
        left = np.flatnonzero(actions < 0)
        if self._fallback is not None and len(left):
            if seeds is not None and hasattr(self._fallback, "seed_decisions"):
                self._fallback.seed_decisions(seeds[left])
            actions[left] = self._fallback.act_batch(seen[left], masks[left])
        return actions

    async def _decide_all(self, seen: NDArray[np.int8], past: Any) -> list[int]:
        """For each row the action, -1 if no answer was legal. Raises ``RuntimeError`` as `act_batch`."""
        import httpx2  # in the extra llm

        # A reply that is not compressed cannot grow beyond what is read.
        headers = {"authorization": f"Bearer {_key() or 'no-key'}", "accept-encoding": "identity"}
        places = asyncio.Semaphore(self._parallel)
        try:
            async with (
                httpx2.AsyncClient(
                    headers=headers,
                    limits=httpx2.Limits(max_connections=self._parallel),
                    timeout=None,
                    follow_redirects=True,
                    verify=_certificates(),
                ) as client,
                asyncio.TaskGroup() as group,
            ):
                found = [
                    group.create_task(self._decide(client, places, *row))
                    for row in zip(seen, past, strict=True)
                ]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in found]

    async def _decide(
        self, client: AsyncClient, places: asyncio.Semaphore, seen: NDArray[np.int8], past: Any
    ) -> int:
        async with places:
            counts: dict[str, float] = dict.fromkeys((*DECISIONS, *FAILURES, *ANSWERED), 0)
            prompt = text_observation(seen, game=self.game, history=past, **self._prompt)
            messages = [{"role": "user", "content": prompt}]
            failures: list[str] = []
            for left in range(self._repairs, -1, -1):
                answer = await self._ask(client, messages, counts)
                messages.append({"role": "assistant", "content": answer})
                parsed = parse_action(answer, seen, game=self.game)
                if parsed.failure is None:
                    break
                failures.append(parsed.failure)
                if left:
                    again = f"{parsed.message}\nAnswer again; tries left: {left}."
                    messages.append({"role": "user", "content": again})
        if parsed.action is not None:
            outcome = REPAIRED if failures else FIRST_TRY
        else:
            outcome = STOP if self._fallback is None else FALLEN_BACK
        if self._log is not None:
            named = None if parsed.action is None else self.game.action_to_string(parsed.action)
            self._write({"messages": messages, "outcome": outcome, "action": named}, failures, counts)
        if outcome == STOP:
            tries = f"{len(failures)} answer{'s' * (len(failures) > 1)}"
            raise RuntimeError(f"{self._request['model']} named no legal action in {tries}. {parsed.message}")
        for kind in (outcome, *failures):
            counts[kind] += 1
        self.tally = {name: self.tally.get(name, 0) + number for name, number in counts.items()}
        return -1 if parsed.action is None else parsed.action

    async def _ask(
        self, client: AsyncClient, messages: list[dict[str, str]], counts: dict[str, float]
    ) -> str:
        """The model's answer, "" for one without text. Raises ``RuntimeError`` without an answer after all tries."""
        began = time.perf_counter()
        body = {**self._request, "messages": messages}
        for tried in range(self._max_retries + 1):
            try:
                reply = await self._post(client, body, tried)
                answer = _without_key(_text_of(reply))
                break
            except _NoAnswer as error:
                if error.pause is None or tried == self._max_retries:
                    why = _without_key(str(error))[:_LONGEST]
                    raise RuntimeError(f"{self._request['model']} has not answered: {why}") from None
                await asyncio.sleep(error.pause)
        counts[ANSWERS] += 1
        counts[SECONDS] += time.perf_counter() - began
        used = reply.get("usage")
        for own, name in ((INPUT, "prompt_tokens"), (OUTPUT, "completion_tokens")):
            counts[own] += _number(used.get(name)) if isinstance(used, dict) else 0  # some servers tell none
        if self._prices is not None:
            paid = zip(self._prices, (counts[INPUT], counts[OUTPUT]), strict=True)
            counts[COST] = sum((price or 0.0) * tokens / 1e6 for price, tokens in paid)
        return answer

    async def _post(self, client: AsyncClient, body: Mapping[str, Any], tried: int) -> dict[str, Any]:
        """The JSON object that the server replies to one request, all of it within ``timeout``. Raises `_NoAnswer`."""
        import httpx2  # in the extra llm

        data = bytearray()
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream("POST", self._url, json=body) as response,
            ):
                async for part in response.aiter_raw():
                    data += part
                    if len(data) > LARGEST_REPLY:
                        raise _NoAnswer(f"the server's reply is larger than {LARGEST_REPLY:,} bytes")
        except TimeoutError:
            raise _NoAnswer(f"no complete reply within {self._timeout:g} s", pause=0.0) from None
        except httpx2.HTTPError as error:
            raise _NoAnswer(f"{type(error).__name__}: {error}", _pause({}, tried)) from None
        if not response.is_success:
            said = " ".join(data.decode(errors="replace").split())
            may_pass = response.status_code in TRY_AGAIN or response.status_code >= 500
            pause = _pause(response.headers, tried) if may_pass else None
            raise _NoAnswer(f"HTTP status {response.status_code} {response.reason_phrase}: {said}", pause)
        try:
            reply = json.loads(data)
        except (ValueError, RecursionError):
            raise _NoAnswer("the server's reply is not JSON") from None
        if not isinstance(reply, dict):
            raise _NoAnswer("the server's reply is not a chat completion")
        return reply

    def _write(self, line: dict[str, Any], failures: list[str], counts: dict[str, float]) -> None:
        """Append a line of JSON to the log, with one call, so that several processes may write to it."""
        assert self._log is not None
        about = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **self._request}
        used = {name: counts[name] for name in (INPUT, OUTPUT, SECONDS)}
        text = json.dumps({**about, **line, "failures": failures, **used})
        with writing(self._log), self._log.open("ab", buffering=0) as file:
            file.write(text.encode() + b"\n")


@functools.cache
def _certificates() -> ssl.SSLContext:
    import httpx2  # in the extra llm

    return httpx2.create_ssl_context()  # takes 0.1 s


def _key() -> str:
    """The key, "" if there is none."""
    return os.environ.get(KEY, "").strip()


def _without_key(text: str) -> str:
    """``text`` of a server as it may be written: without the key, which it may have repeated, and `encodable`."""
    key = _key()
    return encodable(text.replace(key, f"[{KEY}]") if len(key) >= _SHORTEST_KEY else text)


def _pause(headers: Mapping[str, str], tried: int) -> float:
    """The seconds before the next try: what the server asks for, if at most a minute, or 0.5, 1, 2, 4 and then 8."""
    with suppress(KeyError, ValueError):
        asked = float(headers["retry-after"])
        if 0 <= asked <= 60:
            return asked
    return 0.5 * 2.0 ** min(tried, 4)


def _text_of(reply: Mapping[str, Any]) -> str:
    """The text of a chat completion: its content, the text parts of a content in parts, or "". Raises `_NoAnswer`."""
    try:
        content = reply["choices"][0]["message"].get("content")
    except (AttributeError, LookupError, TypeError):
        raise _NoAnswer("the server's reply is not a chat completion") from None
    if isinstance(content, list):
        texts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _number(value: object) -> float:
    """A number of tokens as a server tells it; 0 for anything else."""
    return value if isinstance(value, int | float) and 0 <= value <= 1e12 else 0
