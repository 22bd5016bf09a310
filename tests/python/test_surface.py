"""Every documented name is there, with the documented parameters and keys.

What is documented stands in tests/data/surface.toml.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from oracles import GOLDEN, SURFACE

from roastcoffea import MetricsCollector
from roastcoffea.aggregation.backends import TaskVineMetricsParser, get_parser
from roastcoffea.backends.taskvine import TaskVineMetricsBackend, read_performance
from roastcoffea.export.measurements import load_measurement
from roastcoffea.metrics import registry

KEYS: dict[str, list[str]] = SURFACE["keys"]
REQUIRED = inspect.Parameter.empty


def found(path: str) -> Any:
    """Return the object that a dotted name means."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            thing = getattr(thing, part)
        return thing
    raise ImportError(path)


# -- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("module", SURFACE["modules"])
def test_every_module_has_its_names(module: str) -> None:
    home = import_module(module)
    assert [name for name in SURFACE["modules"][module] if not hasattr(home, name)] == []
    if hasattr(home, "__all__"):
        assert set(SURFACE["modules"][module]) - set(home.__all__) == set()


def test_names_are_imported_as_users_write_it() -> None:
    for module, names in SURFACE["modules"].items():
        space: dict[str, Any] = {}
        exec(f"from {module} import {', '.join(names)}", space)
        assert set(names) <= set(space)


@pytest.mark.parametrize("name", SURFACE["same"])
def test_two_names_of_one_thing_are_the_same_object(name: str) -> None:
    assert found(name) is found(SURFACE["same"][name])


@pytest.mark.parametrize("name", SURFACE["abstract"])
def test_a_class_to_inherit_from_asks_for_all_its_methods(name: str) -> None:
    base, methods = found(name), SURFACE["abstract"][name]
    assert base.__abstractmethods__ == set(methods)
    body = {method: lambda self, *arguments: None for method in methods}
    type("Whole", (base,), body)()
    for left_out in methods:
        incomplete = type("Part", (base,), {k: v for k, v in body.items() if k != left_out})
        with pytest.raises(TypeError):
            incomplete()


# -- parameters ----------------------------------------------------------------------------


def parameters(function: Any) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]


def assert_takes(function: Any, documented: str) -> None:
    """Assert that the parameters are there, in their order, by position and by keyword."""
    arguments = ast.parse(f"def f({documented}): ...").body[0].args  # type: ignore[attr-defined]
    names = [argument.arg for argument in arguments.args]
    defaults = [ast.literal_eval(default) for default in arguments.defaults]
    expected = dict(zip(names, [REQUIRED] * (len(names) - len(defaults)) + defaults, strict=True))
    ours = parameters(function)
    assert [p.name for p in ours][: len(names)] == names
    for parameter in ours[: len(names)]:
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD, parameter
        if expected[parameter.name] is not REQUIRED:  # one that is required may get a default
            assert parameter.default == expected[parameter.name], parameter
            assert type(parameter.default) is type(expected[parameter.name]), parameter
    for parameter in ours[len(names) :]:
        optional = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        assert optional or parameter.default is not REQUIRED, parameter


AGGREGATION = [name for name in SURFACE["signatures"] if ".aggregation." in name]


@pytest.mark.parametrize("name", AGGREGATION)
def test_the_aggregation_functions_take_what_is_documented(name: str) -> None:
    assert_takes(found(name), SURFACE["signatures"][name])


@pytest.mark.parametrize("name", [n for n in SURFACE["signatures"] if n not in AGGREGATION])
def test_the_constructor_and_the_methods_take_what_is_documented(name: str) -> None:
    assert_takes(found(name), SURFACE["signatures"][name])


@pytest.mark.parametrize("name", SURFACE["plots"])
def test_a_plot_takes_what_is_documented(name: str) -> None:
    from roastcoffea.visualization import plots

    row = SURFACE["plots"][name]
    assert_takes(getattr(plots, name), row["parameters"])
    home = import_module(f"roastcoffea.visualization.plots.{row['module']}")
    assert getattr(home, name) is getattr(plots, name) is found(f"roastcoffea.{name}")


def test_every_documented_function_has_its_signature_checked() -> None:
    checked = {found(name) for name in SURFACE["signatures"]}
    functions = {
        getattr(import_module(module), name)
        for module, names in SURFACE["modules"].items()
        for name in names
        if inspect.isroutine(getattr(import_module(module), name))
    }
    assert functions - checked == set()


# -- keys ----------------------------------------------------------------------------------


def aggregated() -> tuple[dict[str, Any], Any]:
    """Return an old measurement and what is computed from its raw data today."""
    from roastcoffea.aggregation.core import MetricsAggregator

    old, start, end = load_measurement(GOLDEN / "measurement")
    report = json.loads((GOLDEN / "coffea_report.json").read_text())
    metrics = MetricsAggregator("dask").aggregate(
        report,
        old["tracking_data"],
        start,
        end,
        span_metrics=old["raw_span_metrics"],
        processor_name="SectionProc",
        chunk_metrics=old["raw_chunk_metrics"],
    )
    return old, metrics


def test_the_metrics_of_a_run_have_every_key() -> None:
    _, metrics = aggregated()
    groups = ("workflow", "worker", "efficiency", "fine", "chunk", "branch", "raw")
    for group in groups:
        assert [key for key in KEYS[group] if key not in metrics] == [], group
    for row in metrics["per_dataset"].values():
        assert set(KEYS["per_dataset"]) <= set(row)
    for row in metrics["file_read_metrics"].values():
        assert set(KEYS["file_read_metrics"]) <= set(row)
    for row in metrics["file_metadata"].values():
        assert set(KEYS["file_metadata"]) <= set(row)
    assert set(KEYS["tracking"]) == set(metrics["tracking_data"])


def test_each_group_of_keys_has_a_function_of_its_own() -> None:
    from roastcoffea.aggregation.branch_coverage import aggregate_branch_coverage
    from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info
    from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
    from roastcoffea.aggregation.fine_metrics import parse_fine_metrics
    from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

    old, metrics = aggregated()
    report = json.loads((GOLDEN / "coffea_report.json").read_text())
    elapsed = metrics["elapsed_time_seconds"]
    workflow = aggregate_workflow_metrics(report, 0.0, elapsed)
    worker = get_parser("dask").parse_tracking_data(old["tracking_data"])
    made = {
        "workflow": workflow,
        "worker": worker,
        "efficiency": calculate_efficiency_metrics(workflow, worker),
        "fine": parse_fine_metrics(old["raw_span_metrics"], "SectionProc"),
        "chunk": aggregate_chunk_metrics(old["raw_chunk_metrics"]),
        "branch": aggregate_branch_coverage(old["raw_chunk_metrics"]),
    }
    for group, values in made.items():
        assert [key for key in KEYS[group] if key not in values] == [], group
    for group in ("worker", "fine", "branch"):
        assert {key: made[group][key] for key in KEYS[group]} == {
            key: metrics[key] for key in KEYS[group]
        }
    assert set(KEYS["fine"]) <= set(parse_fine_metrics({}))
    assert set(KEYS["worker"]) <= set(get_parser("dask").parse_tracking_data({}))
    assert aggregate_chunk_metrics([]) == {"num_chunks": 0}
    assert aggregate_branch_coverage([]) == {}
    assert build_chunk_info(old["raw_chunk_metrics"]) == metrics["chunk_info"]


def test_sections_have_every_key() -> None:
    from roastcoffea.aggregation.chunk import aggregate_chunk_metrics

    _, metrics = aggregated()
    by_hand = aggregate_chunk_metrics(
        [{"duration": 1.0}],
        [
            {"name": "a", "duration": 2.0},
            {"name": "m", "type": "memory", "duration": 1.0, "mem_delta_mb": 3.0},
        ],
    )["sections"]
    for row in (*metrics["sections"].values(), *by_hand.values()):
        assert set(KEYS["section"]) <= set(row)
    assert set(KEYS["memory_section"]) <= set(by_hand["m"])
    assert not set(KEYS["memory_section"]) & set(by_hand["a"])


def known_keys() -> set[str]:
    return {key for row in registry() for key in (row[0], *row[8])}


def test_every_promised_name_of_a_metric_is_known() -> None:
    assert set(KEYS["also"]) - known_keys() == set()


def test_a_promised_name_gives_the_figure_of_a_run() -> None:
    _, metrics = aggregated()
    absent = set(metrics.absent)
    assert [key for key in KEYS["also"] if key not in metrics and key not in absent] == []
    assert len(set(KEYS["also"]) & set(metrics)) >= 20


def test_every_single_figure_of_the_dict_is_known() -> None:
    shapes = {"per_dataset", "file_metadata", "compression_ratios", "file_read_metrics"}
    shapes |= {"bytes_read_percent_per_file"}
    groups = ("workflow", "worker", "efficiency", "fine", "chunk", "branch")
    figures = {key for group in groups for key in KEYS[group]} - shapes
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


@pytest.mark.parametrize(
    "run", ["clean", "faults", "unfinished", "deco", "killw", "failing", "dv_vine", "dv_fc"]
)
def test_a_performance_log_tells_workers_and_cores(run: str, logs: Path) -> None:
    (log,) = (logs / "taskvine" / run).rglob("performance")
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
