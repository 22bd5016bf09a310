/* One chunk: what is known about it, in words; and how chunks are coloured. */

import { definitions, h, oncePerFrame, swatch } from "./dom";
import { bytes, clock, count, percent, seconds } from "./format";
import type { About, Report } from "./report";
import { color, outcomeColor } from "./theme";

/** An amount for people. */
export function amountText(unit: string, value: number): string {
  return unit === "ns" ? seconds(value) : unit === "bytes" ? bytes(value) : count(value);
}

/** The same, and all digits that are known of it. */
function exactly(unit: string, value: number): string {
  const text = amountText(unit, value);
  if (Number.isNaN(value) || unit === "count") return text;
  return `${text} (${value.toLocaleString("en-US", { maximumFractionDigits: 9 })} ${unit === "ns" ? "s" : unit})`;
}

/** The columns of the chunks, unpacked. */
export class Chunks {
  readonly report: Report;
  readonly n: number;
  readonly start: Float64Array;
  readonly wall: Float64Array;
  readonly outcome: Float64Array;
  /** The number of that outcome. */
  readonly finished: number;
  readonly worker: Float64Array;
  readonly dataset: Float64Array;
  /** Durations, sizes and counts, in the order of the run's columns. */
  readonly amounts: About[];

  constructor(report: Report) {
    const { chunks } = report.words;
    this.report = report;
    this.n = chunks.n;
    this.amounts = chunks.columns.filter(({ name }) => name in chunks.amounts);
    this.start = report.seconds(chunks.start);
    this.wall = this.amount("wall_ns");
    this.outcome = report.values(chunks.outcome);
    this.finished = chunks.outcomes.findIndex(({ name }) => name === "finished");
    this.worker = report.values(chunks.worker);
    this.dataset = report.datasets();
  }

  /** An amount of each chunk: seconds, bytes or a number. */
  amount(name: string): Float64Array {
    const column = this.report.words.chunks.amounts[name];
    return this.unitOf(name) === "ns" ? this.report.seconds(column) : this.report.values(column);
  }
  get bytes(): Float64Array {
    return this.amount("requested_bytes");
  }
  get events(): Float64Array {
    return this.amount("num_events");
  }
  /** What a column is called, as a head of a table. */
  head(name: string): { key: string; title: string; right: boolean; note: string } {
    const { title, unit, meaning } = this.#about(name);
    return { key: name, title, right: !["text", "number"].includes(unit), note: meaning };
  }
  unitOf(name: string): string {
    return this.#about(name).unit;
  }
  titleOf(name: string): string {
    return this.#about(name).title;
  }
  #about(name: string): About {
    const about = this.report.words.chunks.columns.find((column) => column.name === name);
    return about ?? { name, title: name, unit: "text", meaning: "" };
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
    return this.report.words.chunks.outcomes[this.outcome[i]]?.name ?? "unknown";
  }
  isFinished(i: number): boolean {
    return this.outcome[i] === this.finished;
  }

  /** Everything about one chunk, term by term. */
  about(i: number): [string, string][] {
    const { chunks } = this.report.words;
    const from = this.report.values(chunks.entry_start)[i];
    const beyond = this.report.values(chunks.beyond)[i];
    const to = from + this.events[i] + (beyond % 2 ? -(beyond + 1) / 2 : beyond / 2);
    const attempt = this.report.values(chunks.attempt)[i];
    const rows: [string, string][] = [
      [this.titleOf("dataset"), this.datasetName(i)],
      [this.titleOf("file"), this.fileName(i)],
      ["Entries", Number.isNaN(to) ? "not known" : `${count(from)} to ${count(to)}`],
      [this.titleOf("outcome"), `${this.outcomeName(i)}${attempt > 1 ? `, attempt ${attempt}` : ""}`],
      [this.titleOf("worker"), this.workerName(i)],
      [this.titleOf("start_utc_ns"), Number.isNaN(this.start[i]) ? "not known" : clock(this.start[i], 0.01)],
    ];
    for (const { name, title, unit } of this.amounts) {
      const value = this.amount(name)[i];
      const share = name === "cpu_ns" && this.wall[i] > 0 && value >= 0 ? `, ${percent(value / this.wall[i])}` : "";
      rows.push([title, exactly(unit, value) + share]);
    }
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
      colors: words.chunks.outcomes.map(({ name }) => outcomeColor(name)),
      names: words.chunks.outcomes.map(({ name }) => name),
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
