"""Tests with toolkits, each in the environment of its toolkit: ``make test-toolkits``. Elsewhere they are left out."""

import importlib.util
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is downloaded

TOOLKITS = [path.stem for path in Path(__file__).parent.glob("*.txt")]
collect_ignore = [f"test_{name}.py" for name in TOOLKITS if importlib.util.find_spec(name) is None]
