"""What uproot finds in a ROOT file, in the words of `roast inspect --format json`.

Sizes come from uproot's members and from the bytes of the records, never from our own code.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uproot

MAGIC = {b"ZL": "ZLIB", b"XZ": "LZMA", b"L4": "LZ4", b"ZS": "ZSTD"}
TYPES = {"float32": "float", "float64": "double"}


def blocks(raw: bytes) -> Iterator[str]:
    """Yield the method of each compression block."""
    while raw:
        yield MAGIC[raw[:2]]
        raw = raw[9 + int.from_bytes(raw[3:6], "little") :]


def stored(raw: bytes, whole: int) -> list[str]:
    """Return the methods of data that take `whole` bytes in memory; none if kept as they are."""
    return [] if len(raw) >= whole else list(blocks(raw))


def basket_methods(file: Any, branch: Any) -> Iterator[tuple[list[str], int, int]]:
    """Yield the blocks, the bytes in memory and the length of the key of each basket on disk."""
    on_disk = branch.num_baskets - len(branch.embedded_baskets)
    for i in range(on_disk):
        start = int(branch.member("fBasketSeek")[i])
        stop = start + int(branch.member("fBasketBytes")[i])
        raw = bytes(file.file.source.chunk(start, stop).raw_data)
        objlen, keylen = int.from_bytes(raw[6:10], "big"), int.from_bytes(raw[14:16], "big")
        yield stored(raw[keylen:], objlen), keylen + objlen, keylen


def type_of(branch: Any) -> dict[str, str]:
    """Return the type of a branch as C++ spells it; uproot has none for one with branches."""
    of = branch.interpretation
    if isinstance(of, uproot.AsGrouped):
        return {}
    if isinstance(of, uproot.AsStrings):
        return {"type": "char*"}
    jagged = isinstance(of, uproot.AsJagged)
    dtype = of.content.from_dtype if jagged else of.from_dtype
    base = dtype.base.newbyteorder("=").name
    shape = "[]" * jagged + "".join(f"[{n}]" for n in dtype.shape)
    return {"type": TYPES.get(base, base) + shape}


def branch_oracle(file: Any, branch: Any, path: str) -> dict[str, Any]:
    """Return the figures of one branch."""
    baskets = list(basket_methods(file, branch))
    offsets = [int(offset) for offset in branch.entry_offsets]
    embedded = branch.embedded_baskets
    return {
        "path": path,
        "name": branch.name,
        "class": branch.classname,
        "entries": branch.num_entries,
        "compressed_bytes": int(branch.member("fBasketBytes")[: len(baskets)].sum()),
        "uncompressed_bytes": int(branch.member("fTotBytes")),
        "zip_bytes": int(branch.member("fZipBytes")),
        "num_baskets": len(baskets) + len(embedded),
        "num_embedded": len(embedded),
        "embedded_bytes": sum(len(basket.data) for basket in embedded),
        "entry_offsets": offsets[:6],
        "entry_offsets_last": offsets[-1],
        "entry_offsets_sum": sum(offsets),
        "compress_setting": int(branch.member("fCompress")),
        "algorithms": dict(Counter(found[0] if found else "NONE" for found, _, _ in baskets)),
        "blocks": dict(Counter(method for found, _, _ in baskets for method in found)),
        "basket_uncompressed": sum(whole for _, whole, _ in baskets),
        "keylen_sum": sum(keylen for _, _, keylen in baskets),
        **type_of(branch),
    }


def all_branches(parent: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and branch, depth first."""
    for branch in parent.branches:
        yield prefix + branch.name, branch
        yield from all_branches(branch, f"{prefix}{branch.name}/")


def added(rows: list[dict[str, Any]], key: str) -> dict[str, int]:
    """Return the sum of counts by name."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row[key])
    return dict(total)


def tree_oracle(file: Any, key: Any, path: str, others: list[int]) -> dict[str, Any]:
    """Return the figures of a tree and of its branches."""
    tree = key.get()
    rows = [branch_oracle(file, branch, name) for name, branch in all_branches(tree)]
    return {
        "path": path,
        "cycle": key.fCycle,
        "other_cycles": others,
        "class": "TTree",
        "name": tree.name,
        "title": tree.title,
        "entries": tree.num_entries,
        "zip_bytes": int(tree.member("fZipBytes")),
        "tot_bytes": int(tree.member("fTotBytes")),
        "num_branches": len(rows),
        "num_top_branches": len(tree.branches),
        "metadata_bytes": key.fNbytes,
        "metadata_objlen": key.fObjlen,
        "algorithms": added(rows, "algorithms"),
        "blocks": added(rows, "blocks"),
        "branches": rows,
        **{
            name: sum(row[name] for row in rows)
            for name in ("compressed_bytes", "uncompressed_bytes", "num_baskets", "num_embedded")
        },
    }


def pages(ntuple: Any, column: int) -> list[Any]:
    """Return the pages of a column in all clusters."""
    return [page for cluster in ntuple.page_link_list for page in cluster[column].pages]


def column_oracle(file: Any, ntuple: Any, number: int) -> dict[str, Any]:
    """Return the figures of a column."""
    record = ntuple.column_records[number]
    found = pages(ntuple, number)
    sizes = [page.locator.num_bytes for page in found]
    wholes = [-(-abs(page.num_elements) * record.nbits // 8) for page in found]
    methods: Counter[str] = Counter()
    for page, size, whole in zip(found, sizes, wholes, strict=True):
        start = page.locator.offset
        raw = bytes(file.file.source.chunk(start, start + size).raw_data)
        methods[(stored(raw, whole) or ["NONE"])[0]] += 1
    return {
        "id": number,
        "field": record.field_id,
        "bits": record.nbits,
        "num_pages": len(found),
        "elements": sum(page.num_elements for page in found),
        "compressed_bytes": sum(sizes),
        "uncompressed_bytes": sum(wholes),
        "checksum_bytes": 8 * sum(page.has_checksum for page in found),
        "algorithms": dict(methods),
    }


def field_oracles(ntuple: Any, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of all fields; those within a field count for it, too."""
    rows: list[dict[str, Any]] = []
    records = ntuple.field_records
    for number, record in enumerate(records):
        own = [column for column in columns if column["field"] == number]
        top = record.parent_field_id == number
        parent = "" if top else rows[record.parent_field_id]["path"] + "."
        rows.append(
            {
                "id": number,
                "parent": record.parent_field_id,
                "path": parent + record.field_name,
                "name": record.field_name,
                "type": record.type_name,
                "role": int(record.struct_role),
                "projected": False,
                "columns": [column["id"] for column in own],
                "compressed_bytes": sum(column["compressed_bytes"] for column in own),
            }
        )
        rows[-1]["subtree_compressed_bytes"] = rows[-1]["compressed_bytes"]
    for row in reversed(rows):  # a field comes after the one that it is in
        if row["parent"] != row["id"]:
            parent = rows[row["parent"]]
            parent["subtree_compressed_bytes"] += row["subtree_compressed_bytes"]
    return rows


def ntuple_oracle(file: Any, key: Any, path: str, others: list[int]) -> dict[str, Any]:
    """Return the figures of an RNTuple, its fields and columns."""
    ntuple = key.get()
    clusters = ntuple.cluster_summaries
    columns = [column_oracle(file, ntuple, i) for i in range(len(ntuple.column_records))]
    fields = field_oracles(ntuple, columns)
    version = [ntuple.member(f"fVersion{part}") for part in ("Epoch", "Major", "Minor", "Patch")]
    return {
        "path": path,
        "cycle": key.fCycle,
        "other_cycles": others,
        "name": ntuple.header.ntuple_name,
        "version": ".".join(map(str, version)),
        "writer": ntuple.header.writer_identifier,
        "entries": ntuple.num_entries,
        "num_fields": len(fields),
        "num_top_fields": sum(row["parent"] == row["id"] for row in fields),
        "num_columns": len(columns),
        "num_alias_columns": len(ntuple.alias_column_records),
        "num_cluster_groups": len(ntuple.footer.cluster_group_records),
        "num_clusters": len(clusters),
        "cluster_first_entries": [cluster.num_first_entry for cluster in clusters[:6]],
        "cluster_entries": [cluster.num_entries for cluster in clusters[:6]],
        "header_bytes": ntuple.member("fNBytesHeader"),
        "header_len": ntuple.member("fLenHeader"),
        "footer_bytes": ntuple.member("fNBytesFooter"),
        "footer_len": ntuple.member("fLenFooter"),
        "algorithms": added(columns, "algorithms"),
        "fields": fields,
        "columns": columns,
        **{
            name: sum(column[name] for column in columns)
            for name in ("num_pages", "compressed_bytes", "uncompressed_bytes", "checksum_bytes")
        },
    }


def halves(entries: int) -> list[tuple[int, int]]:
    """Return two ranges that meet in the middle."""
    return [(0, entries // 2), (entries // 2, entries)]


def tree_ranges(tree: Any, path: str) -> dict[str, Any]:
    """Return what two halves of the entries take of the first and the last branch."""
    branches = list(all_branches(tree))
    ranges = []
    for start, stop in halves(tree.num_entries):
        for name, branch in dict([branches[0], branches[-1]]).items():
            found = branch.entries_to_ranges_or_baskets(start, stop) if stop > start else []
            on_disk = [part for _, part in found if isinstance(part, tuple)]
            ranges.append(
                {
                    "branch": name,
                    "start": start,
                    "stop": stop,
                    "bytes": int(sum(b - a for a, b in on_disk)),
                    "baskets": len(on_disk),
                    "embedded": len(found) - len(on_disk),
                }
            )
    return {"tree": path, "ranges": ranges}


def ntuple_ranges(ntuple: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Return what two halves of the entries take of the first and the last top field."""
    tops = [field for field in row["fields"] if field["parent"] == field["id"]]
    ranges = []
    for start, stop in halves(row["entries"]):
        overlapping = [
            number
            for number, cluster in enumerate(ntuple.cluster_summaries)
            if cluster.num_first_entry < stop
            and cluster.num_first_entry + cluster.num_entries > start
        ]
        for top in {field["id"]: field for field in (tops[0], tops[-1])}.values():
            inside = [f for f in row["fields"] if f["path"].split(".")[0] == top["name"]]
            found = [
                page
                for number in overlapping
                for field in inside
                for column in field["columns"]
                for page in ntuple.page_link_list[number][column].pages
            ]
            ranges.append(
                {
                    "field": top["path"],
                    "start": start,
                    "stop": stop,
                    "bytes": sum(page.locator.num_bytes for page in found),
                    "pages": len(found),
                    "clusters": len(overlapping),
                }
            )
    return {"rntuple": row["path"], "ranges": ranges}


def highest_cycles(directory: Any, prefix: str = "") -> Iterator[tuple[str, Any, list[int]]]:
    """Yield path, key and the lower cycles, a directory's contents behind it."""
    cycles: dict[str, list[Any]] = {}
    for key in directory._keys:
        cycles.setdefault(key.fName, []).append(key)
    for name, keys in cycles.items():
        *lower, last = sorted(keys, key=lambda key: key.fCycle)
        yield prefix + name, last, [key.fCycle for key in lower]
        if last.fClassName == "TDirectory":
            yield from highest_cycles(last.get(), f"{prefix}{name}/")


@functools.cache
def oracle(path: Path) -> dict[str, Any]:
    """Return what is to be found in a file."""
    with uproot.open(path) as file:
        classes = Counter(kind for _, kind in file.iterclassnames())
        found: dict[str, Any] = {
            "file": path.name,
            "size": path.stat().st_size,
            "header": {
                "version": file.file.fVersion,
                "is64": file.file.is_64bit,
                "begin": file.file.fBEGIN,
                "end": file.file.fEND,
                "compress": file.file.fCompress,
                "units": file.file.fUnits,
            },
            "num_keys": classes.total(),
            "classes": dict(classes),
            "directories": [],
            "trees": [],
            "rntuples": [],
            "chunks": [],
            "expect": "ok",
        }
        for name, key, lower in highest_cycles(file):
            if key.fClassName == "TDirectory":
                found["directories"].append(name)
            elif key.fClassName == "TTree":
                found["trees"].append(tree_oracle(file, key, name, lower))
                found["chunks"].append(tree_ranges(key.get(), name))
            elif key.fClassName == "ROOT::RNTuple":
                found["rntuples"].append(ntuple_oracle(file, key, name, lower))
                found["chunks"].append(ntuple_ranges(key.get(), found["rntuples"][-1]))
    return found
