"""Shared by every test: hypothesis repeats the same examples on every machine and never judges by the clock."""

import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "catbox", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("catbox")


@pytest.fixture(scope="session", autouse=True)
def _signals_are_not_ignored() -> None:
    """What nohup or a script starts in its background ignores SIGHUP or SIGINT, and so would all that tests start.

    A terminal that is closed still does not end the tests themselves.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
