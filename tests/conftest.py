"""Shared by every test: hypothesis repeats the same examples on every machine and never judges by the clock.

Signals do what they do in a terminal, also where the tests were started with nohup or in the background of a script:
what runs there, and every process it starts, ignores SIGINT and SIGHUP.
"""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "catbox", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("catbox")

signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
