"""The command line from any arguments.

Arguments are drawn from the verbs and options of the manual, names of good, damaged and missing
files, and hostile values. However they come, `roast` ends by itself with one of its own exit
codes, says why if it is not 0, and changes no file that it was given. Each command is made from
the seed and its number alone. ``ROAST_FUZZ_COMMANDS=5000`` tries more of them, ``ROAST_FUZZ_SEED``
others.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from command import ROAST, ROOT, make_run

SEED = int(os.environ.get("ROAST_FUZZ_SEED", "11"))
COMMANDS = int(os.environ.get("ROAST_FUZZ_COMMANDS", "250"))
LIMIT_S = 60

# serve and watch go on until they are told to end: other tests see to them
VERBS = (
    "show", "explain", "predict", "report", "list", "compare", "scaling", "check", "inspect",
    "export", "import", "metrics",
)  # fmt: skip
VALUES = (
    "", "-", "--", "0", "-1", "1e309", "nan", "99999999999999999999", "0x10", "1,2,,3", "é", "\xff",
    "%s%n%s", "a" * 5000, "../..", "/", "/dev/null", "json", "csv", "text", "markdown", "v1",
    "openmetrics", "chrome-trace", "chunks", "series", "total_events", "5%", "80", "*",
    "'; DROP TABLE chunks; --",
)  # fmt: skip
DAMAGES = 6


def help_of(verb: str) -> str:
    return subprocess.run([ROAST, verb, "--help"], capture_output=True, text=True).stdout


@cache
def options() -> list[str]:
    """Return the options of manual and help, but for -o: what that names is overwritten."""
    short = re.findall(r"Fl ([A-Za-z])\b", (ROOT / "docs/roast.1").read_text())
    long = [option for verb in VERBS for option in re.findall(r"--[a-z][a-z-]+", help_of(verb))]
    found = ({f"-{letter}" for letter in short} | set(long)) - {"-o", "--output"}
    assert len(found) > 30
    return sorted(found)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Make files of every kind, in a directory of their own."""
    folder = tmp_path_factory.mktemp("inputs")
    made = []
    for kind in ("finished", "unfinished", "failed", "empty", "hostile"):
        made.append(folder / f"{kind}.roast")
        make_run(made[-1], kind)
    rng = random.Random(SEED)
    whole = made[0].read_bytes()
    for i in range(DAMAGES):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 20))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        made.append(folder / f"damaged-{i}.roast")
        made[-1].write_bytes(data[: rng.randrange(len(data))] if i % 2 else data)
    shutil.copytree(ROOT / "tests/data/vine-logs", folder / "vine-logs")
    (folder / "nothing").touch()
    (folder / "metrics.json").write_text('{"version": "1", "metrics": {"total_events": "many"}}')
    made += [folder / "vine-logs", folder / "nothing", folder / "metrics.json", folder]
    return [*made, folder / "missing.roast", *ROOT.glob("tests/fuzz/corpus/rootfile/*")]


def draw(number: int, files: list[Path]) -> list[str]:
    """Draw the arguments of a command."""
    rng = random.Random(f"{SEED}-{number}")
    known = options()
    arguments = [rng.choice(VERBS)] if rng.random() < 0.95 else []
    # Half of them have only files: an option that the verb does not know ends everything.
    span = rng.choice((0.45, 1.0))
    for _ in range(rng.randrange(6) if span == 1.0 else rng.randrange(3)):
        kind = rng.random() * span
        if kind < 0.45:
            arguments.append(str(rng.choice(files)))
        elif kind < 0.8:
            option = rng.choice(known)
            with_value = option.startswith("--") and rng.random() < 0.4
            arguments.append(f"{option}={rng.choice(VALUES)}" if with_value else option)
        else:
            arguments.append(rng.choice(VALUES))
    return arguments


def contents(files: list[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files if path.is_file()}


def test_any_arguments_end_in_an_answer_or_an_error(files: list[Path], tmp_path: Path) -> None:
    before = contents(files)
    codes = dict.fromkeys((0, 1, 2), 0)
    for number in range(COMMANDS):
        arguments = draw(number, files)
        done = subprocess.run(
            [ROAST, *arguments],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        told = f"command {number}: {arguments}\n{done.stderr[-3000:].decode(errors='replace')}"
        assert done.returncode in codes, told
        assert done.returncode != 2 or done.stderr, told
        # The escapes of the hostile run stay there; getopt repeats those that a user types himself.
        assert b"\x1b" not in done.stdout + done.stderr, told
        codes[done.returncode] += 1
    # Most are wrong, but not all: or the commands never get far.
    assert codes[0] > COMMANDS // 20, codes
    assert codes[2] > COMMANDS // 20, codes
    assert contents(files) == before
