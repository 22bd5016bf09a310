"""The demo: its data, its analysis, and the two together under the collector."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot
from clusters import local_cluster
from coffea.processor import DaskExecutor, IterativeExecutor, Runner
from distributed import Client
from hist import Hist

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))  # worker processes inherit it

import demo  # noqa: E402
from analysis import DemoSchema, DimuonProcessor, z_peak  # noqa: E402
from make_data import make_data  # noqa: E402

pytestmark = pytest.mark.slow

Fileset = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def fileset(tmp_path_factory: pytest.TempPathFactory) -> Fileset:
    directory = tmp_path_factory.mktemp("data")
    return make_data(directory, files=2, events_per_file=6_000, basket_events=1_500)


@pytest.fixture(scope="module")
def iterative(fileset: Fileset) -> tuple[dict[str, Any], dict[str, Any]]:
    return analyse(fileset, IterativeExecutor(status=False))


def analyse(fileset: Fileset, executor: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    runner = Runner(executor=executor, schema=DemoSchema, chunksize=2_000, savemetrics=True)
    output, report = runner(fileset, DimuonProcessor())
    return output, report


def only_file(fileset: Fileset, dataset: str) -> Path:
    (path,) = fileset[dataset]["files"]
    return Path(path)


# ---- data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["DYJets", "TTbar"])
def test_a_file_has_the_shape_of_nanoaod(fileset: Fileset, dataset: str) -> None:
    with uproot.open(only_file(fileset, dataset)) as file:
        tree = file["Events"]
        assert tree.classname == "TTree"
        assert tree.num_entries == 6_000
        assert len(tree.keys()) >= 64
        assert {branch.num_baskets for branch in tree.values()} == {4}
        assert {"nMuon", "Muon_charge", "Jet_btagDeepFlavB", "HLT_IsoMu24"} <= set(tree.keys())
        counts, pt = tree["nMuon"].array(), tree["Muon_pt"].array()
        assert ak.all(counts == ak.num(pt))
        assert ak.all(pt[:, 1:] <= pt[:, :-1])


def test_the_same_seed_gives_the_same_events(tmp_path: Path) -> None:
    def events(name: str, seed: int) -> ak.Array:
        made = make_data(tmp_path / name, files=1, events_per_file=500, seed=seed)
        with uproot.open(only_file(made, "DYJets")) as file:
            return file["Events"].arrays()

    first = events("first", seed=1)
    assert ak.array_equal(first, events("again", seed=1))
    assert not ak.array_equal(first, events("other", seed=2))


def test_files_that_are_there_are_kept_unless_forced(tmp_path: Path) -> None:
    path = only_file(make_data(tmp_path, files=1, events_per_file=200), "DYJets")
    first = path.stat()
    make_data(tmp_path, files=1, events_per_file=200)
    again = path.stat()
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    make_data(tmp_path, files=1, events_per_file=200, force=True)
    assert path.stat().st_mtime_ns != first.st_mtime_ns


@pytest.mark.parametrize("damage", ["other size", "cut early", "cut late", "empty", "not ROOT"])
def test_a_file_that_does_not_hold_what_is_asked_for_is_remade(tmp_path: Path, damage: str) -> None:
    path = only_file(make_data(tmp_path, files=1, events_per_file=100), "DYJets")
    whole = path.read_bytes()
    damaged = {
        "cut early": whole[:1000],
        "cut late": whole[:-1],
        "empty": b"",
        "not ROOT": b"x" * 99,
    }
    asked = 100 if damage in damaged else 200
    path.write_bytes(damaged.get(damage, whole))
    make_data(tmp_path, files=1, events_per_file=asked)
    with uproot.open(path) as file:
        assert file["Events"].num_entries == asked
        assert file.file.fEND == path.stat().st_size


@pytest.mark.parametrize("size", [{"files": 0}, {"events_per_file": 0}, {"basket_events": 0}])
def test_sizes_below_one_are_refused(tmp_path: Path, size: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        make_data(tmp_path, **size)


def test_a_killed_run_leaves_no_half_file(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "make_data.py"), str(tmp_path)]
    writer = subprocess.Popen([*command, "--files", "1", "--events", "5000000"])
    try:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".*.partial")) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(tmp_path.glob(".*.partial"))
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert list(tmp_path.glob("*.root")) == []

    make_data(tmp_path, files=1, events_per_file=100)
    assert [path.name for path in tmp_path.iterdir()] == ["DYJets_0.root"]


# ---- analysis --------------------------------------------------------------------------------


def test_a_cluster_gives_the_histograms_of_a_plain_loop(
    fileset: Fileset, iterative: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    expected, expected_report = iterative
    with (
        local_cluster() as cluster,
        Client(cluster) as client,
    ):
        output, report = analyse(fileset, DaskExecutor(client=client, status=False))
    assert output == expected
    for figure in ("entries", "bytesread", "chunks"):
        assert report[figure] == expected_report[figure]
    assert set(report["columns"]) == set(expected_report["columns"])


def test_every_event_is_counted_once_by_dataset(
    iterative: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    output, report = iterative
    assert {dataset: results["events"] for dataset, results in output.items()} == {
        "DYJets": 6_000,
        "TTbar": 6_000,
    }
    assert report["entries"] == 12_000
    for results in output.values():
        assert results["met"].sum(flow=True).value == pytest.approx(results["sum_of_weights"])


def test_the_z_is_where_it_should_be(iterative: tuple[dict[str, Any], dict[str, Any]]) -> None:
    output, _ = iterative
    assert z_peak(output["DYJets"]["dimuon_mass"]) == pytest.approx(91.19, abs=0.5)


def test_top_pairs_have_b_jets_and_no_z(
    iterative: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    output, _ = iterative

    def share(histogram: Hist[Any], first_bin: complex, last_bin: complex | None) -> float:
        inside: Any = histogram[first_bin:last_bin:sum]
        total: Any = histogram.sum(flow=True)
        return float(inside.value / total.value)

    on_peak = {name: share(results["dimuon_mass"], 81j, 101j) for name, results in output.items()}
    two_b = {name: share(results["b_tags"], 2j, None) for name, results in output.items()}
    assert on_peak["DYJets"] > 0.8
    assert on_peak["TTbar"] < 0.4
    assert two_b["DYJets"] < 0.1
    assert two_b["TTbar"] > 0.5


def test_the_analysis_reads_a_fraction_of_the_branches(
    fileset: Fileset, iterative: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    _, report = iterative
    with uproot.open(only_file(fileset, "DYJets")) as file:
        branches = set(file["Events"].keys())
    read = {column.rsplit("-", 1)[0] for column in report["columns"]}
    assert read < branches
    assert {"Muon_pt", "Jet_pt", "MET_pt", "genWeight"} <= read
    assert len(read) < len(branches) / 4


# ---- demo ------------------------------------------------------------------------------------


def test_the_demo_measures_checks_and_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, runs = tmp_path / "data", tmp_path / "runs"
    arguments = ["--data", str(data), "--output", str(runs), "--events", "4000"]
    assert demo.main([*arguments, "--chunksize", "2000"]) == 0
    printed = capsys.readouterr().out
    (run_file,) = runs.glob("demo-*.roast")
    assert f"roast show {run_file}" in printed
    assert f"roast list {runs}" in printed
    assert "Z peak of" in printed
    assert "differs" not in printed
    assert "\x1b" not in printed
    assert (runs / run_file.stem / "metrics.json").is_file()


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("total_events", 999),
        ("total_bytes_read", 2_001),
        ("num_chunks", 3),
        ("data_rate_gbps", 8e-6 * (1 + 1e-8)),
        ("event_rate_elapsed_khz", 0.5 * (1 - 1e-8)),
    ],
)
def test_the_demo_notices_a_figure_that_differs_from_the_report(
    figure: str, value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    report = {"entries": 1_000, "bytesread": 2_000, "chunks": 4}
    metrics = {
        "elapsed_time_seconds": 2.0,
        "total_events": 1_000,
        "total_bytes_read": 2_000,
        "num_chunks": 4,
        "data_rate_gbps": 8e-6,
        "event_rate_elapsed_khz": 0.5,
    }
    assert demo.print_check(metrics, report)
    assert "differs" not in capsys.readouterr().out
    assert not demo.print_check({**metrics, figure: value}, report)
    assert capsys.readouterr().out.count("differs") == 1


@pytest.mark.parametrize("option", ["--workers", "--chunksize", "--events"])
def test_the_demo_refuses_numbers_below_one(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        demo.main([option, "0"])
    assert stopped.value.code == 2
    assert "not a positive number" in capsys.readouterr().err
