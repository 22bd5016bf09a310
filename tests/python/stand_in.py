"""Events and a processor that stand in for coffea's, as in users' own tests and notebooks."""

from __future__ import annotations

from roastcoffea.decorator import track_metrics

KEY = "__roastcoffea_metrics__"


class Events:
    """Five events of one chunk."""

    def __init__(self, **metadata):
        self.metadata = {
            "dataset": "d",
            "filename": "f.root",
            "treename": "Events",
            "entrystart": 0,
            "entrystop": 5,
            "fileuuid": "u",
            **metadata,
        }

    def __len__(self):
        return 5


class Plain:
    """Not a ProcessorABC; switched on by hand."""

    _roastcoffea_collect_metrics = True

    def __init__(self, result=None):
        self.result = {} if result is None else result

    @track_metrics()
    def process(self, events, *args, factor=1, **kwargs):
        """Return what it was told to."""
        return self.result
