"""Holds folders and modules to the layers that docs/architecture.md shows.

python tools/lint_layers.py [--graph]

A folder includes itself and what is left of it on a chain of that page; a public header counts as
its folder's. Modules that run on workers must not import, when they are loaded, what shipping.py
does not ship. Exit 1 if a line breaks a rule; --graph prints which folder includes which.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("libroast", "cli", "python/native")
#: Public headers that are not named after their folder
OWNERS = dict.fromkeys(("compare", "explain", "predict", "scaling"), "analyze")
OWNERS |= {"error": "util", "units": "util"}
#: Files that still speak SQL outside of run/: this list only gets shorter
SQL_LATER = "export/series|import/parsl.*|metrics/workers-now|report/(data|series)"
#: Headers and calls that only some files may have
KEPT = {
    r"<(linux/.*|(link|endian|sys/(epoll|prctl|random|statfs|syscall|sysinfo|vfs))\.h)>": (
        r"libroast/(probe/linux/.*|util/compat\.[ch])|cli/.*"
    ),
    r"<sqlite3\.h>|sqlite3_\w+": (
        rf"libroast/(run/.*|({SQL_LATER})\.[ch])|python/native/sqlite_choose\.c"
    ),
}
INCLUDE = re.compile(r'#\s*include (["<][^">]+[">])|\b(sqlite3_\w+)\(')


def allowed(root: Path) -> dict[str, set[str]]:
    """What each folder may include, from the chains of the architecture."""
    page = (root / "docs/architecture.md").read_text()
    may: dict[str, set[str]] = {}
    for line in re.findall(r"^    \w.* < .*", page.partition("\n## Layers\n")[2], re.MULTILINE):
        below: list[str] = []
        for names in (re.findall(r"[\w/]+", link) for link in line.split("<")):
            for name in names:
                may.setdefault(name, set()).update(below)
            below = names
    for _ in may:  # and what is below that
        for folders in may.values():
            folders.update(*(may[name] for name in list(folders)))
    return may


def layer_of(name: str, may: dict[str, set[str]]) -> str:
    """The layer of a file by its path, a public header's by its name."""
    if public := re.fullmatch(r"(?:include/)?roast-(\w+)\.(?:h|def)", name):
        return OWNERS.get(public[1], public[1])
    folders = [parent.as_posix() for parent in Path(name).parents][:-1]
    return next((folder for folder in folders if folder in may), "".join(folders[:1]))


def lint_c(root: Path, may: dict[str, set[str]], graph: set[tuple[str, str]]) -> Iterator[str]:
    """What is wrong with the includes of C files."""
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]")):
        file, text = path.relative_to(root).as_posix(), path.read_text()
        here = layer_of(file.removeprefix("libroast/"), may)
        for match in INCLUDE.finditer(text):
            what, ok = match[1] or match[2], True
            if what[0] == '"':
                there = layer_of(what[1:-1], may) or here
                graph.add((here, there))
                ok = there == here or there in may.get(here, ())
                private = file.startswith("libroast/include/") and not what.startswith('"roast-')
                what, ok = (what, False) if private else (there, ok)
            for pattern, home in KEPT.items():
                ok &= not re.fullmatch(pattern, what) or bool(re.fullmatch(home, file))
            if not ok:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{file}:{line}: {here} may not {'include' if match[1] else 'call'} {what}"


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """What a module imports of the package when it is loaded, unless it goes without."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("roastcoffea"):
            yield node.lineno, str(node.module)
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def lint_python(root: Path) -> Iterator[str]:
    """What is imported on workers: by their plugins, by what users decorate, and by those."""
    package = root / "python/roastcoffea"
    shipping = ast.parse((package / "backends/shipping.py").read_text()).body
    (line,) = (line for line in map(ast.unparse, shipping) if line.startswith("CLIENT_ONLY = "))
    client_only = ast.literal_eval(line.partition(" = ")[2])
    plugin = re.compile(r"^class \w+\((?:Worker|Scheduler)Plugin\)", re.MULTILINE)
    todo = [path for path in sorted(package.rglob("*.py")) if plugin.search(path.read_text())]
    todo += [package / "decorator.py", package / "instrumentation.py"]
    for path in todo:
        for at, name in imports(path):
            inner = name.removeprefix("roastcoffea.").replace(".", "/")
            if (inner + "/").startswith(client_only) or (inner + ".").startswith(client_only):
                yield f"{path.relative_to(root)}:{at}: worker-side modules may not import {name}"
            modules = [package / f"{inner}.py", package / inner / "__init__.py"]
            todo += [module for module in modules if module.is_file() and module not in todo]


def main() -> int:
    """Print what is wrong, and the graph if asked for it."""
    may, graph = allowed(ROOT), set[tuple[str, str]]()
    wrong = [f"docs/architecture.md: {name} is below itself" for name in may if name in may[name]]
    wrong += [*lint_c(ROOT, may, graph), *lint_python(ROOT)]
    arrows = [f"{above} -> {below}" for above, below in sorted(graph) if above != below]
    for line in wrong + (arrows if "--graph" in sys.argv else []):
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
