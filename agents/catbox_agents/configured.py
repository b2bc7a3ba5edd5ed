"""The agents with settings that come with catbox, their settings and presets: docs/search.md, docs/language_models.md.

`catbox_agents` imports this table, and `specs` finds the agents in it: so neither `specs` nor `settings` knows an agent
that itself makes others.
"""

from __future__ import annotations

from catbox_agents.settings import (
    CONFIGURED,
    Configured,
    read_address,
    read_agent,
    read_count,
    read_count_or_0,
    read_fallback,
    read_flag,
    read_number,
    read_one_of,
    read_seconds,
    read_share,
    read_text,
)

CONFIGURED |= {
    "search": Configured(
        "catbox_agents.search.agents:SearchAgent",
        {
            "worlds": read_count,
            "policy": read_agent,
            "opponent_model": read_agent,
            "caution": read_number,
            "budget": read_seconds,
            "beta": read_share,
            "effective": read_share,
            "proposals": read_count,
            "epsilon": read_share,
        },
        {"fast": {"budget": 0.02}, "normal": {"budget": 0.1}, "deep": {"budget": 1.0}},
    ),
    "ismcts": Configured(
        "catbox_agents.search.agents:ISMCTSAgent",
        {"simulations": read_count, "policy": read_agent, "exploration": read_number, "parallel": read_count},
    ),
    "pimc": Configured(
        "catbox_agents.search.agents:PIMCAgent", {"samples": read_count, "policy": read_agent}
    ),
    "llm": Configured(
        "catbox_agents.text.llm_agent:LLMAgent",
        {
            "model": read_text,
            "base_url": read_address,
            "form": read_one_of("long", "short"),
            "history": read_flag,
            "list_actions": read_flag,
            "temperature": read_number,
            "max_completion_tokens": read_count,
            "repairs": read_count_or_0,
            "fallback": read_fallback,
            "timeout": read_seconds,
            "max_retries": read_count_or_0,
            "parallel": read_count,
            "input_price": read_number,
            "output_price": read_number,
            "log": read_text,
        },
        required="model",
        asks_server=True,
    ),
}
