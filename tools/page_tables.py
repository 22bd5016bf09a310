"""Writes the tables of docs/ that follow from the code.

python tools/page_tables.py [--check]

A page has them between two comments. With --check nothing is written: exit 1 if a page is not
what it would be.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from roastcoffea._roast import outcomes, rules, tables

DOCS = Path(__file__).resolve().parent.parent / "docs"


def markdown(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Make a table."""
    titles = list(titles)
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def rules_table() -> str:
    """Make a row for each rule of libroast/analyze/explain.c."""
    rows = ((f"`{name}`", asks, when, advice) for name, asks, when, advice in rules())
    return markdown(("rule", "asks", "speaks up", "try"), rows)


def since(minor: int, of: int = 0) -> str:
    """Say since which version there is something, if not as long as what it is part of."""
    return f" (since {1000 + minor})" if minor > of else ""


def format_tables() -> str:
    """Make the list of tables, and the columns of each."""
    rows = (
        (number, f"[`{name}`](#table-{name})", what + since(version))
        for number, (name, what, version, _) in enumerate(tables(), 1)
    )
    parts = [markdown(("no", "table", "a row is"), rows)]
    for name, _, version, columns in tables():
        parts.append(f"### Table {name}\n")
        described = (
            (f"`{stored}`", unit, title, meaning + since(minor, version))
            for _, stored, _, unit, minor, title, meaning in columns
        )
        parts.append(markdown(("column", "unit", "title", "meaning"), described))
    return "\n".join(parts)


def outcomes_table() -> str:
    """Make a row for each outcome of libroast/record/outcomes.def."""
    return markdown(("outcome", "name", "meaning"), outcomes())


PARTS: dict[tuple[str, str], Callable[[], str]] = {
    ("explain.md", "rules"): rules_table,
    ("format.md", "tables"): format_tables,
    ("format.md", "outcomes"): outcomes_table,
}


def main() -> int:
    """Write the pages, or check them."""
    stale = set()
    for (page, part), make in PARTS.items():
        text = (DOCS / page).read_text(encoding="utf-8")
        begin = f"<!-- {part}: written by tools/page_tables.py -->\n"
        end = f"<!-- end of {part} -->"
        head, rest = text.split(begin)
        made = f"{head}{begin}{make()}{end}{rest.split(end)[1]}"
        if made != text and "--check" in sys.argv:
            stale.add(page)
        elif made != text:
            (DOCS / page).write_text(made, encoding="utf-8")
    for page in sorted(stale):
        print(f"docs/{page} is not current: run make docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
