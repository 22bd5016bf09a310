"""Answers that are shown: in a terminal by rich, as text, in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text


@dataclass(frozen=True)
class Hanging:
    """A text behind a mark; lines for which there is no room go on below the text."""

    mark: str
    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        room = max(options.max_width - len(self.mark), 1)
        mark = self.mark
        for line in Text(self.text).wrap(console, room):
            yield Text(mark + line.plain.rstrip(), self.style)
            mark = " " * len(self.mark)


class Shown:
    """An answer that rich draws; text and HTML are made of the same drawing.

    A console that finds itself in a notebook shows there whatever is drawn on it, even if it was
    to be captured: these must not, for the notebook shows what they return.
    """

    _WIDTH = 100

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def __str__(self) -> str:
        from rich.console import Console

        out = StringIO()
        console = Console(width=self._WIDTH, color_system=None, file=out, force_jupyter=False)
        console.print(self)
        return out.getvalue()

    def _repr_html_(self) -> str:
        from rich.console import Console

        console = Console(width=self._WIDTH, record=True, file=StringIO(), force_jupyter=False)
        console.print(self)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")
