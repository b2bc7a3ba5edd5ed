"""What answers in the examples for language models while you have no model: it picks from the listed actions."""

from __future__ import annotations

import json
import random
import re


class StandIn:
    """A random legal answer to a prompt that lists the legal actions. Call it with the prompt."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = random.Random(seed)

    def __call__(self, prompt: str) -> str:
        listed = re.findall(r"^Legal actions: (.*)\.$", prompt, re.MULTILINE)[-1]
        return json.dumps({"action": self.rng.choice(listed.split(", "))})
