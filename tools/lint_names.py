"""Holds the names of C functions to the rule that lets grep find them.

python tools/lint_names.py

A static function in pages.c is called pages_...; in a file of several words, such as
vine-state.c, vine_... or vine_state_.... No two functions of libroast, the command and the
extensions share a name, but for those that each platform has. It reads what clang-format wrote:
a body begins in the first column. Exit 1 if a name breaks the rule.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("libroast", "cli", "python/native")
# [static] type name(parameters), and a brace in the first column
DEFINITION = re.compile(
    r"^(?:__attribute__.*?\)\) )?(static )?[A-Za-z_][^;={}()#]*?\b(\w+)\([^;{}]*\)\n\{",
    re.MULTILINE,
)


def has_prefix(name: str, stem: str) -> bool:
    """Whether the name begins with the file's, or is the file's."""
    whole = stem.replace("-", "_")
    first = whole.split("_")[0]
    return name in (first, whole) or name.startswith(first + "_")


def check(root: Path) -> list[str]:
    """What is wrong with the names, a line each."""
    wrong = []
    files: dict[str, str] = {}
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]")):
        file, text = str(path.relative_to(root)), path.read_text()
        for match in DEFINITION.finditer(text):
            static, name = match.groups()
            line = text.count("\n", 0, match.start(2)) + 1
            if static and path.suffix == ".c" and not has_prefix(name, path.stem):
                prefix = path.stem.replace("-", "_")
                wrong.append(f"{file}:{line}: static function {name} does not start with {prefix}_")
            if name == "main" or path.parent.name == "portable":
                continue
            if files.setdefault(name, file) != file:
                wrong.append(f"{file}:{line}: {name} is defined in {files[name]} and {file}")
    return wrong


def main() -> int:
    """Print what is wrong."""
    wrong = check(ROOT)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
