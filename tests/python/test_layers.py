"""tools/lint_layers.py: what it finds in a tree that breaks the layers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lint(folder: Path, name: str, text: str) -> str:
    """What is said of a tree with the project's layers and one file."""
    for kept in ("tools/lint_layers.py", "docs/architecture.md"):
        (folder / kept).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / kept, folder / kept)
    files = {
        "python/roastcoffea/backends/shipping.py": 'CLIENT_ONLY = ("_roast.", "export/")\n',
        "python/roastcoffea/decorator.py": "from roastcoffea import measure\n",
        "python/roastcoffea/instrumentation.py": "",
        "python/roastcoffea/measure.py": "",
        name: text,
    }
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    command = [sys.executable, str(folder / "tools" / "lint_layers.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.stderr
    assert done.returncode == bool(done.stdout)
    return done.stdout


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("libroast/analyze/a.c", '\n#include "show/build.h"', ":2: analyze may not include show"),
        ("libroast/run/a.c", '#include "probe/chunk.h"', ":1: run may not include probe"),
        ("libroast/show/a.c", '#include "roast-report.h"', ":1: show may not include report"),
        ("libroast/rootfile/a.h", '#include "record/a.h"', ":1: rootfile may not include record"),
        ("libroast/probe/a.c", '#include "probe/linux/a.h"', ":1: probe may not include"),
        ("libroast/include/roast-run.h", '#include "run/run.h"', ":1: run may not include"),
        ("libroast/probe/a.c", "#include <link.h>", ":1: probe may not include <link.h>"),
        ("libroast/show/a.c", "#include <sqlite3.h>", ":1: show may not include <sqlite3.h>"),
        ("libroast/serve/a.c", "\nsqlite3_step(s);", ":2: serve may not call sqlite3_step"),
        ("libroast/fresh/a.c", '#include "util/buf.h"', ":1: fresh may not include util"),
        (
            "python/roastcoffea/measure.py",
            "import os\nfrom roastcoffea._roast import Run\n",
            ":2: worker-side modules may not import roastcoffea._roast",
        ),
    ],
)  # fmt: skip
def test_a_line_against_the_layers_is_named(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    assert f"{name}{said}" in lint(tmp_path, name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("libroast/serve/a.c", '#include <stdio.h>\n#include "roast-show.h"\n#include "util/a.h"'),
        ("libroast/probe/linux/a.c", '#include <linux/magic.h>\n#include "probe/linux/file.h"'),
        ("libroast/run/a.c", "#include <sqlite3.h>\nsqlite3_step(s);"),
        ("libroast/include/roast-compare.h", '#include "roast-run.h"'),
        ("libroast/v1/a.c", '#include "roast-metrics.def"'),
        ("python/roastcoffea/measure.py", "def late():\n    from roastcoffea import _roast\n"),
    ],
)
def test_what_the_layers_allow_is_not(tmp_path: Path, name: str, text: str) -> None:
    assert lint(tmp_path, name, text) == ""
