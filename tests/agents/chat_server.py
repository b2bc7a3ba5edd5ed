"""A stub of a chat-completions server on 127.0.0.1, and an agent that chooses as the stub does."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from catbox_agents import Agent
from catbox_agents.text import text_observation

#: An answer: the text, or an HTTP status with the body of its reply (bytes: as they are).
Answer = str | tuple[int, Any]


def chosen_name(prompt: str) -> str:
    """A legal action that the prompt lists, random but always the same for a prompt."""
    names = re.findall(r"^Legal actions: (.*)\.$", prompt, re.MULTILINE)[-1].split(", ")
    return names[int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4]) % len(names)]


def legal(messages: list[dict[str, str]]) -> str:
    """A legal answer to the first message."""
    return f'I think.\n{{"action": "{chosen_name(messages[0]["content"])}"}}'


class SameChoice(Agent):
    """Chooses what `legal` answers to the prompt of the agent llm."""

    needs_history = True

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        prompt = text_observation(observation, game=self.game, history=history, list_actions=True)
        return self.game.string_to_action(chosen_name(prompt))


class ChatServer:
    """Answers by ``answer(messages)``; a context manager. ``requests``: bodies and headers of all it was asked."""

    def __init__(self, answer: Callable[[list[dict[str, str]]], Answer] = legal) -> None:
        self.requests: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.answer = answer
        chat = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                if len(sent := self.rfile.read(length)) < length:  # the client has ended its request
                    return
                asked = json.loads(sent)
                headers = {name.lower(): value for name, value in self.headers.items()}
                chat.requests.append((asked, headers))
                found = chat.answer(asked["messages"])
                status, body = (200, reply(found)) if isinstance(found, str) else found
                streamed = asked.get("stream") and status == 200
                if streamed and isinstance(found, str):
                    body = stream(found)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                self.send_header("content-length", str(len(data)))
                self.send_header("retry-after", "0")
                with suppress(ConnectionError):  # the client has ended its request
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # of 5, a client that connects 8 times at once waits for a second

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self) -> ChatServer:
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def spec(self, **settings: object) -> str:
        """The spec of an agent that asks this server."""
        return ",".join([f"llm:model=stub,base_url={self.url}", *(f"{k}={v}" for k, v in settings.items())])


def reply(content: Any) -> dict[str, Any]:
    """A chat completion of 100 tokens for the prompt and 10 for the answer."""
    message = {"role": "assistant", "content": content}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def stream(text: str) -> bytes:
    """The same as server-sent events: one with the text, one with the end and the usage."""
    whole = reply(text)
    delta = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    shared = {**whole, "object": "chat.completion.chunk"}
    chunks = [{**shared, "choices": [delta], "usage": None}, {**shared, "choices": [end]}]
    events = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"]
    return "".join(f"data: {event}\n\n" for event in events).encode()
