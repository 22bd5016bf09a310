/* Timelines: the cluster as a whole, and the workers as bands of quantiles. */

import uPlot from "uplot";

import { axis, Charts, followRange, selectRange, timeAxis } from "./chart";
import { button, choice, h } from "./dom";
import { clock, cut, inUnit, seconds, short, bytes } from "./format";
import type { TimeRange } from "./range";
import type { Report, Series } from "./report";
import { simpleTable } from "./table";
import { color, fade, ofTheme } from "./theme";

const HEIGHT = 170;
/** Up to this many workers are drawn as lines of their own. */
const LINES_MAX = 8;

interface Line {
  label: string;
  values: ArrayLike<number>;
  stroke: string;
  width?: number;
  dash?: number[];
  fill?: string;
}

interface Drawing {
  title: string;
  note: string;
  unit: string;
  lines: Line[];
  bands?: uPlot.Band[];
  limit?: number;
}

function toList(values: ArrayLike<number>): (number | null)[] {
  return Array.from(values, (x) => (Number.isNaN(x) ? null : x));
}

/** Parts of a byte have no label: rounded they would say twice the same. */
function axisText(unit: string): (value: number) => string {
  const end = unit === "bytes" ? "" : "/s";
  if (unit === "bytes" || unit === "bytes/s")
    return (x) => (Number.isInteger(x) ? bytes(x).replace(/\.00 /, " ") + end : "");
  return short;
}

/** The highest value that there is room for. */
function topOf(max: number): number {
  return (max > 0 ? max : 1) * 1.08;
}

function draw(
  place: HTMLElement,
  drawing: Drawing,
  times: number[],
  range: TimeRange,
  charts: Charts,
  width: number,
): void {
  const text = axisText(drawing.unit);
  const lines = drawing.lines;
  const plot = new uPlot(
    {
      width,
      height: HEIGHT,
      cursor: {
        sync: { key: "time", setSeries: false },
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
      },
      legend: { live: true },
      scales: {
        x: { time: false, min: range.from, max: range.to, auto: false },
        y: { range: (_, __, max) => [0, topOf(max)] },
      },
      axes: [timeAxis(), axis(3, (_, splits) => splits.map(text))],
      series: [
        { label: "Time", value: (_, x: number | null) => (x === null ? "" : clock(x, 0.1)) },
        ...lines.map(
          (line): uPlot.Series => ({
            label: line.label,
            stroke: line.stroke,
            width: line.width ?? 1.5,
            dash: line.dash,
            fill: line.fill,
            points: { show: times.length < 3 },
            value: (_, x: number | null) => (x === null ? "" : inUnit(x, drawing.unit)),
          }),
        ),
      ],
      bands: drawing.bands,
      hooks: {
        setSelect: [selectRange(range)],
        draw: [
          (u) => {
            if (drawing.limit === undefined) return;
            const y = u.valToPos(drawing.limit, "y", true);
            if (y < u.bbox.top) return;
            u.ctx.save();
            u.ctx.strokeStyle = ofTheme("alert");
            u.ctx.setLineDash([6, 4]);
            u.ctx.beginPath();
            u.ctx.moveTo(u.bbox.left, y);
            u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
            u.ctx.stroke();
            u.ctx.restore();
          },
        ],
      },
    },
    [times, ...lines.map((line) => toList(line.values))],
    place,
  );
  followRange(charts, plot, range, place);
}

/** What a chart shows, as numbers: a row for each twentieth of what is looked at. */
function numbersOf(drawing: Drawing, times: number[], range: TimeRange): HTMLElement {
  const shown = times.map((_, i) => i).filter((i) => times[i] >= range.from && times[i] <= range.to);
  const step = Math.max(1, Math.floor(shown.length / 20));
  const rows = shown
    .filter((_, i) => i % step === 0)
    .map((i) => [
      clock(times[i], 0.1),
      ...drawing.lines.map((line) => inUnit(line.values[i], drawing.unit)),
    ]);
  return simpleTable(drawing.title, ["Time", ...drawing.lines.map((line) => line.label)], rows);
}

function figure(
  drawing: Drawing,
  times: number[],
  range: TimeRange,
  charts: Charts,
  width: number,
): HTMLElement {
  const place = h("div", {
    class: "chart",
    tabindex: 0,
    role: "img",
    "aria-label": `${drawing.title}: ${drawing.note}. Keys: plus and minus zoom, arrows move, 0 shows all.`,
  });
  const numbers = h("div");
  const details = h("details", { class: "numbers" }, h("summary", {}, "As a table"), numbers);
  details.addEventListener("toggle", () => {
    numbers.replaceChildren(...(details.open ? [numbersOf(drawing, times, range)] : []));
  });
  const element = h(
    "figure",
    { class: "timeline" },
    h("figcaption", {}, h("strong", {}, drawing.title), " ", h("span", {}, drawing.note)),
    place,
    details,
  );
  draw(place, drawing, times, range, charts, width);
  return element;
}

function cluster(report: Report): Drawing[] {
  const { grid } = report.words;
  const lines: Line[] = [
    {
      label: "Chunks in process()",
      values: report.values(grid.running),
      stroke: color(0),
      fill: fade(color(0), 0.18),
    },
  ];
  if (grid.threads)
    lines.push({
      label: "Threads",
      values: report.values(grid.threads),
      stroke: ofTheme("ink"),
      dash: [5, 3],
    });
  lines.push({ label: "Workers", values: report.values(grid.workers), stroke: color(1) });
  return [
    { title: "Activity", note: "chunks at work, and who could work", unit: "count", lines },
    {
      title: "Event rate",
      note: "events of finished chunks, spread evenly over their time",
      unit: "events/s",
      lines: [
        {
          label: "Events",
          values: report.values(grid.events),
          stroke: color(2),
          fill: fade(color(2), 0.18),
        },
      ],
    },
  ];
}

/** The values of one worker, each held for as many cells as it stands for. */
function ofWorker(report: Report, series: Series, worker: number): Float64Array {
  const { n } = report.words.grid;
  const coarse = Math.ceil(n / series.fold);
  const each = report.values(series.each);
  const values = new Float64Array(n);
  for (let i = 0; i < n; i++) values[i] = each[worker * coarse + Math.floor(i / series.fold)];
  return values;
}

function workers(report: Report, series: Series, worker: number | null): Drawing {
  const names = report.words.workers;
  const limit = series.key === "memory" ? report.words.grid.memory_limit_bytes : undefined;
  const base = { title: series.title, unit: series.unit, limit, note: series.note };
  if (limit !== undefined) {
    const most = report.values(series.max).reduce((a, b) => (b > a ? b : a), 0);
    base.note += limit > topOf(most) ? `; the limit is ${bytes(limit)}` : `; dashed: the limit, ${bytes(limit)}`;
  }
  if (names.length <= LINES_MAX) {
    const lines = names.map((_, i) => ({
      label: cut(report.name(names, i), 26),
      values: ofWorker(report, series, i),
      stroke: color(i),
      width: worker === i ? 3 : 1.5,
      dash: i >= 7 ? [4, 3] : undefined,
    }));
    return { ...base, lines: lines.filter((line) => line.values.some((x) => !Number.isNaN(x))) };
  }
  const blue = color(0);
  const lines: Line[] = [
    { label: "Highest", values: report.values(series.max), stroke: fade(blue, 0.35), width: 1 },
    { label: "Lowest", values: report.values(series.min), stroke: fade(blue, 0.35), width: 1 },
    { label: "90 %", values: report.values(series.high), stroke: fade(blue, 0.6), width: 0.5 },
    { label: "10 %", values: report.values(series.low), stroke: fade(blue, 0.6), width: 0.5 },
    { label: "Median", values: report.values(series.median), stroke: blue, width: 2 },
  ];
  if (worker !== null)
    lines.push({
      label: cut(report.name(names, worker), 26),
      values: ofWorker(report, series, worker),
      stroke: color(1),
      width: 2,
    });
  return {
    ...base,
    lines,
    bands: [
      { series: [1, 2], fill: fade(blue, 0.12) },
      { series: [3, 4], fill: fade(blue, 0.25) },
    ],
  };
}

export function timeline(
  panel: HTMLElement,
  report: Report,
  range: TimeRange,
  charts: Charts,
  only?: number,
): void {
  const { grid, series } = report.words;
  if (grid.n === 0) {
    panel.append(
      h("p", { class: "empty" }, "There is nothing to draw over time: the run has no duration yet."),
    );
    return;
  }
  const times = Array.from({ length: grid.n }, (_, i) => (i + 0.5) * grid.step_s);
  const place = h("div", { class: "timelines" });
  const drawn = new Charts();
  charts.add(() => {
    drawn.clear();
  });
  const fill = (worker: number | null) => {
    drawn.clear();
    place.replaceChildren();
    const width = panel.clientWidth || 900;
    let drawings = cluster(report);
    if (only !== undefined) drawings = drawings.slice(0, only);
    else drawings.push(...series.map((one) => workers(report, one, worker)));
    for (const drawing of drawings) place.append(figure(drawing, times, range, drawn, width));
    if (only === undefined && series.length === 0)
      place.append(
        h("p", { class: "empty" }, "The workers were not sampled: there is no CPU or memory over time."),
      );
  };
  if (only === undefined) {
    const controls = h("div", { class: "controls" });
    if (series.length > 0) {
      const options = report.words.workers.map((_, i): [string, string] => [
        String(i),
        report.name(report.words.workers, i),
      ]);
      controls.append(
        choice("Worker", [["", "none marked"], ...options], "", (value) => {
          fill(value === "" ? null : Number(value));
        }),
      );
    }
    controls.append(rangeControls(range, charts));
    panel.append(controls);
  }
  panel.append(place);
  fill(null);
}

/** Which stretch of time is shown, and the way back. */
export function rangeControls(range: TimeRange, charts: Charts): HTMLElement {
  const status = h("span", { role: "status", class: "range" });
  const reset = button("Show all", () => {
    range.reset();
  });
  const tell = () => {
    status.textContent = range.isWhole
      ? "Drag over a chart to zoom."
      : `${clock(range.from, 0.1)} to ${clock(range.to, 0.1)}, ${seconds(range.to - range.from)}`;
    reset.disabled = range.isWhole;
  };
  tell();
  charts.add(range.listen(tell));
  return h("div", { class: "ranges" }, status, reset);
}
