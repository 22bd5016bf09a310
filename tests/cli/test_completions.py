"""Completion of `roast` in the shells themselves, held against what `roast --help` lists.

bash and zsh complete in a terminal of their own: the keys are typed, the line is run, and a
function in the place of `roast` prints the words it got. fish can be asked.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import ROAST, ROOT

COMPLETIONS = ROOT / "completions"

EXPORT_FORMATS = ["chrome-trace", "csv", "json", "jsonl", "markdown", "openmetrics", "v1"]
ALL, ONE = b"\x18a", b"\t"  # insert every completion; complete

Complete = Callable[..., list[str]]


def help_of(*verb: str) -> str:
    return subprocess.run(
        [ROAST, *verb, "--help"], capture_output=True, text=True, check=True
    ).stdout


def verbs() -> dict[str, str]:
    """The verbs and their summaries, as `roast --help` lists them."""
    return dict(re.findall(r"^  ([a-z]+) +(\S.*)$", help_of(), re.M))


def tables() -> list[str]:
    (line,) = re.findall(r"^Tables: (.*)$", help_of("show"), re.M)
    return sorted(line.split())


def options(verb: str) -> list[str]:
    return sorted(re.findall(r"^  (?:-\w,|   ) (--[\w-]+)", help_of(verb), re.M))


def formats(verb: str) -> list[str]:
    (words,) = re.findall(r"--format ([a-z|]+)\]", help_of(verb))
    return sorted(words.split("|"))


def keys() -> list[str]:
    text = subprocess.run([ROAST, "metrics", "-f", "csv"], capture_output=True, text=True).stdout
    return sorted(line.split(",")[0] for line in text.splitlines()[1:])


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with runs, another file, and a directory."""
    for name in ("one.roast", "two words.roast", "other.txt", "open.root", "parsl.db"):
        (tmp_path / name).touch()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "three.roast").touch()
    return tmp_path


# ---- the shells --------------------------------------------------------------------------------

SAY = "roast() { printf '<%s>' \"$@\"; printf '\\n'; }\n"

BASH = f"""PS1=; PS2=; HISTFILE=
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'
bind '"\\C-xa": insert-completions'
source {COMPLETIONS}/roast.bash
{SAY}"""

ZSH = f"""PROMPT=; RPROMPT=; PS2=; unset HISTFILE; unsetopt prompt_sp prompt_cr beep
fpath=(FPATH $fpath)
autoload -Uz compinit && compinit -u -d FPATH/dump
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:all-matches::::' completer _all_matches _complete
{SAY}"""


def typed(command: list[str], start: str, keys: bytes, directory: Path) -> list[str]:
    """Type into a shell on a terminal; return the words that `roast` got."""
    master, slave = pty.openpty()
    environment = {
        "PATH": f"{Path(ROAST).parent}:/usr/bin:/bin",
        "HOME": str(directory),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    shell = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, cwd=directory, env=environment
    )
    os.close(slave)
    try:
        os.write(master, start.encode() + b"echo rea''dy\n")
        read_until(master, rb"\nready\r?\n")
        os.write(master, keys)
        time.sleep(0.1)
        os.write(master, b"\n")
        answer = read_until(master, rb"\n(<[^\r\n]*>)\r?\n")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)
    return re.findall(r"<(.*?)>", answer)


def read_until(terminal: int, pattern: bytes) -> str:
    """Read what the shell shows until it matches; return the last group."""
    seen = b""
    deadline = time.monotonic() + 30
    while not (found := re.search(pattern, seen)):
        assert time.monotonic() < deadline, seen
        seen += os.read(terminal, 65536)
    return found.group(found.lastindex or 0).decode()


def bash(line: str, directory: Path, how: bytes = ALL) -> list[str]:
    """Complete in bash: every match in place of the last word, or (ONE) what Tab makes of it."""
    command = ["bash", "--norc", "--noprofile", "-i"]
    return typed(command, BASH, line.encode() + how, directory)


def zsh(line: str, directory: Path, how: bytes = ALL) -> list[str]:
    """Complete in zsh, as in bash."""
    place = directory / ".functions"
    place.mkdir(exist_ok=True)
    shutil.copy(COMPLETIONS / "roast.zsh", place / "_roast")
    start = ZSH.replace("FPATH", str(place))
    return typed(["zsh", "-f", "-i"], start, line.encode() + how, directory)


def fish(line: str, directory: Path, how: bytes = ALL) -> list[str]:
    """Ask fish what it would complete; the words before are as they were typed."""
    script = f"source {COMPLETIONS}/roast.fish; complete -C $argv[1]"
    environment = {"PATH": f"{Path(ROAST).parent}:/usr/bin:/bin", "HOME": str(directory)}
    answer = subprocess.run(
        ["fish", "--no-config", "-c", script, line],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    words = line.split()[1:] if line.endswith(" ") else line.split()[1:-1]
    found = [match.split("\t")[0] for match in answer.stdout.splitlines()]
    return [*words, *found]


@pytest.fixture(params=[bash, zsh, fish], ids=lambda shell: str(shell.__name__))
def complete(request: pytest.FixtureRequest, directory: Path) -> Complete:
    """Complete a line in a shell; returns the words that `roast` would get."""
    shell = request.param
    if not shutil.which(shell.__name__):
        pytest.skip(f"{shell.__name__} is not installed")
    return lambda line, how=ALL: shell(line, directory, how)


# ---- what they complete ------------------------------------------------------------------------


def test_every_verb_is_offered(complete: Complete) -> None:
    assert sorted(complete("roast ")) == sorted(verbs())


def test_a_verb_is_completed_from_its_beginning(complete: Complete) -> None:
    assert complete("roast me", ONE) == ["metrics"]


@pytest.mark.parametrize("verb", verbs())
def test_every_option_of_a_verb_is_offered(complete: Complete, verb: str) -> None:
    found = [word.rstrip("=") for word in complete(f"roast {verb} --")]
    assert sorted(found) == sorted([verb, *options(verb)])


@pytest.mark.parametrize("verb", [verb for verb in verbs() if "--format" in options(verb)])
def test_every_format_is_offered(complete: Complete, verb: str) -> None:
    offered = EXPORT_FORMATS if verb == "export" else formats(verb)
    assert sorted(complete(f"roast {verb} -f ")[2:]) == offered
    for name in offered:
        assert name in help_of(verb)


def test_every_part_of_a_run_is_offered_to_export(complete: Complete) -> None:
    parts = ["chunks", "files", "metrics", "sections", "series", "tasks"]
    assert sorted(complete("roast export --what ")[2:]) == parts
    for name in parts:
        assert name in help_of("export")


@pytest.mark.parametrize("option", ["--format ", "--format="])
def test_a_format_is_completed_behind_the_long_option(complete: Complete, option: str) -> None:
    words = complete(f"roast show {option}m", ONE)
    assert words[-1].removeprefix("--format=") == "markdown"


def test_every_table_is_offered(complete: Complete) -> None:
    words = complete("roast show --table ")
    assert sorted(words[2:]) == tables()


def test_runs_and_directories_are_offered_to_show(complete: Complete) -> None:
    assert complete("roast show on", ONE) == ["show", "one.roast"]
    assert complete("roast show tw", ONE) == ["show", "two words.roast"]
    assert complete("roast show runs/t", ONE) == ["show", "runs/three.roast"]
    assert complete("roast show o") == ["show", "one.roast"]


def test_databases_are_offered_to_import(complete: Complete) -> None:
    assert complete("roast import p", ONE) == ["import", "parsl.db"]


def test_runs_and_files_of_tokens_are_offered_to_serve(complete: Complete) -> None:
    assert complete("roast serve on", ONE) == ["serve", "one.roast"]
    assert complete("roast serve -t oth", ONE) == ["serve", "-t", "other.txt"]


def test_what_belongs_to_an_option_of_another_verb_is_not_offered(complete: Complete) -> None:
    assert "chunks" not in complete("roast predict --workers ")
    assert "chunks" not in complete("roast predict -w ")
    assert "throughput" not in complete("roast serve -t ")


def test_root_files_are_offered_to_inspect(complete: Complete) -> None:
    assert complete("roast inspect o") == ["inspect", "open.root"]


def test_directories_are_offered_to_list(complete: Complete) -> None:
    assert [word.rstrip("/") for word in complete("roast list ")] == ["list", "runs"]


def test_metrics_are_offered_by_their_keys(complete: Complete) -> None:
    assert complete("roast metrics core_e", ONE) == ["metrics", "core_efficiency"]
    wanted = [key for key in keys() if key.startswith("chunk_")]
    assert sorted(complete("roast metrics chunk_")) == sorted(["metrics", *wanted])


# ---- what the shells ask, also where one is missing ---------------------------------------------


def offered(*words: str) -> list[str]:
    done = subprocess.run([ROAST, "--complete", *words], capture_output=True, text=True, check=True)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_values_are_offered_as_each_shell_splits_the_word() -> None:
    assert offered("show", "--format=m") == ["--format=markdown"]
    assert offered("show", "--format", "=", "m") == ["markdown"]
    assert offered("show", "--format", "=") == ["text", "json", "markdown", "csv"]
    assert offered("show", "-f", "m") == ["markdown"]


def test_nothing_is_offered_behind_what_is_no_verb() -> None:
    assert offered("shwo", "") == []
    assert offered() == []
