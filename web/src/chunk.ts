/* One chunk: what is known about it, in words; and how chunks are coloured. */

import { definitions, h } from "./dom";
import { bytes, clock, count, percent, seconds } from "./format";
import type { Report } from "./report";
import { color, outcomeColor } from "./theme";

/** The columns of the chunks, unpacked. */
export class Chunks {
  readonly report: Report;
  readonly n: number;
  readonly start: Float64Array;
  readonly wall: Float32Array;
  readonly outcome: Uint32Array | Uint8Array;
  readonly worker: Uint32Array | Uint8Array;
  readonly dataset: Uint32Array | Uint8Array;

  constructor(report: Report) {
    const { chunks } = report.words;
    this.report = report;
    this.n = chunks.n;
    this.start = report.starts();
    this.wall = report.reals(chunks.wall);
    this.outcome = report.numbers(chunks.outcome);
    this.worker = report.numbers(chunks.worker);
    this.dataset = report.numbers(chunks.dataset);
  }

  get memory(): Float32Array {
    return this.report.reals(this.report.words.chunks.memory);
  }
  get bytes(): Float32Array {
    return this.report.reals(this.report.words.chunks.bytes);
  }
  get cpu(): Float32Array {
    return this.report.reals(this.report.words.chunks.cpu);
  }
  get events(): Float64Array {
    return this.report.counts(this.report.words.chunks.events);
  }

  fileName(i: number): string {
    const { files, chunks } = this.report.words;
    return this.report.name(files, this.report.numbers(chunks.file)[i]);
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
    const from = this.report.counts(chunks.entry_start)[i];
    const beyond = this.report.counts(chunks.beyond)[i];
    const to = from + this.events[i] + (beyond % 2 ? -(beyond + 1) / 2 : beyond / 2);
    const attempt = this.report.counts(chunks.attempt)[i];
    const rows: [string, string][] = [
      ["Dataset", this.datasetName(i)],
      ["File", this.fileName(i)],
      ["Entries", Number.isNaN(to) ? "not known" : `${count(from)} to ${count(to)}`],
      ["Events", count(this.events[i])],
      ["Outcome", `${this.outcomeName(i)}${attempt > 1 ? `, attempt ${attempt}` : ""}`],
      ["Worker", this.workerName(i)],
      ["Began at", Number.isNaN(this.start[i]) ? "not known" : clock(this.start[i], 0.01)],
      ["Duration", seconds(this.wall[i])],
      ["CPU", `${seconds(this.cpu[i])}${this.wall[i] > 0 && this.cpu[i] >= 0 ? `, ${percent(this.cpu[i] / this.wall[i])}` : ""}`],
      ["Peak memory", bytes(this.memory[i])],
      ["Requested", bytes(this.bytes[i])],
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
  of: Uint32Array | Uint8Array;
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
export function legend(names: string[], colors: string[], used: Set<number>): HTMLElement {
  const list = h("ul", { class: "legend" });
  const shown = [...used].sort((a, b) => a - b);
  for (const i of shown.slice(0, LEGEND_MAX)) {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = colors[i];
    list.append(h("li", {}, swatch, names[i]));
  }
  if (shown.length > LEGEND_MAX)
    list.append(h("li", { class: "dim" }, `and ${shown.length - LEGEND_MAX} more, in the same colours again`));
  return list;
}
