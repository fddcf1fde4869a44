"""`python -m benchmarks [NAME ...]`: run them all, or those named, and print the table."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.timing import Row


def main(wanted: list[str]) -> int:
    """Print one row per measurement; 1 if a limit was missed."""
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    table = Table("what", "measured", "against", "reference", "ratio", "limit", "held")
    rows: list[Row] = []
    for name in names:
        if wanted and name.removeprefix("bench_") not in wanted:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += importlib.import_module(f"benchmarks.{name}").rows()
    for row in rows:
        cells = row.what, f"{row.measured:.4g} s", row.against, f"{row.reference:.4g} s", f"{row.ratio:.3g}"
        table.add_row(*cells, f"{row.limit:g}", "yes" if row.held else "NO")
    Console(width=140).print(table)
    return 0 if all(row.held for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
