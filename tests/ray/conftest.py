"""A Ray cluster of two nodes on this machine."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.train.conftest import _no_picture, finished_run  # noqa: F401 (fixtures of these tests too)

collect_ignore_glob = [] if importlib.util.find_spec("ray") else ["test_*.py"]

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/ray" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("default"))  # Ray's own are many


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head with two cores, and a node with two more, ``cluster.other``."""
    import ray
    from ray.cluster_utils import Cluster

    logging.getLogger("ray").setLevel(logging.ERROR)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        made.other = made.add_node(num_cpus=2)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
