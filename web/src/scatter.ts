/* Chunks as points: their duration against what may explain it. */

import uPlot from "uplot";

import { axis, type Charts, keepWidth, timeAxis, unselect } from "./chart";
import { type Chunks, coloring, type ColorBy, Tooltip } from "./chunk";
import { h } from "./dom";
import { briefly, bytes, short } from "./format";
import { Pixels } from "./pixels";
import { listenKeys, type TimeRange } from "./range";
import { rgb } from "./theme";

/** The column that is drawn on the axis of time. */
export const START = "start_utc_ns";

export interface Settings {
  /** The name of a column. */
  against: string;
  colorBy: ColorBy;
  log: boolean;
  dataset: number | null;
  outcome: number | null;
}

const HEIGHT = 420;
/** Points this near to the pointer are meant by it, in pixels. */
const REACH = 24;

interface View {
  x: [number, number];
  y: [number, number];
}

export class Scatter {
  readonly element = h("div", { class: "chart scatter", tabindex: 0, role: "img" });
  /** Those in view, and where they are drawn. */
  visible = new Uint32Array(0);
  count = 0;
  readonly #chunks: Chunks;
  readonly #settings: Settings;
  readonly #range: TimeRange;
  readonly #changed: () => void;
  readonly #pixels = new Pixels();
  readonly #tooltip = new Tooltip();
  #places = new Float32Array(0);
  #whole: View = { x: [0, 1], y: [0, 1] };
  #view: View = { x: [0, 1], y: [0, 1] };
  #plot: uPlot | undefined;
  #marked = -1;

  constructor(
    chunks: Chunks,
    settings: Settings,
    range: TimeRange,
    charts: Charts,
    width: number,
    changed: () => void,
    chosen: (chunk: number) => void,
  ) {
    this.#chunks = chunks;
    this.#settings = settings;
    this.#range = range;
    this.#changed = changed;
    this.visible = new Uint32Array(chunks.n);
    this.#places = new Float32Array(2 * chunks.n);
    this.#measure();
    this.#plot = this.#draw(width);
    this.element.append(this.#tooltip.element);
    const follow = () => {
      const [from, to] = this.#view.x;
      if (settings.against !== START || this.element.clientWidth === 0) return;
      if (from !== range.from || to !== range.to) this.#show({ x: [range.from, range.to], y: this.#view.y });
    };
    keepWidth(charts, this.#plot, this.element, follow);
    charts.add(range.listen(follow));
    this.#listen(chosen);
  }

  get isWhole(): boolean {
    const { x, y } = this.#view;
    return x[0] === this.#whole.x[0] && x[1] === this.#whole.x[1] && y[0] === this.#whole.y[0] && y[1] === this.#whole.y[1];
  }

  reset(): void {
    if (this.#settings.against === START) this.#range.reset();
    this.#show({ x: [...this.#whole.x], y: [...this.#whole.y] });
  }

  /** Draws a ring around a chunk. */
  mark(chunk: number): void {
    this.#marked = chunk;
    this.#plot?.redraw(false);
  }

  #values(): ArrayLike<number> {
    const { against } = this.#settings;
    return against === START ? this.#chunks.start : this.#chunks.amount(against);
  }

  /** The ranges in which all points lie. */
  #measure(): void {
    const xs = this.#values();
    const { wall, n } = this.#chunks;
    let x0 = Infinity;
    let x1 = -Infinity;
    let y0 = Infinity;
    let y1 = 0;
    for (let i = 0; i < n; i++) {
      const x = xs[i];
      const y = wall[i];
      if (!(y > 0) || Number.isNaN(x)) continue;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
    if (!(x1 >= x0)) [x0, x1, y0, y1] = [0, 1, 0.1, 1];
    const { against, log } = this.#settings;
    const pad = (x1 - x0) * 0.02 || Math.abs(x1) * 0.05 || 1;
    const x: [number, number] =
      against === START ? [this.#range.from, this.#range.to] : [Math.max(0, x0 - pad), x1 + pad];
    const y: [number, number] = log ? [y0 / 1.15, y1 * 1.15] : [0, y1 * 1.05];
    this.#whole = { x: against === START ? [0, this.#range.end] : x, y };
    this.#view = { x, y };
  }

  #draw(width: number): uPlot {
    const { against, log } = this.#settings;
    const title = this.#chunks.titleOf(against);
    const unit = this.#chunks.unitOf(against);
    const text =
      unit === "count" ? short : unit === "ns" ? briefly : (x: number) => bytes(x).replace(/\.00 /, " ");
    return new uPlot(
      {
        width,
        height: HEIGHT,
        legend: { show: false },
        cursor: {
          drag: { x: true, y: true, uni: 12, setScale: false },
          points: { show: false },
        },
        scales: {
          x: { time: false, range: () => this.#view.x },
          y: { distr: log ? 3 : 1, range: () => this.#view.y },
        },
        axes: [
          against === START ? timeAxis(title) : axis(2, (_, splits) => splits.map(text), title, 28),
          axis(3, (_, splits) => splits.map((y: number | null) => (y === null ? "" : briefly(y))), "Duration"),
        ],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [
            (u) => {
              this.#paint(u);
            },
          ],
          setSelect: [
            (u) => {
              this.#select(u);
            },
          ],
        },
      },
      [
        [0, 1],
        [1, 1],
      ],
      this.element,
    );
  }

  #show(view: View): void {
    this.#view = view;
    this.#plot?.redraw(true, true);
    this.#plot?.setScale("x", { min: view.x[0], max: view.x[1] });
  }

  #select(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (width < 4 && height < 4) return;
    const over = u.over;
    const x: [number, number] =
      width >= over.clientWidth - 1 ? this.#view.x : [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    const y: [number, number] =
      height >= over.clientHeight - 1 ? this.#view.y : [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
    unselect(u);
    this.#tooltip.hide();
    if (this.#settings.against === START) {
      this.#view = { x: this.#view.x, y };
      this.#range.set(x[0], x[1]);
    } else this.#show({ x, y });
  }

  /** Finds what is in view, and paints it. */
  #paint(u: uPlot): void {
    const { wall, dataset, outcome, n } = this.#chunks;
    const settings = this.#settings;
    const xs = this.#values();
    const { left, top, width, height } = u.bbox;
    const [x0, x1] = this.#view.x;
    const [y0, y1] = this.#view.y;
    const logs = settings.log ? [Math.log(y0), Math.log(y1)] : [y0, y1];
    const toX = width / (x1 - x0);
    const toY = height / (logs[1] - logs[0]);
    let count = 0;
    for (let i = 0; i < n; i++) {
      const x = xs[i];
      const y = wall[i];
      if (!(x >= x0 && x <= x1 && y >= y0 && y <= y1) || y === 0) continue;
      if (settings.dataset !== null && dataset[i] !== settings.dataset) continue;
      if (settings.outcome !== null && outcome[i] !== settings.outcome) continue;
      this.visible[count] = i;
      this.#places[2 * count] = (x - x0) * toX;
      this.#places[2 * count + 1] = height - ((settings.log ? Math.log(y) : y) - logs[0]) * toY;
      count++;
    }
    this.count = count;
    this.#stamp(u, count);
    this.#crosses(u, count);
    this.#ring(u, count, left, top);
    this.#changed();
    this.element.setAttribute(
      "aria-label",
      `${count.toLocaleString("en-US")} chunks, duration against ${this.#chunks.titleOf(settings.against)}. The slowest of them are in the table below.`,
    );
  }

  #stamp(u: uPlot, count: number): void {
    const ratio = devicePixelRatio || 1;
    const { of, colors } = coloring(this.#chunks, this.#settings.colorBy);
    const radius = Math.round((count < 3000 ? 3 : count < 30000 ? 2 : count < 200000 ? 1 : 0) * ratio);
    const alpha = count < 3000 ? 0.65 : count < 30000 ? 0.45 : count < 200000 ? 0.3 : 0.35;
    const pixels = this.#pixels;
    const places = this.#places;
    const visible = this.visible;
    pixels.begin(u.bbox.width, u.bbox.height);
    for (let k = 0; k < count; k++)
      pixels.disc(Math.round(places[2 * k]), Math.round(places[2 * k + 1]), radius, of[visible[k]]);
    pixels.paint(u.ctx, u.bbox.left, u.bbox.top, colors.map(rgb), (weight) => 1 - Math.pow(1 - alpha, weight));
  }

  /** What failed is never hidden behind the others. */
  #crosses(u: uPlot, count: number): void {
    if (this.#settings.colorBy !== "outcome") return;
    const { of, colors } = coloring(this.#chunks, "outcome");
    const size = 3 * (devicePixelRatio || 1);
    let drawn = 0;
    u.ctx.save();
    u.ctx.lineWidth = 1.5 * (devicePixelRatio || 1);
    for (let k = 0; k < count && drawn < 5000; k++) {
      const outcome = of[this.visible[k]];
      if (outcome === this.#chunks.finished) continue;
      const x = u.bbox.left + this.#places[2 * k];
      const y = u.bbox.top + this.#places[2 * k + 1];
      u.ctx.strokeStyle = colors[outcome];
      u.ctx.beginPath();
      u.ctx.moveTo(x - size, y - size);
      u.ctx.lineTo(x + size, y + size);
      u.ctx.moveTo(x - size, y + size);
      u.ctx.lineTo(x + size, y - size);
      u.ctx.stroke();
      drawn++;
    }
    u.ctx.restore();
  }

  #ring(u: uPlot, count: number, left: number, top: number): void {
    if (this.#marked < 0) return;
    const k = this.visible.subarray(0, count).indexOf(this.#marked);
    if (k < 0) return;
    const ratio = devicePixelRatio || 1;
    u.ctx.save();
    u.ctx.strokeStyle = getComputedStyle(this.element).color;
    u.ctx.lineWidth = 2 * ratio;
    u.ctx.beginPath();
    u.ctx.arc(left + this.#places[2 * k], top + this.#places[2 * k + 1], 7 * ratio, 0, 7);
    u.ctx.stroke();
    u.ctx.restore();
  }

  /** The chunk nearest to a place of the plot in CSS pixels, or -1. */
  #nearest(left: number, top: number): number {
    const ratio = devicePixelRatio || 1;
    const [x, y] = [left * ratio, top * ratio];
    let best = (REACH * ratio) ** 2;
    let found = -1;
    for (let k = 0; k < this.count; k++) {
      const dx = this.#places[2 * k] - x;
      const dy = this.#places[2 * k + 1] - y;
      const distance = dx * dx + dy * dy;
      if (distance < best) {
        best = distance;
        found = this.visible[k];
      }
    }
    return found;
  }

  #listen(chosen: (chunk: number) => void): void {
    const plot = this.#plot;
    if (!plot) return;
    this.#tooltip.follow(plot.over, this.#chunks, (left, top) => this.#nearest(left, top), chosen);
    plot.over.addEventListener("dblclick", () => {
      this.reset();
    });
    listenKeys(this.element, () => (this.#settings.against === START ? this.#range : this));
  }

  zoom(factor: number): void {
    const [from, to] = this.#view.x;
    const more = ((to - from) * (factor - 1)) / 2;
    this.#show({ x: [from - more, to + more], y: this.#view.y });
  }

  pan(share: number): void {
    const [from, to] = this.#view.x;
    const step = (to - from) * share;
    this.#show({ x: [from + step, to + step], y: this.#view.y });
  }
}
