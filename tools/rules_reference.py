"""Writes the table of rules into docs/explain.md.

python tools/rules_reference.py [--check]

The rules are those of libroast/analyze/explain.c. With --check nothing is written: exit 1 if the
table is not what it would be.
"""

from __future__ import annotations

import sys
from pathlib import Path

from roastcoffea._roast import rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explain.md"
BEGIN, END = "<!-- rules: written by tools/rules_reference.py -->\n", "<!-- end of rules -->\n"


def table() -> str:
    """Make the table, a row for each rule."""
    lines = ["| rule | asks | speaks up | try |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {asks} | {when} | {advice} |" for name, asks, when, advice in rules()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, or check it."""
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    wanted = head + BEGIN + table() + END + tail
    if "--check" in sys.argv:
        if text == wanted:
            return 0
        print("docs/explain.md is not current: run make docs", file=sys.stderr)
        return 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
