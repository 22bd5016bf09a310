"""Decorated classes in other processes: pickled, without _probe, without the package."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import pytest

from roastcoffea._probe import Records
from roastcoffea.decorator import track_metrics
from roastcoffea.instrumentation import track_time

KEY = "__roastcoffea_metrics__"


def python(code, *args, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


WITHOUT_PROBE = """
    import json, pickle, sys, time
    sys.modules["roastcoffea._probe"] = None
    from roastcoffea import collecting
    from roastcoffea.decorator import track_metrics
    from roastcoffea.instrumentation import track_memory, track_section, track_time

    class Processor:
        @track_metrics
        def process(self, events):
            with track_time(self, "a"), track_section(self, "b"), track_memory(self, "m"):
                time.sleep(0.01)
            self._roastcoffea_current_chunk["mine"] = [1, 2]
            return {"n": len(events)}

    sent = []
    collecting.add_sink("test", sent.append)
    out = Processor().process([1, 2, 3])
    assert len(out["__roastcoffea_metrics__"]) == 1
    pickle.loads(pickle.dumps(out))
    assert "distributed" not in sys.modules and "coffea" not in sys.modules
    print(sent[0].decode())
"""


def test_without_the_native_module_less_is_measured_and_all_works():
    record = Records.from_bytes(python(WITHOUT_PROBE).encode())[0]
    assert record["num_events"] == 3
    assert record["mine"] == [1, 2]
    assert record["timing"]["a"] >= 0.01
    again = Records.from_bytes(Records([record]).to_bytes())[0]
    assert again["timing"]["a"] == pytest.approx(record["timing"]["a"])


def test_a_class_pickled_by_value_runs_where_the_package_is_missing(tmp_path):
    made = tmp_path / "instance.pickle"
    python(
        """
        import sys, cloudpickle, roastcoffea
        import roastcoffea.decorator
        cloudpickle.register_pickle_by_value(roastcoffea)
        class Processor:
            _roastcoffea_collect_metrics = True
            @roastcoffea.decorator.track_metrics
            def process(self, events):
                return {"n": len(events)}
            def postprocess(self, accumulator):
                return accumulator
        open(sys.argv[1], "wb").write(cloudpickle.dumps(Processor()))
        """,
        str(made),
    )
    out = python(
        """
        import pickle, sys
        sys.modules["roastcoffea"] = None
        instance = pickle.load(open(sys.argv[1], "rb"))
        print(instance.process([1, 2]), instance.postprocess({"x": 1}))
        """,
        str(made),
    )
    assert out.strip() == "{'n': 2} {'x': 1}"


def test_pickled_processors_are_still_measured():
    class Local:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            with track_time(self, "x"):
                pass
            return {}

    copy = pickle.loads(cloudpickle.dumps(Local()))
    assert list(copy.process([1])[KEY][0]["timing"]) == ["x"]


@track_metrics
def count(events):
    """A processor that is a function of a module."""
    return {"n": len(events)}


def plain(events):
    """One that is decorated under another name."""
    return {"n": len(events)}


counted = track_metrics(plain)


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_a_function_of_a_module_is_pickled_by_its_name(dumps):
    for function in (count, counted):
        for _ in range(2):
            function = pickle.loads(dumps(function))
        assert function([1, 2]) == {"n": 2}
        assert function.__wrapped__ in (count.__wrapped__, plain)
    assert pickle.loads(dumps(plain)) is plain
    assert count.__name__ == count.__qualname__ == "count"


def test_a_function_that_is_switched_on_is_so_where_it_arrives():
    count._roastcoffea_collect_metrics = True
    try:
        copy = pickle.loads(pickle.dumps(count))
    finally:
        del count._roastcoffea_collect_metrics
    assert KEY in copy([1, 2])
    assert KEY not in count([1, 2])


def test_importing_the_trackers_imports_nothing_heavy():
    out = python(
        """
        import sys
        import roastcoffea.collecting, roastcoffea.decorator, roastcoffea.instrumentation
        heavy = "awkward coffea dask distributed matplotlib numpy rich uproot"
        print(sorted(set(heavy.split()) & set(sys.modules)))
        """
    )
    assert out.strip() == "[]"
