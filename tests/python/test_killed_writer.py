"""A writer that is killed at any moment: the file opens, and what was committed is there.

ROAST_KILLS says how often; `make kill` asks for 200.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roastcoffea._roast import Run

KILLS = int(os.environ.get("ROAST_KILLS", "20"))

# A line for each commit, written when commit() has returned. Rows of several tables and sizes:
# a short commit is one page of the log, a long one many, and the log is taken back now and then.
WRITER = """
import random, sys
from roastcoffea._probe import Records, encode_block
from roastcoffea._roast import Run

path, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
run = Run.create(path)
facts = workers = chunks = series = 0
for i in range(2000):
    for _ in range(rng.choice((1, 3, 300))):
        run.fact(f"fact.{facts}", facts)
        facts += 1
    run.add_worker_event(workers, 0, f"worker-{workers}", "host", 1, 2)
    workers += 1
    records = [
        {"dataset": "d", "file": f"{i}.root", "entry_start": j, "entry_stop": j + 1}
        for j in range(rng.choice((0, 1, 50)))
    ]
    if records:
        run.add_chunks(Records(records).to_bytes())
        chunks += len(records)
    run.add_series("worker-0", "x", encode_block([series], [[i]]))
    series += 1
    run.commit()
    print(facts, workers, chunks, series, flush=True)
run.finish()
print("finished", flush=True)
"""


def kill_after(path: Path, seed: int) -> tuple[int, ...]:
    """Let a writer go on for a random time, kill it, and return what it committed last."""
    rng = random.Random(seed)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(seed)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        committed = [writer.stdout.readline() for _ in range(rng.randrange(1, 40))]
        with pytest.raises(subprocess.TimeoutExpired):  # or it had nothing left to write
            writer.wait(rng.uniform(0.0, 0.02))
        writer.kill()
        committed += writer.stdout.read().splitlines()
    whole = [line for line in committed if len(line.split()) == 4]
    return tuple(int(word) for word in whole[-1].split())


def found(path: Path) -> tuple[int, ...]:
    """Count what is in a run file, by the library, which verifies every seal."""
    run = Run.open(path)
    facts = {name: value for name, value in run.facts().items() if name.startswith("fact.")}
    assert sorted(facts.values()) == list(range(len(facts)))  # type: ignore[type-var]
    workers = run.columns("worker_event", ["utc_ns"])["utc_ns"]
    chunks = run.columns("chunk", ["entry_start"])["entry_start"]
    series = run.series("worker-0", "x")[0]
    counts = len(facts), len(workers) // 8, len(chunks) // 8, len(series) // 8
    run.close()
    return counts


@pytest.mark.timeout(30 + 5 * KILLS)
def test_whatever_was_committed_survives_a_kill(tmp_path: Path) -> None:
    lasts = []
    for seed in range(KILLS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / "live.roast"
        committed = kill_after(path, seed)
        # The last line may be of the commit before the one that was done when the kill came.
        read = found(path)
        assert all(r >= c for r, c in zip(read, committed, strict=True)), (seed, committed, read)
        subprocess.run(
            [Path(sys.executable).with_name("roast"), "check", path], check=True, timeout=60
        )
        assert found(path) == read  # opening and checking changes nothing
        lasts.append(committed)
        shutil.rmtree(folder)
    assert len(set(lasts)) > KILLS // 2  # the kills came at different moments
