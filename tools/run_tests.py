"""Runs every part of the test suite and ends with one listing over all of them.

python tools/run_tests.py [--fast] [PART ...]

A part is a command and a way to count what it ran: pytest tells in its JUnit
file, Meson in its JSON log, the linters in their closing lines. A part that
does not run, ends without counting a test, or fails without naming the failed
test counts as one failed test, so that nothing passes by being absent. The
last line is "N passed, N failed, N skipped"; the exit code is 1 if any failed.

Expects the installed package in .venv and the build directories build,
build-asan and build-tsan (`make test` sees to all of them).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
RESULTS = ROOT / "build" / "test-results"
PART_TIMEOUT_S = 1500

SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99:strict_string_checks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
}

RACES = {"TSAN_OPTIONS": f"exitcode=66:second_deadlock_stack=1:suppressions={ROOT}/tests/tsan.supp"}
#: Tests side by side; those that compare times are a part of their own. Most of those of the
#: command wait for a port, and more go on at once than there are cores; those of Python share
#: what their file has made, and the long files do not come last.
COMMANDS = ["-n", "4", "--dist", "worksteal"]
FILES = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]

#: What `make check` runs, without the tests that are marked `slow` or `timed`
FAST = ["lint", "unit", "cli", "python", "doctest"]

#: A tenth of what `make analyze` looks at, in a fifth of its time
ANALYZER_STATES = "20000"

#: The unit tests of what has threads; `make tsan` runs longer ones, too
THREADED = ["sampler", "probe", "probe-life", "probe-sources", "run-locks", "scaling"]


@dataclass
class Counts:
    """What became of the tests of one part."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many tests were counted."""
        return self.passed + len(self.failed) + len(self.skipped)


@dataclass(frozen=True)
class Part:
    """One command of the suite. It needs `path`, and `count` reads what it left behind."""

    name: str
    path: Path
    command: list[str]
    count: Callable[[str, Path], Counts]
    report: Path
    environment: Mapping[str, str] = field(default_factory=dict)


def count_checks(output: str, report: Path) -> Counts:
    """Count the lines "ok NAME" and "failed NAME" of tools/lint and tools/tidy."""
    return Counts(
        passed=len(re.findall(r"^ok \S+$", output, re.M)),
        failed=re.findall(r"^failed (\S+)$", output, re.M),
    )


def count_junit(output: str, report: Path) -> Counts:
    """Count the test cases of a JUnit file. An expected failure is a skip with its reason."""
    counts = Counts()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(name)
        elif skipped is not None:
            counts.skipped.append(f"{name}: {skipped.get('message') or 'no reason given'}")
        else:
            counts.passed += 1
    return counts


def count_meson(output: str, report: Path) -> Counts:
    """Count the cmocka tests inside each executable of Meson's JSON log."""
    counts = Counts()
    for line in report.read_text().splitlines():
        add_executable(counts, json.loads(line))
    return counts


def add_executable(counts: Counts, test: dict[str, str]) -> None:
    """Add one row of Meson's log. Without cmocka's lines the executable is one test."""
    name = test["name"].rsplit(":")[-1]
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    passed = re.findall(r"^\[ +OK +\] (.*)$", text, re.M)
    failed = re.findall(r"^\[ +FAILED +\] (?!\d+ test)(?:\S+: )?(\w+)$", text, re.M)
    # What a test prints before it calls skip() is its reason.
    skipped = re.findall(r"^\[ RUN +\] (\w+)\n([^\[]*)\[ +SKIPPED +\] \1$", text, re.M)
    counts.passed += len(passed)
    counts.failed += [f"{name}: {case}" for case in dict.fromkeys(failed)]
    counts.skipped += [
        f"{name}: {case}: {reason.strip() or 'no reason given'}" for case, reason in skipped
    ]
    result = test["result"]
    if result in ("OK", "EXPECTEDFAIL"):
        counts.passed += not (passed or skipped)
    elif result == "SKIP":
        counts.skipped.append(f"{name}: {text.strip() or 'no reason given'}")
    elif not failed:
        counts.failed.append(f"{name}: {result}")


def checker_part(name: str, program: str, *arguments: str) -> Part:
    """Describe a run of tools/PROGRAM."""
    tool = ROOT / "tools" / program
    return Part(name, tool, [str(tool), *arguments], count_checks, tool)


def pytest_part(name: str, path: Path, *arguments: str, **environment: str) -> Part:
    """Describe a run of pytest in an environment."""
    report = RESULTS / f"{name}.xml"
    command = [str(BIN / "python"), "-m", "pytest", "-q", f"--junit-xml={report}", *arguments]
    return Part(name, path, command, count_junit, report, environment)


def meson_part(name: str, build: str, *arguments: str, **environment: str) -> Part:
    """Describe a run of the C unit tests in a build directory, or of some of them."""
    path = ROOT / build
    command = [str(BIN / "meson"), "test", "-C", str(path), "--print-errorlogs", *arguments]
    report = path / "meson-logs" / "testlog.json"
    return Part(name, path, command, count_meson, report, environment)


def parts(fast: bool) -> list[Part]:
    """List the suite, in the order in which it runs; without slow tests if it is to be fast."""
    marks = ["-m", "not timed and not long" + " and not slow" * fast]
    installed = BIN / "roast"
    sanitized = ROOT / "build-asan" / "cli" / "roast"
    cli = ROOT / "tests" / "cli"
    return [
        checker_part("lint", "lint"),
        checker_part("tidy", "tidy"),
        checker_part("analyze", "tidy", ANALYZER_STATES),
        meson_part("unit", "build", *["--no-suite", "timed"] * fast),
        meson_part("unit-asan", "build-asan", **SANITIZERS),
        meson_part("tsan", "build-tsan", *THREADED, **RACES),
        pytest_part("cli", cli, str(cli), *COMMANDS, *marks, ROAST=str(installed)),
        pytest_part(
            "cli-asan",
            cli,
            str(cli),
            f"--ignore={cli / 'test_completions.py'}",  # which is about shells
            *COMMANDS,
            *marks,
            ROAST=str(sanitized),
            **SANITIZERS,
        ),
        pytest_part("page", ROOT / "tests" / "page", "tests/page", *FILES, *marks),
        pytest_part("python", ROOT / "tests" / "python", "tests/python", *FILES, *marks),
        pytest_part("timed", ROOT / "tests", "tests/cli", "tests/python", "-m", "timed"),
        pytest_part("packaging", ROOT / "tests" / "packaging", "tests/packaging"),
        pytest_part(
            "doctest",
            ROOT / "python" / "roastcoffea",
            "--doctest-modules",
            "--collect-in-virtualenv",
            "--pyargs",
            "roastcoffea",
        ),
    ]


def run(part: Part) -> Counts:
    """Run a part, show its output as it comes, and count."""
    if not part.path.exists():
        where = part.path.relative_to(ROOT)
        return Counts(failed=[f"did not run: there is no {where}"])
    if part.report.suffix in (".xml", ".json"):
        part.report.unlink(missing_ok=True)
    status, output = run_command(part)
    try:
        counts = part.count(output, part.report)
    except (OSError, ValueError, ElementTree.ParseError) as error:
        counts = Counts(failed=[f"no result to count: {status or error}"])
    if status and not counts.failed:
        counts.failed.append(f"the command ended with {status}")
    if not counts.total:
        counts.failed.append("ran no test")
    return counts


def run_command(part: Part) -> tuple[str, str]:
    """Run the command of a part; return why it failed, empty if it did not, and its output."""
    output: list[str] = []
    timed_out = False

    def end_session(*_: object) -> None:
        nonlocal timed_out
        timed_out = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    with subprocess.Popen(
        part.command,
        cwd=ROOT,
        env={**os.environ, **part.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        # A part that hangs, or leaves something behind that does, must not hang
        # the suite: its whole session is ended.
        signal.signal(signal.SIGALRM, end_session)
        signal.alarm(PART_TIMEOUT_S)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                print(line, end="", flush=True)
                output.append(line)
            code = process.wait()
        except BaseException:
            end_session()
            raise
        finally:
            signal.alarm(0)
    if timed_out:
        return f"its end after {PART_TIMEOUT_S} s", "".join(output)
    return f"exit {code}" if code > 0 else f"signal {-code}" if code else "", "".join(output)


def print_listing(results: dict[str, tuple[Counts, float]]) -> None:
    """Print a row for each part, what was skipped and why, what failed, and the sum."""
    passed, failed, skipped = 0, [], []
    print(f"\n{'part':<12}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for part, (counts, seconds) in results.items():
        row = f"{counts.passed:>8}{len(counts.failed):>8}{len(counts.skipped):>9}"
        print(f"{part:<12}{row}{seconds:>9.1f}")
        passed += counts.passed
        failed += [f"{part}: {name}" for name in counts.failed]
        skipped += [f"{part}: {reason}" for reason in counts.skipped]
    for title, names in (("skipped", skipped), ("failed", failed)):
        if names:
            print(f"\n{title}:", *names, sep="\n  ")
    print(f"\n{passed} passed, {len(failed)} failed, {len(skipped)} skipped", flush=True)


def main() -> int:
    """Run the named parts, or all."""
    names = ", ".join(part.name for part in parts(fast=False))
    parser = argparse.ArgumentParser(description="Run the test suite and count over all parts.")
    parser.add_argument("--fast", action="store_true", help=f"only {', '.join(FAST)}; no slow test")
    parser.add_argument("part", nargs="*", help=f"one of {names}; all if none is named")
    arguments = parser.parse_args()
    suite = {part.name: part for part in parts(arguments.fast)}
    unknown = sorted(set(arguments.part) - set(suite))
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")

    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    results = {}
    for name in arguments.part or (FAST if arguments.fast else suite):
        print(f"\n==== {name}", flush=True)
        begin = time.monotonic()
        results[name] = run(suite[name]), time.monotonic() - begin
    print_listing(results)
    return any(counts.failed for counts, _ in results.values())


if __name__ == "__main__":
    sys.exit(main())
