"""What is in ROOT files: trees, branches, baskets, sizes; read natively, without ROOT."""

from __future__ import annotations

import json
import os
from typing import Any

from roastcoffea._roast import inspect_json


def inspect(
    path: str | os.PathLike[str], tree: str | None = None, *, branches: bool = True
) -> dict[str, Any]:
    """Return the metadata of a local ROOT file, as ``roast inspect --format json`` prints it.

    Parameters
    ----------
    path
        the file
    tree
        only this tree or RNTuple
    branches
        whether to list branches, fields and columns too

    Returns
    -------
    ``{"file", "size", "trees": [...], "rntuples": [...], "skipped": [...]}``

    Raises
    ------
    FileNotFoundError, OSError
        the file cannot be read
    ValueError
        it is not a ROOT file, or too damaged to say anything

    Example
    -------
    ::

        for tree in roastcoffea.inspect("nano.root")["trees"]:
            print(tree["path"], tree["entries"], tree["compressed_bytes"])
    """
    result: dict[str, Any] = json.loads(inspect_json(path, tree, branches))
    return result
