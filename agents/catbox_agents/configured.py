"""The agents with settings that come with catbox, their settings and presets: docs/search.md, docs/language_models.md.

`catbox_agents` imports this table, and `specs` finds the agents in it: so neither `specs` nor `settings` knows an agent
that itself makes others.
"""

from __future__ import annotations

from catbox_agents.settings import (
    CONFIGURED,
    Configured,
    address,
    agent_spec,
    flag,
    integer,
    number,
    one_of,
    seconds,
    share,
    words,
)

CONFIGURED |= {
    "search": Configured(
        "catbox_agents.search.agents:SearchAgent",
        {
            "worlds": integer(1),
            "policy": agent_spec,
            "opponent_model": agent_spec,
            "caution": number(),
            "budget": seconds,
            "beta": share(),
            "effective": share(),
            "proposals": integer(1),
            "epsilon": share(),
        },
        {"fast": {"budget": 0.02}, "normal": {"budget": 0.1}, "deep": {"budget": 1.0}},
    ),
    "ismcts": Configured(
        "catbox_agents.search.agents:ISMCTSAgent",
        {"simulations": integer(1), "policy": agent_spec, "exploration": number(), "parallel": integer(1)},
    ),
    "pimc": Configured(
        "catbox_agents.search.agents:PIMCAgent", {"samples": integer(1), "policy": agent_spec}
    ),
    "llm": Configured(
        "catbox_agents.text.llm_agent:LLMAgent",
        {
            "model": words,
            "base_url": address,
            "form": one_of("long", "short"),
            "history": flag(),
            "list_actions": flag(),
            "temperature": number(),
            "max_completion_tokens": integer(1),
            "repairs": integer(0),
            "fallback": one_of("random", "heuristic", "stop"),
            "timeout": seconds,
            "max_retries": integer(0),
            "parallel": integer(1),
            "input_price": number(),
            "output_price": number(),
            "log": words,
        },
        required="model",
        asks_server=True,
    ),
}
