"""The data that are written into a page."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

DATA = re.compile(r'(<script type="application/octet-stream" id="data">)([^<]*)(</script>)')


def words_of(path: Path) -> tuple[dict[str, Any], bytes]:
    """The words of a page and its columns."""
    found = DATA.search(path.read_text())
    assert found
    data = zlib.decompress(base64.b64decode(found.group(2)))
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), data[4 + length :]
