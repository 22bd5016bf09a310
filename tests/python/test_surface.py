"""Every documented name is there, with the documented parameters.

The lists are read from the page that describes the surface, so that none is forgotten.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector
from roastcoffea.aggregation.backends import TaskVineMetricsParser, get_parser
from roastcoffea.backends.taskvine import TaskVineMetricsBackend, read_performance
from roastcoffea.metrics import registry

SHARED = Path(__file__).resolve().parents[3] / "shared"
PAGE = SHARED / "spec" / "api.md"
LOGS = SHARED / "data" / "taskvine"

needs_page = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside this clone")


def section(number: int) -> str:
    text = PAGE.read_text(encoding="utf-8")
    return re.split(rf"^## {number}\. ", text, flags=re.MULTILINE)[1].split("\n## ")[0]


def rows(number: int) -> list[list[str]]:
    """Return the cells of the tables of a section."""
    lines = [line for line in section(number).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def module_names() -> list[tuple[str, str]]:
    found = []
    for module, names, who in rows(2):
        public = names.split("(+")[0]  # what stands behind is internal
        for home in quoted(module):
            if "{" in home or who.strip() in ("who", "TEST", "internal", "-"):
                continue
            home = (
                home
                if home.startswith("roastcoffea")
                else f"roastcoffea.aggregation.backends{home}"
            )
            found += [(home, name) for name in quoted(public) if name.isidentifier()]
    return found


@needs_page
def test_every_module_has_its_names() -> None:
    found = module_names()
    assert len(found) >= 38
    shared = {"roastcoffea.aggregation.backends.base", "roastcoffea.aggregation.backends.dask"}
    for home, name in found:
        if home in shared:  # one row tells both: one of them has it
            assert any(hasattr(import_module(m), name) for m in shared), (home, name)
        elif not home.endswith(".plots"):
            assert hasattr(import_module(home), name), (home, name)


FUNCTIONS = {
    "aggregate_workflow_metrics": "aggregation.workflow",
    "calculate_efficiency_metrics": "aggregation.efficiency",
    "parse_fine_metrics": "aggregation.fine_metrics",
    "aggregate_chunk_metrics": "aggregation.chunk",
    "build_chunk_info": "aggregation.chunk",
    "parse_accessed_branches": "aggregation.branch_coverage",
    "aggregate_branch_coverage": "aggregation.branch_coverage",
    "get_parser": "aggregation.backends",
    "calculate_time_averaged_workers": "aggregation.backends.dask",
    "calculate_peak_memory": "aggregation.backends.dask",
    "calculate_average_memory_per_worker": "aggregation.backends.dask",
}


def parameters(function: Any) -> list[tuple[str, Any]]:
    found = inspect.signature(function).parameters.values()
    return [
        (p.name, None if p.default is inspect.Parameter.empty else repr(p.default))
        for p in found
        if p.name != "self" and p.kind is not inspect.Parameter.KEYWORD_ONLY
    ]


def documented_parameters(text: str) -> list[tuple[str, Any]]:
    inside = text[text.index("(") + 1 : text.rindex(")")]
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    return [(name, default or None) for name, _, default in (p.partition("=") for p in parts)]


@needs_page
def test_the_aggregation_functions_take_what_is_documented() -> None:
    seen = set()
    for name, signature, _ in rows(11):
        key = next(iter(quoted(name)), "")
        if key in FUNCTIONS:
            home = import_module(f"roastcoffea.{FUNCTIONS[key]}")
            assert parameters(getattr(home, key)) == documented_parameters(signature), key
            seen.add(key)
    assert seen == set(FUNCTIONS)


def test_the_constructor_and_the_methods_take_what_is_documented() -> None:
    from roastcoffea.aggregation.core import MetricsAggregator
    from roastcoffea.export.measurements import load_measurement, save_measurement

    assert [name for name, _ in parameters(MetricsCollector)][:5] == [
        "client",
        "backend",
        "track_workers",
        "worker_tracking_interval",
        "processor_instance",
    ]
    for function, names in (
        (MetricsCollector.set_coffea_report, "report custom_metrics"),
        (MetricsCollector.extract_metrics_from_output, "output"),
        (MetricsCollector.record_chunk_metrics, "chunk_data"),
        (MetricsCollector.record_section_metrics, "section_data"),
        (MetricsCollector.get_metrics, ""),
        (MetricsCollector.save_measurement, "output_dir measurement_name"),
        (MetricsCollector.print_summary, ""),
        (
            MetricsAggregator.aggregate,
            "coffea_report tracking_data t_start t_end custom_metrics span_metrics processor_name"
            " chunk_metrics section_metrics",
        ),
        (save_measurement, "metrics t0 t1 output_dir measurement_name config"),
        (load_measurement, "measurement_path"),
    ):
        assert [name for name, _ in parameters(function)] == names.split(), function


def known_keys() -> set[str]:
    return {key for row in registry() for key in (row[0], *row[8])}


@needs_page
def test_every_promised_name_of_a_metric_is_known() -> None:
    promised = set()
    for cells in rows(18):
        if "key names" in cells[0] or "reference names" in cells[0]:
            promised |= set(quoted(cells[0]))
    for cells in rows(21):
        if cells[0].startswith(("`mean_workers", "`cpu_efficiency", "`cpu_time_seconds")):
            promised |= set(quoted(cells[0]))
    assert len(promised) > 20
    assert promised - known_keys() == set()


@needs_page
def test_every_single_figure_of_the_dict_is_known() -> None:
    shapes = {"per_dataset", "sections", "chunk_info", "file_metadata", "compression_ratios"}
    shapes |= {"file_read_metrics", "bytes_read_percent_per_file", "tracking_data", "chunk_id"}
    keys = set()
    for cells in rows(10):
        for name in quoted(cells[0]):
            head, *others = name.split("/")
            keys.add(head)
            stem = re.sub(r"_(mean|mean_mb)$", "", head)
            keys |= {stem + other for other in others if other.startswith("_")}
    figures = {key for key in keys if key.isidentifier() and not key.startswith("raw_")} - shapes
    assert len(figures) > 45
    assert figures - known_keys() == set()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, roastcoffea; from roastcoffea import register_metric, open_run\n"
        "print([m for m in ('dask', 'distributed', 'coffea', 'numpy', 'rich', 'pandas')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- TaskVine ------------------------------------------------------------------------------


@pytest.mark.skipif(not LOGS.is_dir(), reason="the logs are not beside this clone")
@pytest.mark.parametrize("kind", ["clean", "faults", "unfinished"])
def test_a_performance_log_tells_workers_and_cores(kind: str) -> None:
    (log,) = (LOGS / kind).rglob("performance")
    header, *lines = log.read_text().splitlines()
    column = header.split()[1:].index("workers_connected")
    counts = [int(line.split()[column]) for line in lines if len(line.split()) > column]
    data = read_performance([header, *lines])
    assert max(data["worker_counts"].values()) == max(counts) > 0
    metrics = TaskVineMetricsParser().parse_tracking_data(data)
    assert metrics["peak_workers"] == max(counts)
    assert 0 < metrics["avg_workers"] <= metrics["peak_workers"]
    assert metrics["cores_per_worker"] == pytest.approx(
        metrics["total_cores"] / metrics["avg_workers"]
    )


def test_the_back_end_reads_the_managers_log(tmp_path: Path) -> None:
    import time

    class Manager:
        logging_directory = str(tmp_path)

    with MetricsCollector(Manager(), backend="taskvine") as collector:
        now = int(time.time() * 1e6)
        (tmp_path / "performance").write_text(
            "# timestamp workers_connected total_cores\n"
            f"{now - 10**9} 99 99\n{now + 1000} 2 8\n{now + 2000} 4 16\nbroken\n"
        )
        collector.set_coffea_report({"entries": 10, "processtime": 1.0, "chunks": 1})
    metrics = collector.get_metrics()
    assert isinstance(collector.metrics_backend, TaskVineMetricsBackend)
    assert metrics["avg_workers"] == pytest.approx(3.0)
    assert metrics["total_cores"] == pytest.approx(12.0)
    assert metrics["peak_workers"] == 4
    assert type(get_parser("taskvine")) is TaskVineMetricsParser


def test_a_manager_without_a_log_does_no_harm(tmp_path: Path) -> None:
    with MetricsCollector(tmp_path, backend="taskvine") as collector:
        collector.set_coffea_report({"entries": 10})
    assert collector.get_metrics()["total_events"] == 10
    with pytest.raises(ValueError, match="cannot be None"):
        TaskVineMetricsBackend(None)


def test_a_package_brings_a_back_end_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_backend.py").write_text(
        "from roastcoffea.backends.taskvine import TaskVineMetricsBackend\n"
        "class Mine(TaskVineMetricsBackend):\n    pass\n"
    )
    info = tmp_path / "my_backend-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-backend\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[roastcoffea.backends]\nmine = my_backend:Mine\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from roastcoffea.backends import registered, unregister_backend

    assert "mine" in registered()
    try:
        collector = MetricsCollector(tmp_path, backend="mine")
        assert type(collector.metrics_backend).__name__ == "Mine"
        assert type(collector.aggregator.parser) is TaskVineMetricsParser
    finally:
        unregister_backend("mine")
    with pytest.raises(ValueError, match="Unsupported backend: nobody's"):
        MetricsCollector(tmp_path, backend="nobody's")
