"""`roast report`: what it writes and what it refuses. The page itself: tests/page."""

from __future__ import annotations

from pathlib import Path

from command import make_run, roast


def test_a_page_is_written_and_replaced(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run.roast", "finished")
    page = tmp_path / "page.html"
    page.write_text("older")
    result = roast("report", run, "-o", page)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run.roast"]


def test_an_unfinished_run_has_a_page(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run.roast", "unfinished")
    assert roast("report", "--output", tmp_path / "page.html", run).returncode == 0


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run.roast", "empty")
    for words in (
        ["report"],
        ["report", run],
        ["report", "-o", tmp_path / "x.html"],
        ["report", run, "-o", tmp_path],
        ["report", run, "-o", "/nowhere/x.html"],
        ["report", tmp_path / "none.roast", "-o", tmp_path / "x.html"],
    ):
        result = roast(*words)
        assert result.returncode == 2, words
        assert result.stderr.startswith("roast report: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.roast"]


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run.roast", "empty")
    assert roast("report", run, "-o", "/dev/null").returncode == 2
    assert Path("/dev/null").is_char_device()


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run.roast", "empty")
    (tmp_path / "there").mkdir()
    page, link, pipe = tmp_path / "there/page.html", tmp_path / "link.html", tmp_path / "stdout"
    page.write_text("older")
    link.symlink_to(page)
    assert roast("report", run, "-o", link).returncode == 0
    assert link.is_symlink()
    assert page.read_text().startswith("<!doctype html>")
    pipe.symlink_to("/proc/self/fd/1")
    refused = roast("report", run, "-o", pipe)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is not a plain file" in refused.stderr
    assert pipe.is_symlink()


def test_several_runs_are_compared_on_a_page(tmp_path: Path) -> None:
    a, b = (make_run(tmp_path / f"{kind}.roast", kind) for kind in ("finished", "large"))
    page = tmp_path / "page.html"
    for words in ([a, b], [a, "--", b], [a, b, "--", a]):
        result = roast("report", *words, "-o", page)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        assert page.read_text().startswith("<!doctype html>")
        page.unlink()
    for words in ([a, "--"], ["--", a], [a, tmp_path / "none.roast"]):
        result = roast("report", *words, "-o", page)
        assert result.returncode == 2
        assert result.stderr.startswith("roast report: ")
        assert not page.exists()


def test_a_run_is_never_replaced_by_a_page(tmp_path: Path) -> None:
    a, b, c = (make_run(tmp_path / f"{name}.roast", "finished") for name in "abc")
    begun = make_run(tmp_path / "begun.roast", "unfinished")
    (tmp_path / "link.html").symlink_to(a)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for words in (
        ["-o", a, b, c],  # -o *.roast
        ["-o", a, b],
        ["-o", a, a],
        ["-o", begun, a],
        ["-o", tmp_path / "link.html", b],
    ):
        result = roast("report", *words)
        assert result.returncode == 2, words
        assert "and is not overwritten" in result.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
