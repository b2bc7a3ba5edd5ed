"""Training by self-play: the settings (``config``), the algorithms (``algorithms``), what every run has (``runs``).

``catbox_app`` has the command; from Python: ``algorithms.ppo.training.train(load_config("quick"), "runs/mine")``.
"""
