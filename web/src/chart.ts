/* uPlot in the style of the page: axes, focus, zoom by drag, wheel and keys. */

import uPlot from "uplot";

import { clock } from "./format";
import { listenKeys, type TimeRange } from "./range";
import { ofTheme } from "./theme";

export const FONT = "11px system-ui, sans-serif";

/** Charts that are on the page now; they end with the panel that shows them. */
export class Charts {
  readonly #ends: (() => void)[] = [];

  add(end: () => void): void {
    this.#ends.push(end);
  }

  clear(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

export function axis(side: number, values: uPlot.Axis.DynamicValues, label?: string, size?: number): uPlot.Axis {
  const line = ofTheme("line");
  return {
    side,
    values,
    label,
    labelFont: FONT,
    labelSize: 18,
    labelGap: 2,
    size: size ?? (side === 3 ? 76 : 28),
    font: FONT,
    stroke: ofTheme("muted"),
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    space: side === 3 ? 26 : 80,
  };
}

export function timeAxis(label?: string): uPlot.Axis {
  return {
    ...axis(2, (_, splits) => {
      const step = splits.length > 1 ? splits[1] - splits[0] : 1;
      return splits.map((x) => clock(x, step));
    }, label),
    incrs: [
      0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
      900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 2592000,
    ],
  };
}

/** Whether an element is on the panel that is shown: only there it is worth to draw. */
function isShown(place: HTMLElement): boolean {
  return place.clientWidth > 0;
}

/** Follows the width of its place and ends with it; `shown` is called when the panel is shown again. */
export function keepWidth(charts: Charts, plot: uPlot, place: HTMLElement, shown?: () => void): void {
  let visible = isShown(place);
  const observer = new ResizeObserver(() => {
    const width = place.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
    if (isShown(place) && !visible) shown?.();
    visible = isShown(place);
  });
  observer.observe(place);
  charts.add(() => {
    observer.disconnect();
    plot.destroy();
  });
}

/** A chart over time and the page's stretch of time follow each other. */
export function followRange(
  charts: Charts,
  plot: uPlot,
  range: TimeRange,
  place: HTMLElement,
): void {
  const follow = () => {
    if (isShown(place) && (plot.scales.x.min !== range.from || plot.scales.x.max !== range.to))
      plot.setScale("x", { min: range.from, max: range.to });
  };
  charts.add(range.listen(follow));
  keepWidth(charts, plot, place, follow);
  plot.over.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
      event.preventDefault();
      const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
      range.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, at);
    },
    { passive: false },
  );
  plot.over.addEventListener("dblclick", () => {
    range.reset();
  });
  listenKeys(place, () => range);
}

/** What the mouse has marked becomes the stretch of time. */
export function selectRange(range: TimeRange): (plot: uPlot) => void {
  return (plot) => {
    const { left, width } = plot.select;
    if (width < 4) return;
    const from = plot.posToVal(left, "x");
    const to = plot.posToVal(left + width, "x");
    unselect(plot);
    range.set(from, to);
  };
}

export function unselect(plot: uPlot): void {
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}
