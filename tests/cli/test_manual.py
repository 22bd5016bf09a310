"""The manual and the metrics reference, held against the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from command import ROAST, ROOT

MANUAL = ROOT / "docs" / "roast.1"


def help_of(*verb: str) -> str:
    return subprocess.run(
        [ROAST, *verb, "--help"], capture_output=True, text=True, check=True
    ).stdout


def verbs() -> list[str]:
    return re.findall(r"^  ([a-z]+) +\S", help_of(), re.M)


def section(verb: str) -> str:
    """The manual's source about one verb."""
    found = re.search(rf"^\.Ss {verb}\n(.*?)^\.S[sh] ", MANUAL.read_text(), re.M | re.S)
    assert found, f"the manual has no section {verb!r}"
    return found.group(1)


def test_the_manual_has_a_section_and_a_synopsis_for_every_verb() -> None:
    text = MANUAL.read_text()
    assert re.findall(r"^\.Ss (\w+)$", text, re.M) == verbs()
    assert re.findall(r"^\.Nm\n\.Cm (\w+)$", text.split(".Sh DESCRIPTION")[0], re.M) == verbs()


@pytest.mark.parametrize("verb", verbs())
def test_the_manual_explains_every_option_of_a_verb(verb: str) -> None:
    said = dict(re.findall(r"^\.It Fl (\w) , -([\w-]+)", section(verb), re.M))
    has = dict(re.findall(r"^  -(\w), --([\w-]+)", help_of(verb), re.M))
    assert {**said, "h": "help"} == has


@pytest.mark.parametrize("verb", verbs())
def test_the_synopsis_has_every_option_of_a_verb(verb: str) -> None:
    synopsis = MANUAL.read_text().split(".Sh SYNOPSIS")[1].split(".Sh ")[0]
    (lines,) = re.findall(rf"^\.Cm {verb}\n(.*?)^\.Nm$", synopsis, re.M | re.S)
    has = re.findall(r"^  -(\w), --", help_of(verb), re.M)
    assert sorted([*re.findall(r"\bFl (\w)\b", lines), "h"]) == sorted(has)


@pytest.mark.parametrize("verb", ["show", "explain"])
def test_help_and_manual_name_the_keys_of_the_json(verb: str) -> None:
    run = ROOT / "tests" / "data" / "vine-logs"
    answer = subprocess.run([ROAST, verb, "-f", "json", run], capture_output=True, check=True)
    (keys,) = re.findall(r"JSON is {(.*?)}", help_of(verb), re.S)
    assert re.findall(r'"(\w+)"', keys) == list(json.loads(answer.stdout))
    if verb == "show":
        (keys,) = re.findall(r'^({"run": .*?)^\.Ed', MANUAL.read_text(), re.M | re.S)
        assert re.findall(r'"(\w+)"', keys) == list(json.loads(answer.stdout))


def test_the_manual_explains_every_table() -> None:
    (line,) = re.findall(r"^Tables: (.*)$", help_of("show"), re.M)
    assert re.findall(r"^\.It Cm (\w+)$", section("show"), re.M) == line.split()


def test_the_manual_explains_every_format() -> None:
    formats = MANUAL.read_text().split(".Sh FORMATS")[1].split(".Sh ")[0]
    (line,) = re.findall(r"--format (\S+)\]", help_of("list"))
    assert re.findall(r"^\.It Cm (\w+)$", formats, re.M) == line.split("|")


@pytest.mark.parametrize(
    "command",
    [["man", "--warnings", "-E", "UTF-8", "-l"], ["mandoc", "-T", "lint", "-W", "warning"]],
)
def test_the_manual_renders_without_warnings(command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, MANUAL], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""


def test_the_metrics_reference_is_current() -> None:
    command = [sys.executable, ROOT / "tools" / "metrics_reference.py", "--roast", ROAST, "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_tables_of_the_pages_are_current() -> None:
    command = [sys.executable, ROOT / "tools" / "page_tables.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_help_lists_the_rules_in_the_order_of_the_page() -> None:
    page = (ROOT / "docs" / "explain.md").read_text()
    said = re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", page, re.M)
    assert said == re.findall(r"^  ([a-z-]+) +(.*\?)$", help_of("explain"), re.M)
