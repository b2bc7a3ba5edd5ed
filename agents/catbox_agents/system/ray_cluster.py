"""Connects this process to a Ray cluster, quietly and with a timeout for every wait."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from catbox_agents.system.interpreter import python_command
from catbox_env.core.extras import install_line

#: How long an address may take to answer, in seconds.
TIME_TO_ANSWER = 30.0
#: The message about addresses of Ray Client.
_NO_CLIENT = (
    "this is an address of Ray Client, but catbox must be started on a machine of the cluster: log in to one, or "
    "submit the command with 'ray job submit', and use --ray-address auto"
)
_CONNECT = """
import ray
try:
    ray.init(address=sys.argv[1], logging_level="CRITICAL", log_to_driver=False)
except BaseException as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(1)
"""


def check_installed() -> None:
    """Raise ``ValueError``, with what to install, unless Ray is installed."""
    if importlib.util.find_spec("ray") is None:
        raise ValueError(f"Ray is not installed.\n{install_line('ray')}")


@contextmanager
def connected(address: str | None, num_cpus: int) -> Iterator[None]:
    """Connect to Ray until the end of the block; an existing connection is used, and kept.

    Args:
        address: of the head of a cluster (``"10.0.0.1:6379"``), ``"auto"`` for the cluster of this machine, or None:
            Ray is started on this machine, for this process alone, and stopped at the end of the block.
        num_cpus: how many cores Ray may use if ``address`` is None.

    Raises ``ValueError`` if Ray is not installed or the address is invalid, ``ConnectionError`` if no cluster answers
    within ``TIME_TO_ANSWER``.
    """
    check_installed()
    # Before Ray is imported: no usage statistics, and no warnings about its own settings.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray  # slow

    if ray.is_initialized():
        yield
        return
    if address is None:
        ray.init(
            "local", num_cpus=num_cpus, include_dashboard=False, logging_level="ERROR", log_to_driver=False
        )
    else:
        _check_answers(address)
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    # Raylets report every process that ends, to stderr; our own messages say it better.
    ray._private.worker._worker_logs_enabled = False
    try:
        yield
    finally:
        ray.shutdown()


def short_reason(error: BaseException) -> str:
    """The first sentence of the last line of Ray's ``error``, whose text may run over pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{(lines[-1] if lines else type(error).__name__).partition('. ')[0]:.200}".rstrip(".")


def _check_answers(address: str) -> None:
    """Raise unless a cluster answers at ``address``. Asks in another process: Ray itself may wait forever."""
    if "://" in address:
        raise ValueError(f"--ray-address {address}: {_NO_CLIENT}")
    try:
        found = subprocess.run(
            python_command(_CONNECT, address),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=TIME_TO_ANSWER,
            check=False,
        )
        reason = found.stdout.strip().partition("\n")[0]
    except subprocess.TimeoutExpired:
        reason = f"nothing within {TIME_TO_ANSWER:g} s"
    else:
        if found.returncode == 0:
            return
    raise ConnectionError(
        f"no Ray cluster answers at {address!r} ({reason:.300}); start one with 'ray start --head', name the address "
        "of its head, such as 10.0.0.1:6379, or 'auto' for the cluster of this machine"
    )
