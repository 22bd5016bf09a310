"""What the events of a chunk know about themselves: identity, file, branches, bytes.

Everything here looks at objects of coffea and uproot through the attributes they
are documented to have; whatever is missing is None, an empty list or 0.
"""

from __future__ import annotations

import re
from typing import Any

# Keys of coffea's metadata that have a field of their own in a record.
KNOWN_METADATA = frozenset(
    ("dataset", "filename", "treename", "entrystart", "entrystop", "fileuuid", "uuid", "filehandle")
)
DEFAULT_TREE = "Events"
MAX_METADATA = 1000  # items or characters of one value
MAX_DEPTH = 16  # of values within values; a list may be in itself
CONTAINERS = (dict, list, tuple, set, frozenset)

_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
_SECRET_QUERY = re.compile(
    r"(?i)[?&](?:authz|access_token|token|x-amz-[^=&#]*|x-goog-[^=&#]*|signature|awsaccesskeyid"
    r"|se|sig|sv|sp|sr|password|secret)=[^&#\s'\"]*"
)


def clean_text(text: str) -> str:
    """Return a message without the secrets of the URLs in it.

    >>> clean_text("cannot open 'root://me:pw@host//f?authz=abc': gone")
    "cannot open 'root://host//f': gone"
    """
    return _SECRET_QUERY.sub("", _CREDENTIALS.sub("", text))


def clean_url(text: str) -> str:
    """Return a file name without user, password, tokens and signatures.

    >>> clean_url("https://me:pw@host/f.root?authz=abc&x=1")
    'https://host/f.root?x=1'
    """
    if "@" in text:
        text = _CREDENTIALS.sub("", text)
    if "?" not in text:
        return text
    head, _, query = text.partition("?")
    kept = _SECRET_QUERY.sub("", "&" + query).lstrip("&")
    return f"{head}?{kept}" if kept else head


def metadata_of(events: Any) -> Any:
    """Return ``events.metadata``: a mapping, or anything with ``get(key)``; {} if there is none."""
    try:
        metadata = events.metadata
    except Exception:
        return {}
    return metadata if hasattr(metadata, "get") else {}


def lookup(metadata: Any, key: str) -> Any:
    """Return what the metadata has under a key, None if that is nothing."""
    try:
        return metadata.get(key)
    except Exception:
        return None


def about(metadata: Any) -> dict[str, Any]:
    """Return what identifies a chunk, of its metadata: fields of its record."""
    name = lookup(metadata, "filename")
    return {
        "dataset": lookup(metadata, "dataset"),
        "file": None if name is None else clean_url(str(name)),
        "tree": lookup(metadata, "treename"),
        "uuid": lookup(metadata, "fileuuid") or lookup(metadata, "uuid") or None,
        "entry_start": lookup(metadata, "entrystart"),
        "entry_stop": lookup(metadata, "entrystop"),
    }


def user_metadata(metadata: Any) -> dict[str, Any]:
    """Return what the user added to the metadata, as far as it is plain data."""
    if not isinstance(metadata, dict):
        return {}
    return {
        key: _cleaned(value)
        for key, value in metadata.items()
        if key not in KNOWN_METADATA and isinstance(key, str) and is_small(value)
    }


def _cleaned(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return plain data with all names in it cleaned; what is too deep becomes None."""
    if isinstance(value, str):
        return clean_url(value)
    if not isinstance(value, CONTAINERS):
        return value
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {
            clean_url(key) if isinstance(key, str) else key: _cleaned(inner, depth - 1)
            for key, inner in value.items()
        }
    return [_cleaned(inner, depth - 1) for inner in value]


def is_small(value: Any) -> bool:
    """Tell whether a value is plain data of a size that each record can have."""
    if isinstance(value, (int, float, bool)):
        return True
    return isinstance(value, (str, list, dict, tuple)) and len(value) <= MAX_METADATA


def factory_of(events: Any) -> Any:
    """Return coffea's events factory, or None."""
    try:
        return events.attrs["@events_factory"]
    except Exception:
        return None


def handle_of(events: Any, factory: Any = None) -> Any:
    """Return the open file or tree of the events, or None."""
    factory = factory_of(events) if factory is None else factory
    try:
        handle = factory.file_handle
    except Exception:
        handle = None
    if handle is None:
        handle = lookup(metadata_of(events), "filehandle")
    return open_source(factory) if handle is None else handle


def open_source(factory: Any) -> Any:
    """Return the tree that coffea before 2025.12, which keeps no file, has open; None if none."""
    try:
        return next(kept for kept in factory._mapping._cache.values() if hasattr(kept, "file"))
    except Exception:
        return None


def source_of(events: Any, factory: Any = None) -> Any:
    """Return what counts the requested bytes (``num_requested_bytes``), or None."""
    return source_of_handle(handle_of(events, factory))


def source_of_handle(handle: Any) -> Any:
    """Return the same of an open file or tree."""
    try:
        return handle.file.source
    except Exception:
        return None


def requested_bytes(source: Any) -> int:
    """Return the source's counter, 0 without one."""
    try:
        return int(source.num_requested_bytes)
    except Exception:
        return 0


def access_log(factory: Any) -> Any:
    """Return coffea's list of the branches that were read, None if it keeps none.

    Before 2025.12 it has no public name, before 2025.9 it has names in place of entries.
    """
    log = getattr(factory, "access_log", None)
    return getattr(getattr(factory, "_mapping", None), "_access_log", None) if log is None else log


def touched_branches(factory: Any) -> list[str]:
    """Return the branches in coffea's access log, each once, in the order of first access."""
    try:
        log = access_log(factory) or ()
        return list(dict.fromkeys(str(getattr(entry, "branch", entry)) for entry in log))
    except Exception:
        return []


def preloaded_branches(factory: Any) -> list[str]:
    """Return the branches that were read before process() was called."""
    arrays = getattr(getattr(factory, "_mapping", None), "preloaded_arrays", None)
    return [str(name) for name in arrays] if arrays else []
