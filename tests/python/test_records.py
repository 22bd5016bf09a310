"""Records: a sequence of dicts that travels as bytes."""

from __future__ import annotations

import copy
import json
import math
import operator
import pickle
import random
import string
import threading
from collections import defaultdict
from collections.abc import Iterable

import pytest

from roastcoffea._probe import Chunk, Records

FIELDS = {
    "dataset": "ttbar",
    "file": "root://eospublic.cern.ch//eos/cms/nano.root",
    "tree": "Events",
    "uuid": "eb1027c4-e125-11f1-b38b-02fc00000001",
    "entry_start": 0,
    "entry_stop": 1000,
    "num_events": 1000,
    "outcome": 0,
    "worker": "tcp://10.0.0.1:1234",
    "host": "node-1",
    "pid": 4711,
    "thread": 140000000000000,
    "attempt": 1,
}

# Section 6.1 and 21 of the documented surface
DOCUMENTED_TEXT = """
t_start t_end duration mem_before_mb mem_after_mb mem_delta_mb bytes_read timestamp num_events
dataset file uuid entry_start entry_stop accessed_branches num_branches_accessed accessed_bytes
accessed_uncompressed_bytes branches_read_percent bytes_read_percent timing memory bytes
chunk_id sections memory_sections custom_metrics memory_start_gb memory_end_gb memory_delta_gb
cpu_time wall_split outcome worker attempt
"""
DOCUMENTED = DOCUMENTED_TEXT.split()


def encode(custom=None, **fields):
    class Processor:
        pass

    chunk = Chunk(Processor())
    chunk.begin()
    chunk.update(custom or {})
    chunk.end()
    return chunk.encode({**FIELDS, **fields})


def records(n, **fields):
    return Records([encode(**{**fields, "entry_start": i, "entry_stop": i + 1}) for i in range(n)])


def random_value(rng, depth=0, keys=None):
    """Any value that a user may put into a record."""
    kind = rng.randrange(10 if depth < 3 else 8)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind <= 2:
        return rng.choice([-1, 1]) * rng.getrandbits(rng.choice([3, 8, 31, 63, 64, 65, 200]))
    if kind == 3:
        return rng.choice([0.0, -0.0, 1.5, 1e300, -1e-300, math.inf, rng.random()])
    if kind <= 5:
        return "".join(rng.choice(string.printable + "éß漢😀") for _ in range(rng.randrange(30)))
    if kind <= 7:
        return rng.randbytes(rng.randrange(30)) if keys is None else rng.random()
    if kind == 8:
        return [random_value(rng, depth + 1, keys) for _ in range(rng.randrange(4))]
    return {
        (str(i) if keys or rng.random() < 0.7 else i): random_value(rng, depth + 1, keys)
        for i in range(rng.randrange(4))
    }


def same(a, b):
    """Tell whether two values are equal and of the same type, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


@pytest.mark.parametrize("seed", range(30))
def test_any_custom_field_keeps_its_value_and_type(seed):
    rng = random.Random(seed)
    custom = {f"user_{i}": random_value(rng) for i in range(8)}
    found = Records([encode(custom)]) + Records([encode()])
    for made in (found, pickle.loads(pickle.dumps(found)), Records.from_bytes(found.to_bytes())):
        assert same({key: made[0][key] for key in custom}, custom)
        assert not set(custom) & set(made[1])


@pytest.mark.parametrize("seed", range(10))
def test_any_record_survives_pickle_merge_and_json(seed):
    rng = random.Random(seed)
    made = Records()
    for i in range(rng.randrange(1, 60)):
        branches = [(rng.choice("abcdefgh"), rng.choice([None, rng.getrandbits(40)]))]
        fields = {
            "file": rng.choice([None, "a", "b" * 300, "ü"]),
            "worker": rng.choice([None, "w1", "w2"]),
            "uuid": rng.choice([None, FIELDS["uuid"], FIELDS["uuid"].upper(), "x"]),
            "entry_start": rng.choice([None, i, rng.getrandbits(62), -5]),
            "requested_bytes": rng.choice([None, rng.getrandbits(rng.randrange(1, 63))]),
            "branches": branches * rng.randrange(3),
            "metadata": {"k": random_value(rng, keys=str)},
            "error_type": rng.choice([None, None, "ValueError"]),
            "error_message": "boom \udcff" if rng.random() < 0.1 else None,
        }
        one = Records([encode({"mine": random_value(rng, keys=str)}, **fields)])
        made = made + one if rng.random() < 0.5 else operator.iadd(made, one)
        if rng.random() < 0.2:
            made = pickle.loads(pickle.dumps(made))
        if rng.random() < 0.2:
            made = Records.from_bytes(made.to_bytes())
    plain = list(made)
    assert pickle.loads(pickle.dumps(made)) == plain
    assert Records.from_bytes(made.to_bytes()) == plain
    assert json.loads(json.dumps(list(made))) == json.loads(json.dumps(plain))
    assert copy.deepcopy(made) == copy.copy(made) == plain
    middle = made[len(made) // 3 :]
    assert [r["entry_start"] for r in pickle.loads(pickle.dumps(middle))] == [
        r["entry_start"] for r in plain[len(made) // 3 :]
    ]


def test_a_record_has_the_documented_keys():
    record = records(1)[0]
    assert [key for key in record if key in DOCUMENTED][:8] == DOCUMENTED[:8]
    assert set(DOCUMENTED) <= set(record)
    split = record["wall_split"]
    assert set(split) == {"cpu", "runqueue", "throttled", "block_io", "gil", "other", "samples"}
    parts = sum(value for key, value in split.items() if key != "samples")
    assert parts == pytest.approx(record["duration"], abs=1e-9)
    assert record["outcome"] == "finished"
    assert "error" not in record


def test_a_failed_record_has_an_error():
    record = Records([encode(outcome=1, error_type="ValueError", error_message="boom")])[0]
    assert (record["error"], record["error_type"], record["outcome"]) == (
        "boom",
        "ValueError",
        "failed",
    )


def test_a_custom_field_with_a_measured_name_is_not_lost():
    record = Records([encode({"duration": "mine"})])[0]
    assert record["duration"] != "mine"
    assert record["custom_metrics"] == {"duration": "mine"}


def test_numpy_values_become_plain_ones():
    np = pytest.importorskip("numpy")
    custom = {
        "i": np.int64(5),
        "f": np.float32(0.5),
        "b": np.bool_(True),
        "s": np.str_("x"),
        "a": np.arange(3),
        "z": np.array(7),
    }
    record = Records([encode(custom)])[0]
    assert same(
        {key: record[key] for key in custom},
        {"i": 5, "f": 0.5, "b": True, "s": "x", "a": [0, 1, 2], "z": 7},
    )


def test_a_field_that_cannot_be_kept_is_left_out_alone():
    class Hostile:
        def __str__(self):
            raise RuntimeError("no")

    loop: list = []
    loop.append(loop)
    record = Records([encode({"bad": Hostile(), "good": 1, "loop": loop, "set": {1}})])[0]
    assert "bad" not in record
    assert (record["good"], record["set"]) == (1, [1])


def test_fields_that_are_too_large_for_a_record_are_left_out():
    made = Records([encode({"large": "x" * (2 << 20)}), encode({"small": "x"})])
    assert "large" not in made[0]
    assert made[1]["small"] == "x"


def test_it_behaves_as_a_list():
    made = records(5)
    plain = list(made)
    assert len(made) == 5
    assert made
    assert not Records()
    assert made[0] == plain[0]
    assert made[-1] == plain[-1]
    assert [r["entry_start"] for r in made[1:4]] == [1, 2, 3]
    assert [r["entry_start"] for r in made[::-2]] == [4, 2, 0]
    assert [r["chunk_id"] for r in made] == [0, 1, 2, 3, 4]
    assert isinstance(made, list)
    assert isinstance(made, Iterable)
    assert made == plain
    assert plain == made
    assert made != plain[:4]
    assert plain[0] in made
    assert repr(made) == repr(plain)
    assert [r["entry_start"] for r in reversed(made)] == [4, 3, 2, 1, 0]
    for index in (5, -6):
        with pytest.raises(IndexError):
            made[index]
    with pytest.raises(TypeError):
        made["x"]
    with pytest.raises(TypeError):
        made + 5
    with pytest.raises(TypeError):
        hash(made)


def test_pandas_and_json_take_it_for_a_list():
    import pandas as pd

    made = records(3)
    assert list(pd.DataFrame(made)["entry_start"]) == [0, 1, 2]
    assert json.loads(json.dumps(made, indent=1))[2]["entry_start"] == 2


def test_it_adds_with_lists_and_with_itself():
    made = records(2)
    user = {"duration": 1.0, "mine": object()}
    assert len(made + made) == 4
    assert operator.add(made, [user])[2] is user
    assert operator.add([user], made)[0] is user
    assert len(sum([made, made], Records())) == len(sum([made, made])) == 4
    made += made
    made += [user]
    made.append({"x": 1})
    assert len(made) == 6
    with pytest.raises(TypeError):
        made += [5]
    assert len(made) == 6
    assert made.copy()[4] is user
    assert copy.deepcopy(made)[4] is not user


def test_a_plain_dict_is_kept_as_it_is_and_becomes_a_record_as_bytes():
    user = {
        "duration": 2.5,
        "num_events": 10,
        "timing": {"a": 0.5},
        "memory": {"m": 1.5},
        "bytes": {"b": 3},
        "accessed_branches": ["x"],
        "mine": [1, "two"],
        "error": "boom",
        "mem_before_mb": 1.0,
        "mem_after_mb": 2.0,
    }
    made = pickle.loads(pickle.dumps(operator.add(records(1), [user])))
    assert made[1] == user
    record = Records.from_bytes(made.to_bytes())[1]
    assert {key: record[key] for key in user} == user
    assert record["outcome"] == "failed"
    assert Records.from_bytes(made.to_bytes()).totals()["failed"] == 1


def test_json_of_a_worker_without_the_native_module_is_understood():
    data = json.dumps({"duration": 1.5, "outcome": "finished", "file": "f"}).encode()
    assert Records.from_bytes(data)[0]["duration"] == 1.5
    again = Records.from_bytes(Records.from_bytes(data).to_bytes())[0]
    assert (again["duration"], again["file"]) == (1.5, "f")


def test_totals_are_the_sums_of_the_records():
    made = operator.add(records(20), [{"num_events": 5, "duration": 1.0}])
    totals = made.totals()
    assert totals["records"] == 21
    assert totals["num_events"] == 20 * 1000 + 5
    assert totals["finished"] == 21
    assert totals["wall_ns"] == sum(round(r["duration"] * 1e9) for r in made)
    assert "requested_bytes" not in Records([{"num_events": 5}]).totals(), "nobody knows it"


def test_blocks_hold_all_records_a_few_thousand_each():
    made = operator.add(Records([records(1).to_bytes()] * 9000), [{"duration": 1.0}])
    blocks = [Records.from_bytes(data) for data in made.blocks()]
    assert sum(map(len, blocks)) == 9001
    assert max(map(len, blocks)) <= 4096
    assert blocks[-1][-1]["duration"] == 1.0


def test_records_may_be_added_while_others_are_summed_up():
    made = Records([records(1).to_bytes()] * 3000)
    stop = threading.Event()

    def add():
        while not stop.wait(0.001):
            made.append({"num_events": 0})

    thread = threading.Thread(target=add)
    thread.start()
    try:
        for _ in range(20):
            assert made.totals()["num_events"] == 3_000_000
            assert len(pickle.loads(pickle.dumps(made))) >= 3000
    finally:
        stop.set()
        thread.join()


def test_damaged_bytes_are_refused_or_read_but_never_crash():
    rng = random.Random(3)
    data = records(30, branches=[("a", 1), ("b", 2)]).to_bytes()
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if rng.random() < 0.3:
            del damaged[rng.randrange(len(damaged)) :]
        try:
            made = Records.from_bytes(bytes(damaged))
            if len(made) < 10_000:
                list(made)
        except (ValueError, MemoryError):
            pass
    for data in (b"", b"RC", b"xyz", b"RC\x7f\x00\x00\x00\x00"):
        with pytest.raises(ValueError, match="records"):
            Records.from_bytes(data)


def test_coffea_accumulates_it_in_every_kind_of_dict():
    accumulator = pytest.importorskip("coffea.processor.accumulator")
    accumulator.AccumulatorABC.register(Records)
    key = "__roastcoffea_metrics__"
    for make in (
        dict,
        lambda **k: defaultdict(int, **k),
        accumulator.dict_accumulator,
        lambda **k: accumulator.defaultdict_accumulator(int, k),
    ):
        outputs = [make(**{key: records(1)}) for _ in range(4)] + [make()]
        merged = accumulator.accumulate(outputs)
        assert len(merged[key]) == 4
        assert len(outputs[0][key]) == 1, "the first input is not changed"


def test_merging_many_takes_linear_time_and_no_copies():
    data = records(1).to_bytes()
    one = Records([data] * 1000)
    merged = Records()
    for _ in range(1000):
        merged += one
    assert len(merged) == 1_000_000
    assert merged[999_999]["entry_start"] == 0
