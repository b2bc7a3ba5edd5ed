"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from benchmarks import MEASUREMENTS
from benchmarks import __doc__ as description
from benchmarks.report import Metric, machine, table


def main() -> None:
    """Measure what was named (everything when nothing was) and print one table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"any of {', '.join(MEASUREMENTS)}; none means all"
    )
    parser.add_argument("--quick", action="store_true", help="a short run, only to see that it works")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the metrics here")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"unknown measurement {unknown[0]!r}: expected one of {', '.join(MEASUREMENTS)}")

    names = arguments.names or list(MEASUREMENTS)
    where = machine()
    print(where, flush=True)
    metrics: list[Metric] = []
    for name in names:
        if arguments.in_process:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
                signal.signal(signal.SIGINT, _stop_once)
            metrics += importlib.import_module(f"benchmarks.{name}").measure(arguments.quick)
        else:
            print(f"measuring {name} ...", flush=True)
            metrics += _in_own_process(name, arguments.quick)
    if metrics:
        print(table(metrics))
    if arguments.json:
        record = {"machine": where, "metrics": [asdict(metric) for metric in metrics]}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


def _stop_once(number: int, frame: FrameType | None) -> None:
    """The terminal and the process that measures may both send Ctrl-C: the second one must not stop the tidying up."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _in_own_process(name: str, quick: bool) -> list[Metric]:
    """One measurement in a fresh process: no other's memory, threads or warnings filters touch it."""
    threads = str(MEASUREMENTS[name])
    environment = os.environ | {
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "SDL_VIDEODRIVER": "dummy",
        "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "metrics.json"
        command = [sys.executable, "-m", "benchmarks", name, "--in-process", "--json", str(file)]
        process = subprocess.Popen(command + ["--quick"] * quick, env=environment, stdout=subprocess.DEVNULL)
        try:
            code = process.wait()
        except KeyboardInterrupt:
            if os.name == "posix":  # elsewhere Ctrl-C always reaches all processes of the console
                process.send_signal(signal.SIGINT)
            process.wait()  # it removes what it has made
            raise
        if code:
            sys.exit(f"python -m benchmarks {name} ended with exit code {code}: its error is above")
        return [Metric(**metric) for metric in json.loads(file.read_text())["metrics"]]


if __name__ == "__main__":
    main()
