/* What each worker did when: a row for each chunk that it can have at a time. */

import uPlot from "uplot";

import { axis, Charts, followRange, selectRange, timeAxis } from "./chart";
import { Chosen, Chunks, COLOR_BY, coloring, type ColorBy, legend, Tooltip } from "./chunk";
import { choice, h } from "./dom";
import { count, cut, seconds } from "./format";
import { Pixels } from "./pixels";
import type { TimeRange } from "./range";
import type { Cell, Report } from "./report";
import { SortableTable } from "./table";
import { rgb } from "./theme";
import { rangeControls } from "./timeline";

const ROW_MIN = 3;
const ROW_MAX = 16;
const HEIGHT_MAX = 640;
const HEIGHT_MIN = 120;
const AXES = 36;

/** Where the chunks of each worker are, in the rows of the columns and of the picture. */
interface Rows {
  /** First chunk of each worker, and one past the last of all. */
  first: Uint32Array;
  /** First row of each worker, and one past the last of all. */
  row: Uint32Array;
  lane: Float64Array;
}

function rowsOf(chunks: Chunks): Rows {
  const { words } = chunks.report;
  const n = words.workers.length;
  const lane = chunks.report.values(words.chunks.lane);
  const first = new Uint32Array(n + 1);
  const row = new Uint32Array(n + 1);
  const lanes = new Uint32Array(n).fill(1);
  for (let i = 0; i < chunks.n; i++) {
    const worker = chunks.worker[i];
    first[worker + 1] = i + 1;
    if (lane[i] + 1 > lanes[worker]) lanes[worker] = lane[i] + 1;
  }
  for (let w = 0; w < n; w++) {
    if (first[w + 1] < first[w]) first[w + 1] = first[w];
    row[w + 1] = row[w] + lanes[w];
  }
  return { first, row, lane };
}

class Gantt {
  readonly element = h("div", { class: "chart gantt", tabindex: 0, role: "img" });
  readonly #chunks: Chunks;
  readonly #rows: Rows;
  readonly #range: TimeRange;
  readonly #colorBy: ColorBy;
  readonly #pixels = new Pixels();
  readonly #tooltip = new Tooltip();
  readonly #plot: uPlot;

  constructor(
    chunks: Chunks,
    range: TimeRange,
    colorBy: ColorBy,
    charts: Charts,
    width: number,
    chosen: (chunk: number) => void,
  ) {
    this.#chunks = chunks;
    this.#range = range;
    this.#colorBy = colorBy;
    this.#rows = rowsOf(chunks);
    const names = chunks.report.words.workers;
    const total = this.#rows.row[names.length];
    const height = Math.min(HEIGHT_MAX, Math.max(HEIGHT_MIN, total * ROW_MAX));
    this.element.setAttribute(
      "aria-label",
      `Chunks of ${names.length} workers over time. Keys: plus and minus zoom, arrows move, 0 shows all. The table below tells how busy each worker was.`,
    );
    this.#plot = new uPlot(
      {
        width,
        height: height + AXES,
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: "time", setSeries: false } },
        scales: {
          x: { time: false, min: range.from, max: range.to, auto: false },
          y: { dir: -1, range: () => [0, total] },
        },
        axes: [
          timeAxis(),
          {
            ...axis(3, (_, splits) => splits.map((at) => this.#label(at)), undefined, 150),
            splits: (u) => this.#splits(u),
            grid: { show: false },
          },
        ],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [
            (u) => {
              this.#paint(u);
            },
          ],
          setSelect: [selectRange(range)],
        },
      },
      [
        [0, range.end],
        [0, total],
      ],
      this.element,
    );
    this.element.append(this.#tooltip.element);
    followRange(charts, this.#plot, range, this.element);
    this.#tooltip.follow(this.#plot.over, chunks, (left, top) => this.#find(left, top), chosen);
  }

  #middle(worker: number): number {
    return (this.#rows.row[worker] + this.#rows.row[worker + 1]) / 2;
  }

  /** The middles of as many workers as there is room for. */
  #splits(u: uPlot): number[] {
    const n = this.#rows.row.length - 1;
    const step = Math.max(1, Math.ceil((n * 14) / Math.max(1, u.bbox.height / (devicePixelRatio || 1))));
    const splits: number[] = [];
    for (let w = 0; w < n; w += step) splits.push(this.#middle(w));
    return splits;
  }

  #workerAt(row: number): number {
    const rows = this.#rows.row;
    let low = 0;
    let high = rows.length - 1;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (rows[middle] <= row) low = middle;
      else high = middle;
    }
    return low;
  }

  #label(row: number): string {
    const name = this.#chunks.report.name(this.#chunks.report.words.workers, this.#workerAt(row));
    return cut(name.replace(/^[a-z]+:\/\//, ""), 22);
  }

  #paint(u: uPlot): void {
    const { start, wall, n, worker } = this.#chunks;
    const { row, lane } = this.#rows;
    const { of, colors } = coloring(this.#chunks, this.#colorBy);
    const { from, to } = this.#range;
    const pixels = this.#pixels;
    pixels.begin(u.bbox.width, u.bbox.height);
    const toX = pixels.width / (to - from);
    const toY = pixels.height / row[row.length - 1];
    const gap = toY >= 2 * ROW_MIN ? 1 : 0;
    const weight = Math.min(1, toY);
    for (let i = 0; i < n; i++) {
      const x0 = (start[i] - from) * toX;
      const x1 = x0 + wall[i] * toX;
      if (!(x1 >= 0 && x0 < pixels.width)) continue;
      const y0 = (row[worker[i]] + lane[i]) * toY;
      pixels.block(x0, x1, y0, y0 + toY - gap, of[i], weight);
    }
    pixels.paint(u.ctx, u.bbox.left, u.bbox.top, colors.map(rgb), (covered) => 0.12 + 0.88 * covered);
  }

  /** The chunk under the pointer, or -1. */
  #find(left: number, top: number): number {
    const { start, wall } = this.#chunks;
    const { first, row, lane } = this.#rows;
    const at = Math.floor(this.#plot.posToVal(top, "y"));
    const worker = this.#workerAt(at);
    const time = this.#plot.posToVal(left, "x");
    const reach = (3 * (this.#range.to - this.#range.from)) / Math.max(1, this.#plot.over.clientWidth);
    let best = reach;
    let found = -1;
    for (let i = first[worker]; i < first[worker + 1]; i++) {
      if (row[worker] + lane[i] !== at && row[row.length - 1] * ROW_MIN < HEIGHT_MAX) continue;
      const away = Math.max(start[i] - time, time - start[i] - wall[i], 0);
      if (away < best) {
        best = away;
        found = i;
      }
    }
    return found;
  }
}

/** Workers by how busy they were: the picture in numbers. */
function workersTable(chunks: Chunks): HTMLElement {
  const { words } = chunks.report;
  const n = words.workers.length;
  const wall = new Float64Array(n);
  const done = new Uint32Array(n);
  const from = new Float64Array(n).fill(Infinity);
  const to = new Float64Array(n);
  for (let i = 0; i < chunks.n; i++) {
    const w = chunks.worker[i];
    if (!(chunks.wall[i] >= 0)) continue;
    wall[w] += chunks.wall[i];
    done[w]++;
    if (Number.isNaN(chunks.start[i])) continue;
    from[w] = Math.min(from[w], chunks.start[i]);
    to[w] = Math.max(to[w], chunks.start[i] + chunks.wall[i]);
  }
  const rows = words.workers.map((_, w): Cell[] => {
    const span = to[w] - from[w];
    return [
      chunks.report.name(words.workers, w),
      [done[w], count(done[w])],
      done[w] ? [wall[w], seconds(wall[w])] : null,
      span >= 0 ? [span, seconds(span)] : null,
      span > 0 ? [wall[w] / span, (wall[w] / span).toFixed(2)] : null,
    ];
  });
  return new SortableTable({
    name: "workers",
    title: "Workers",
    columns: [
      { key: "worker", title: "Worker", right: false },
      { key: "chunks", title: "Chunks", right: true },
      { key: "wall_s", title: "In process()", right: true },
      { key: "span_s", title: "First to last", right: true },
      { key: "at_a_time", title: "Chunks at a time", right: true },
    ],
    rows,
  }).element;
}

export function ganttTab(panel: HTMLElement, report: Report, range: TimeRange, charts: Charts): void {
  if (report.words.chunks.n === 0) {
    panel.append(h("p", { class: "empty" }, "There are no chunk records, so nothing is known about when they ran."));
    return;
  }
  const chunks = new Chunks(report);
  const place = h("div", { class: "plotplace" });
  const keys = h("div");
  const chosen = new Chosen(chunks);
  const drawn = new Charts();
  charts.add(() => {
    drawn.clear();
  });
  const fill = (colorBy: ColorBy) => {
    drawn.clear();
    const width = place.clientWidth || panel.clientWidth || 900;
    const gantt = new Gantt(chunks, range, colorBy, drawn, width, (chunk) => {
      chosen.show(chunk);
    });
    place.replaceChildren(gantt.element);
    keys.replaceChildren(legend(chunks, colorBy));
  };
  panel.append(
    h(
      "div",
      { class: "controls" },
      choice("Coloured by", COLOR_BY, "dataset", (value) => {
        fill(value as ColorBy);
      }),
      rangeControls(range, charts),
    ),
    place,
    keys,
    chosen.element,
    h("h3", {}, "Workers"),
    workersTable(chunks),
  );
  fill("dataset");
}
