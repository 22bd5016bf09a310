/* One chunk: what is known about it, in words; and how chunks are coloured. */

import { definitions, h, oncePerFrame, swatch } from "./dom";
import { bytes, clock, count, percent, seconds } from "./format";
import type { Report } from "./report";
import { color, outcomeColor } from "./theme";

/** A figure for people, and all digits that are known of it. */
function exactly(text: (value: number) => string, value: number, unit: string): string {
  if (Number.isNaN(value)) return text(value);
  return `${text(value)} (${value.toLocaleString("en-US", { maximumFractionDigits: 9 })} ${unit})`;
}

/** The columns of the chunks, unpacked. */
export class Chunks {
  readonly report: Report;
  readonly n: number;
  readonly start: Float64Array;
  readonly wall: Float64Array;
  readonly outcome: Float64Array;
  readonly worker: Float64Array;
  readonly dataset: Float64Array;

  constructor(report: Report) {
    const { chunks } = report.words;
    this.report = report;
    this.n = chunks.n;
    this.start = report.seconds(chunks.start);
    this.wall = report.seconds(chunks.wall);
    this.outcome = report.values(chunks.outcome);
    this.worker = report.values(chunks.worker);
    this.dataset = report.datasets();
  }

  get memory(): Float64Array {
    return this.report.values(this.report.words.chunks.memory);
  }
  get bytes(): Float64Array {
    return this.report.values(this.report.words.chunks.bytes);
  }
  get cpu(): Float64Array {
    return this.report.seconds(this.report.words.chunks.cpu);
  }
  get events(): Float64Array {
    return this.report.values(this.report.words.chunks.events);
  }

  fileName(i: number): string {
    const { files, chunks } = this.report.words;
    return this.report.name(files, this.report.values(chunks.file)[i]);
  }
  datasetName(i: number): string {
    return this.report.name(this.report.words.datasets, this.dataset[i]);
  }
  workerName(i: number): string {
    return this.report.name(this.report.words.workers, this.worker[i]);
  }
  outcomeName(i: number): string {
    return this.report.words.chunks.outcomes[this.outcome[i]] ?? "unknown";
  }

  /** Everything about one chunk, term by term. */
  about(i: number): [string, string][] {
    const { chunks } = this.report.words;
    const from = this.report.values(chunks.entry_start)[i];
    const beyond = this.report.values(chunks.beyond)[i];
    const to = from + this.events[i] + (beyond % 2 ? -(beyond + 1) / 2 : beyond / 2);
    const attempt = this.report.values(chunks.attempt)[i];
    const rows: [string, string][] = [
      ["Dataset", this.datasetName(i)],
      ["File", this.fileName(i)],
      ["Entries", Number.isNaN(to) ? "not known" : `${count(from)} to ${count(to)}`],
      ["Events", count(this.events[i])],
      ["Outcome", `${this.outcomeName(i)}${attempt > 1 ? `, attempt ${attempt}` : ""}`],
      ["Worker", this.workerName(i)],
      ["Began at", Number.isNaN(this.start[i]) ? "not known" : clock(this.start[i], 0.01)],
      ["Duration", exactly(seconds, this.wall[i], "s")],
      ["CPU", `${exactly(seconds, this.cpu[i], "s")}${this.wall[i] > 0 && this.cpu[i] >= 0 ? `, ${percent(this.cpu[i] / this.wall[i])}` : ""}`],
      ["Peak memory", exactly(bytes, this.memory[i], "bytes")],
      ["Requested", exactly(bytes, this.bytes[i], "bytes")],
    ];
    const error = chunks.errors.find(([chunk]) => chunk === i);
    if (error) rows.push(["Error", `${error[1] ?? "not known"}: ${error[2] ?? ""}`]);
    return rows;
  }
}

/** Shows a chunk beside the pointer. */
export class Tooltip {
  readonly element = h("div", { class: "tooltip", role: "tooltip", hidden: true });

  show(chunks: Chunks, i: number, left: number, top: number): void {
    const rows = chunks.about(i).filter(([, text]) => text !== "not known");
    this.element.replaceChildren(definitions(rows));
    this.element.hidden = false;
    const width = this.element.parentElement?.clientWidth ?? 0;
    const right = left > width / 2;
    this.element.style.left = right ? "auto" : `${left + 16}px`;
    this.element.style.right = right ? `${width - left + 16}px` : "auto";
    this.element.style.top = `${Math.max(0, top - 20)}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }

  /** Shows what `find` sees under the pointer, a number or -1; a click chooses it. */
  follow(
    over: HTMLElement,
    chunks: Chunks,
    find: (left: number, top: number) => number,
    chosen: (chunk: number) => void,
  ): void {
    let left = 0;
    let top = 0;
    let near = -1;
    const look = oncePerFrame(() => {
      near = find(left, top);
      if (near < 0) this.hide();
      else this.show(chunks, near, left + over.offsetLeft, top + over.offsetTop);
    });
    over.addEventListener("mousemove", (event) => {
      const box = over.getBoundingClientRect();
      left = event.clientX - box.left;
      top = event.clientY - box.top;
      if (event.buttons === 0) look();
    });
    over.addEventListener("mouseleave", () => {
      this.hide();
    });
    over.addEventListener("click", () => {
      if (near >= 0) chosen(near);
    });
  }
}

/** The place for everything about the chunk that was chosen. */
export class Chosen {
  readonly element = h("aside", { class: "about", "aria-label": "Chosen chunk", "aria-live": "polite" });
  readonly #chunks: Chunks;

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  show(chunk: number): void {
    this.element.replaceChildren(h("h3", {}, "Chosen chunk"), definitions(this.#chunks.about(chunk)));
  }
}

export type ColorBy = "dataset" | "worker" | "outcome";

export const COLOR_BY: [ColorBy, string][] = [
  ["dataset", "Dataset"],
  ["worker", "Worker"],
  ["outcome", "Outcome"],
];

const LEGEND_MAX = 14;

/** The colour of each number of a name, and what they are called. */
export function coloring(chunks: Chunks, by: ColorBy): {
  of: Float64Array;
  colors: string[];
  names: string[];
} {
  const { words } = chunks.report;
  if (by === "outcome")
    return {
      of: chunks.outcome,
      colors: words.chunks.outcomes.map((_, i) => outcomeColor(i)),
      names: words.chunks.outcomes,
    };
  const names = by === "dataset" ? words.datasets : words.workers;
  return {
    of: by === "dataset" ? chunks.dataset : chunks.worker,
    colors: names.map((_, i) => color(i)),
    names: names.map((_, i) => chunks.report.name(names, i)),
  };
}

/** Names beside their colours; of many, the first ones and how many more there are. */
export function legend(chunks: Chunks, by: ColorBy): HTMLElement {
  const { of, colors, names } = coloring(chunks, by);
  const used = [...new Set(of)].sort((a, b) => a - b);
  const list = h("ul", { class: "legend" });
  for (const i of used.slice(0, LEGEND_MAX)) list.append(swatch(colors[i], names[i]));
  if (used.length > LEGEND_MAX)
    list.append(h("li", { class: "dim" }, `and ${used.length - LEGEND_MAX} more, in the same colours again`));
  return list;
}
