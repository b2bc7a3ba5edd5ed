"""Shared by every test: hypothesis repeats the same examples on every machine and never judges by the clock."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "catbox", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("catbox")
