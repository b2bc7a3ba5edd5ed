"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from benchmarks import MEASUREMENTS, NAMED
from benchmarks import __doc__ as description
from benchmarks.report import Metric, machine, measure, table
from catbox_env.vector import device_adapter


def main() -> None:
    """Run the named measurements, by default all, and print one table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="measurements to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="a short run, only to check that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the metrics to this file")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in MEASUREMENTS]:
        parser.error(f"unknown measurement {unknown[0]!r}: expected one of {', '.join(MEASUREMENTS)}")
    if "gpu" in arguments.names:
        try:
            device_adapter("cuda").check_device("cuda")
        except ValueError as error:
            sys.exit(f"python -m benchmarks gpu: {error}")

    where = machine()
    print(where, flush=True)
    metrics: list[Metric] = []
    for name in arguments.names or [name for name in MEASUREMENTS if name not in NAMED]:
        print(f"measuring {name} ...", flush=True)
        for library in ("OMP", "OPENBLAS", "MKL"):
            os.environ[f"{library}_NUM_THREADS"] = str(MEASUREMENTS[name])
        # Its own process: no other measurement's memory, threads or warning filters affect it.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            metrics += fresh.submit(measure, name, arguments.quick).result()
    print(table(metrics))
    if arguments.json:
        record = {"machine": where, "metrics": [asdict(metric) for metric in metrics]}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
