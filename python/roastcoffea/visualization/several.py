"""Plots over several runs: what changed, and how they scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from roastcoffea.visualization.figure import PathLike, finish, label_axes, new_plot, whole_numbers
from roastcoffea.visualization.names import plain, shown
from roastcoffea.visualization.style import (
    BLUE,
    GREEN,
    GREY,
    GRID_ALPHA,
    INK,
    SMALL,
    VERMILLION,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: How a verdict looks: colour, mark, words
_VERDICTS = {
    "worse": (VERMILLION, "s", "Worse"),
    "better": (GREEN, "o", "Better"),
    "changed": (BLUE, "D", "Different, neither is better"),
    "~": (GREY, "o", "Nothing can be said"),
}
_HEADINGS = {
    "run": "Whole runs",
    "chunk": "Chunks",
    "part": "Waits, of wall time",
    "dataset": "Datasets, wall time",
    "section": "Sections",
}
#: Ratios that the axis may end with, each with a tick on the way
_AXES = (
    (1.02, 1.01),
    (1.05, 1.02),
    (1.1, 1.05),
    (1.25, 1.1),
    (1.5, 1.2),
    (2.0, 1.4),
    (3.0, 1.7),
    (5.0, 2.0),
    (10.0, 3.0),
)


@styled
def plot_comparison(
    data: dict[str, Any], output_path: PathLike | None, against: int
) -> tuple[Figure, Axes]:
    """Plot the changes of a comparison with their intervals; a grey band is the noise.

    The axis is one of ratios, so that half and twice are equally far away.

    Raises
    ------
    ValueError
        there is nothing to plot
    """
    rows = [r for r in data["rows"] if r["against"] == against and r["change"] is not None]
    if not rows:
        raise ValueError("No figures to compare")
    groups = list(dict.fromkeys(row["group"] for row in rows))
    fig, ax = new_plot((10, 1.6 + 0.3 * (len(rows) + len(groups))))
    reach, tick = _axis(rows)
    labels: list[str] = []
    headings: list[int] = []
    for group in groups:
        headings.append(len(labels))
        labels.append(_HEADINGS[group])
        for row in rows:
            if row["group"] == group:
                _draw_change(ax, len(labels), row, reach)
                labels.append(shown(row["title"]))
    ax.set_xscale("log")
    ax.minorticks_off()
    ticks = [1 / reach, 1 / tick, 1.0, tick, reach]
    ax.set_xticks(ticks, [_percent(ratio - 1) for ratio in ticks])
    ax.set_xlim(1 / (reach * 1.02), reach * 1.02)
    ax.axvline(1, color=INK, linewidth=0.8, zorder=1)
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(axis="y", length=0)
    plain(ax.get_yticklabels())
    for at in headings:
        ax.get_yticklabels()[at].set_fontweight("bold")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=True, axis="x", alpha=GRID_ALPHA)
    ax.grid(visible=False, axis="y")
    title = f"From {_group_name(data, 0)} to {_group_name(data, against)}"
    label_axes(ax, "Change (95 % interval)", title=title)
    plain([ax.title])
    _name_marks(fig, rows)
    finish(fig, output_path)
    return fig, ax


def _axis(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Return where the axis ends: all changes fit, and nine tenths of the intervals."""
    ends = sorted(_size(row[end]) for row in rows for end in ("change_low", "change_high"))
    needed = max(*(_size(row["change"]) for row in rows), ends[int(0.9 * (len(ends) - 1))])
    return next((axis for axis in _AXES if axis[0] >= 1.01 * needed), _AXES[-1])


def _size(change: float | None) -> float:
    """Return a change as a ratio above 1; none where it is not known, or beyond all ratios."""
    if change is None or change <= -1:
        return 1.0
    return max(1 + change, 1 / (1 + change))


def _percent(share: float) -> str:
    digits = 0 if abs(share) >= 0.1 or share == 0 else 1
    return "0 %" if share == 0 else f"{100 * share:+.{digits}f} %".replace("-", "−")


def _draw_change(ax: Axes, y: int, row: dict[str, Any], reach: float) -> None:
    """Draw one figure: its noise, its interval, its change; an arrow if that is outside."""
    colour, mark, _ = _VERDICTS[row["verdict"]]
    least, most = 1 / (2 * reach), 2 * reach
    if row["noise"]:
        left, right = max(1 / (1 + row["noise"]), least), min(1 + row["noise"], most)
        ax.barh(y, right - left, left=left, height=0.7, color=GREY, alpha=0.18, linewidth=0)
    if row["change_low"] is not None and row["change_high"] is not None:
        ends = [min(max(1 + row[end], least), most) for end in ("change_low", "change_high")]
        ax.plot(ends, [y, y], color=colour, lw=2)
    ratio = min(max(1 + row["change"], 1 / reach), reach)
    if ratio != 1 + row["change"]:
        mark = ">" if ratio > 1 else "<"
    face = "white" if row["verdict"] == "~" else colour
    ax.plot(ratio, y, marker=mark, markersize=7, color=colour, markerfacecolor=face, zorder=3)


def _name_marks(fig: Figure, rows: list[dict[str, Any]]) -> None:
    """Say below the axes what the marks mean that are there."""
    seen = {row["verdict"] for row in rows}
    handles: list[Any] = [
        Line2D(
            [],
            [],
            marker=mark,
            linestyle="",
            color=colour,
            markerfacecolor="white" if verdict == "~" else colour,
            label=words,
        )
        for verdict, (colour, mark, words) in _VERDICTS.items()
        if verdict in seen
    ]
    if any(row["noise"] for row in rows):
        handles.append(Patch(color=GREY, alpha=0.3, label="What two runs differ by themselves"))
    fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _group_name(data: dict[str, Any], group: int) -> str:
    """Name a group: its run, or how many runs it has."""
    letter = chr(ord("A") + group)
    names = [run["name"] for run in data["runs"] if run["group"] == group]
    return shown(names[0]) if len(names) == 1 else f"{letter} ({len(names)} runs)"


@styled
def plot_scaling(data: dict[str, Any], output_path: PathLike | None) -> tuple[Figure, Axes]:
    """Plot the throughput of runs against their cores, with the laws fitted to it.

    Raises
    ------
    ValueError
        no run tells its cores and its throughput
    """
    points = [p for p in data["points"] if "left_out" not in p]
    if not points:
        raise ValueError("No runs with cores and throughput")
    cores = [p["cores"] for p in points]
    fig, ax = new_plot((9, 6))
    most = 1.3 * max(cores)
    first = points[0]
    per_core = first["events_per_s"] / first["speedup"] if first["speedup"] else 0.0
    ax.plot(
        [0, most], [0, most * per_core / 1e3], color=GREY, linestyle=":", label="Linear", zorder=1
    )
    for fit, colour, dash in zip(data["fits"], (BLUE, VERMILLION), ("--", "-"), strict=True):
        if not fit["why"]:
            label = f"{fit['title']} (σ = {100 * fit['sigma']['value']:.2g} %"
            if fit["law"] == "usl":
                label += f", κ = {fit['kappa']['value']:.2g}"
            at = [n for n, _ in fit["curve"]]
            curve = [rate / 1e3 for _, rate in fit["curve"]]
            # dashes above a line: two laws that agree are both seen
            above = 3 if dash == "--" else 2
            ax.plot(at, curve, color=colour, linestyle=dash, label=label + ")", zorder=above)
    knee = data["fits"][1].get("knee", {}).get("value")
    if knee is not None and knee <= most:
        ax.axvline(knee, color=VERMILLION, linewidth=0.8, linestyle=":")
        ax.annotate(
            f"knee {knee:.0f}",
            (knee, 0),
            xytext=(4, 6),
            textcoords="offset points",
            fontsize=SMALL,
            color=VERMILLION,
        )
    rates = [p["events_per_s"] / 1e3 for p in points]
    ax.plot(cores, rates, "o", color=INK, markersize=6, label="Runs", zorder=4)
    ax.set_xlim(0, most)
    whole_numbers(ax.xaxis)
    ax.set_ylim(0, 1.15 * max(rates))
    ax.grid(visible=True, alpha=GRID_ALPHA)
    label_axes(ax, "Cores", "Throughput, kHz", title="Scaling")
    ax.legend(loc="lower right")
    finish(fig, output_path)
    return fig, ax
