"""Answers as they are printed."""

from __future__ import annotations

from roastcoffea.answers import Explanation


def test_lines_of_a_finding_go_on_below_its_text() -> None:
    finding = {
        "rule": "ramp",
        "title": "Threads wait",
        "saves_s": 3.0,
        "share": 0.43,
        "estimated": False,
        "threshold": "from 10 % on",
        "evidence": ["word " * 40],
        "subjects": [],
        "try": "word " * 40,
    }
    told = Explanation({"findings": [finding], "checked": [], "elapsed_s": 7.0, "threads": 2.0})
    lines = str(told).splitlines()
    assert lines[0] == "1. Threads wait"
    assert lines[2].startswith("   - word word ")
    assert lines[3].startswith("     word word ")
    at = next(i for i, line in enumerate(lines) if line.startswith("   try: "))
    assert lines[at + 1].startswith(" " * len("   try: ") + "word ")
    assert "   rule ramp, from 10 % on" in lines
    assert all(line == line.rstrip() and len(line) <= 100 for line in lines)
