"""These tests run in the environments of ``make test-versions``. Elsewhere they are left out."""

import sys
from pathlib import Path

collect_ignore = [] if Path(sys.prefix).parent.name == ".versions" else ["test_extras.py"]
