"""A model in verifiers: a deal of Cat in the Box from every seat, among heuristic agents.

pip install ./integrations/verifiers    # with catbox and verifiers 0.4
python examples/verifiers_table.py qwen3:8b http://127.0.0.1:11434/v1   # any chat-completions server

For a key, set OPENAI_API_KEY. The same as a command: ``vf-eval catbox-verifiers --model NAME``.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import verifiers.v1 as vf


async def main(model: str, url: str, **taskset: Any) -> None:
    config = vf.resolve_env_config({"taskset": {"id": "catbox-verifiers", "deals": 1, **taskset}})
    env = vf.load_environment(config)
    client = vf.EvalClientConfig(base_url=url, api_key_var="OPENAI_API_KEY")
    context = vf.ModelContext(model=model, client=client, sampling=vf.SamplingConfig())
    async with env.serving():
        for task in env.taskset:
            episode = await env.run_episode(task, context)
            for error in episode.errors:
                print(error.message)
            for trace in episode.traces:
                played = trace.metrics
                print(
                    f"{task.data.name}: {played['points']:g} points, reward {trace.rewards['game'].score:.2f}"
                )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
