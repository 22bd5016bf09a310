"""`make docs` makes the site without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import roastcoffea

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_site_is_made_without_warnings_and_its_reference_has_every_public_name(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    command += ["-d", str(tmp_path / "doctrees"), str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = {page.stem for page in (tmp_path / "site").glob("*.html")}
    assert {page.stem for page in DOCS.glob("*.md")} <= made
    reference = (tmp_path / "site" / "api.html").read_text()
    for name in sorted(set(roastcoffea.__all__) - {"__version__"}):
        assert f'id="roastcoffea.{name}"' in reference, name
