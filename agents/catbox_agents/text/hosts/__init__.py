"""Adapters to hosts of environments for language models, a module each; each needs the package that it is named after.

docs/language_model_hosts.md shows them. A model's reward is `catbox_agents.text.text_game.reward_of` its points.
"""
