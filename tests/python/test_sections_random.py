"""Sections entered and left at random, against a naive model."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict

import pytest
from by_hand import measure, sections

from roastcoffea.instrumentation import track_time


class Model:
    """What sections must come to: bounds from a clock read before and after each step."""

    def __init__(self):
        self.stacks = defaultdict(list)  # by thread: [(name, number)], the innermost last
        self.entered = {}  # number: (name, low, high)
        self.count = defaultdict(int)
        self.total = defaultdict(lambda: [0, 0])
        self.longest = defaultdict(lambda: [0, 0])
        self.self_time = defaultdict(lambda: [0, 0])
        self.last = {}  # by thread: when the innermost one became that

    def credit(self, low, high):
        stack = self.stacks[threading.get_ident()]
        before_low, before_high = self.last.get(threading.get_ident(), (low, high))
        if stack:
            name = stack[-1][0]
            self.self_time[name][0] += max(low - before_high, 0)
            self.self_time[name][1] += high - before_low
        self.last[threading.get_ident()] = (low, high)

    def enter(self, number, name, low, high):
        self.credit(low, high)
        self.stacks[threading.get_ident()].append((name, number))
        self.entered[number] = (name, low, high)

    def leave(self, number, low, high):
        name, enter_low, enter_high = self.entered.pop(number)
        self.credit(low, high)
        self.stacks[threading.get_ident()].remove((name, number))
        self.count[name] += 1
        self.total[name][0] += low - enter_high
        self.total[name][1] += high - enter_low
        self.longest[name][0] = max(self.longest[name][0], low - enter_high)
        self.longest[name][1] = max(self.longest[name][1], high - enter_low)

    def check(self, record):
        found = sections(record)
        assert {name: section["count"] for name, section in found.items()} == dict(self.count)
        for name, section in found.items():
            for key, (low, high) in (
                ("time_delta", self.total[name]),
                ("max_time", self.longest[name]),
                ("self_time", self.self_time[name]),
            ):
                assert low / 1e9 - 1e-9 <= section[key] <= high / 1e9 + 1e-9, (name, key)
            assert section["min_time"] <= section["time_delta"] / section["count"] + 1e-9
            assert section["max_time"] <= section["time_delta"] + 1e-9


def random_steps(processor, model, lock, rng, n):
    """Enter and leave sections at random: nested, repeated, out of order, by exceptions."""
    opened = {}
    for step in range(n):
        if opened and rng.random() < 0.5:
            # the last one, or any: generators end in any order
            number = max(opened) if rng.random() < 0.6 else rng.choice(list(opened))
            section = opened.pop(number)
            error = (ValueError, ValueError("x"), None) if rng.random() < 0.3 else (None,) * 3
            with lock:
                low = time.monotonic_ns()
                assert not section.__exit__(*error)
                model.leave(number, low, time.monotonic_ns())
        else:
            number = (threading.get_ident(), step)
            name = rng.choice(["a", "b", "c", "longer name", "é"])
            section = track_time(processor, name)
            with lock:
                low = time.monotonic_ns()
                section.__enter__()
                model.enter(number, name, low, time.monotonic_ns())
            opened[number] = section
    for number in sorted(opened, reverse=True):
        with lock:
            low = time.monotonic_ns()
            opened[number].__exit__(None, None, None)
            model.leave(number, low, time.monotonic_ns())


@pytest.mark.parametrize("seed", range(20))
def test_any_sequence_gives_the_totals_of_a_naive_model(seed):
    model = Model()
    rng = random.Random(seed)
    record = measure(lambda p: random_steps(p, model, threading.Lock(), rng, 300))
    model.check(record)


@pytest.mark.parametrize("seed", range(5))
def test_threads_inside_process_give_the_totals_of_a_naive_model(seed):
    model = Model()
    lock = threading.Lock()

    def work(processor):
        threads = [
            threading.Thread(
                target=random_steps, args=(processor, model, lock, random.Random(10 * seed + i), 80)
            )
            for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    model.check(measure(work))
