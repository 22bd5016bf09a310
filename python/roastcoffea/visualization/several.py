"""Plots over several runs: what changed, and how they scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roastcoffea.visualization.figure import PathLike, finish, label_axes, new_plot, note
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

_COLOURS = {"worse": VERMILLION, "better": GREEN, "changed": BLUE, "~": GREY}
_MARKS = {"worse": "s", "better": "o", "changed": "D", "~": "o"}
_GROUPS = {"dataset": "dataset ", "section": "section ", "part": "of wall: "}
_WIDEST = 10.0


@styled
def plot_comparison(
    data: dict[str, Any], output_path: PathLike | None, against: int
) -> tuple[Figure, Axes]:
    """Plot the changes of a comparison with their intervals; a grey band is the noise.

    Raises
    ------
    ValueError
        there is nothing to plot
    """
    rows = [r for r in data["rows"] if r["against"] == against and r["change"] is not None]
    if not rows:
        raise ValueError("No figures to compare")
    fig, ax = new_plot((10, 1.6 + 0.34 * len(rows)))
    for y, row in enumerate(rows):
        _draw_change(ax, y, row)
    ends = [abs(v) for r in rows for v in (r["change_low"], r["change_high"], r["change"]) if v]
    reach = min(1.1 * 100 * max(ends, default=0.01), 100 * _WIDEST)
    ax.set_xlim(-min(reach, 105), reach)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(rows)), [_GROUPS.get(r["group"], "") + r["title"] for r in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(visible=True, axis="x", alpha=GRID_ALPHA)
    names = [_group_name(data, 0), _group_name(data, against)]
    label_axes(ax, f"From {names[0]} to {names[1]}", "Change, % (95 % interval)")
    if any(r["noise"] for r in rows):
        note(
            ax, "band: what two runs differ by themselves", x=0.99, y=0.02, ha="right", va="bottom"
        )
    finish(fig, output_path)
    return fig, ax


def _draw_change(ax: Axes, y: int, row: dict[str, Any]) -> None:
    """Draw one figure: its noise, its interval, its change."""
    noise, colour = 100 * row["noise"], _COLOURS[row["verdict"]]
    if noise:
        down = -noise if row["group"] == "part" else -noise / (1 + row["noise"])
        ax.barh(y, noise - down, left=down, height=0.7, color=GREY, alpha=0.18, linewidth=0)
    if row["change_low"] is not None and row["change_high"] is not None:
        ax.plot([100 * row["change_low"], 100 * row["change_high"]], [y, y], color=colour, lw=2)
    filled = row["verdict"] != "~"
    ax.plot(
        100 * row["change"],
        y,
        marker=_MARKS[row["verdict"]],
        markersize=7,
        color=colour,
        markerfacecolor=colour if filled else "white",
    )


def _group_name(data: dict[str, Any], group: int) -> str:
    """Name a group: its run, or how many runs it has."""
    names = [run["name"] for run in data["runs"] if run["group"] == group]
    return names[0] if len(names) == 1 else f"{len(names)} runs"


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
            ax.plot(at, curve, color=colour, linestyle=dash, label=label + ")")
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
    ax.plot(cores, rates, "o", color=INK, markersize=6, label="Runs", zorder=3)
    ax.set_xlim(0, most)
    ax.set_ylim(0, 1.15 * max(rates))
    ax.grid(visible=True, alpha=GRID_ALPHA)
    label_axes(ax, "Scaling", "Cores", "Throughput, kHz")
    ax.legend(loc="lower right")
    finish(fig, output_path)
    return fig, ax
