"""The documented aggregation functions: plain dicts in, plain dicts out.

Each returns a dict that also has the attributes ``absent`` and ``estimated``, which say why a
figure is not known, or how it was estimated. The arithmetic is libroast's, the same that a run's
metrics come from.
"""
