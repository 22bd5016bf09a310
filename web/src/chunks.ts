/* The tab of the chunks: points, what they are coloured by, and the slowest as a table. */

import { Charts } from "./chart";
import { amountText, Chosen, Chunks, COLOR_BY, type ColorBy, legend } from "./chunk";
import { button, choice, h } from "./dom";
import { count } from "./format";
import type { TimeRange } from "./range";
import type { Cell, Report } from "./report";
import { Scatter, type Settings, START } from "./scatter";
import { SortableTable } from "./table";

const SLOWEST = 100;

/** The slowest of the chunks in view, slowest first: a heap of the best seen so far. */
export function slowest(wall: Float64Array, visible: Uint32Array, n: number, most: number): number[] {
  const heap: number[] = [];
  const sink = (at: number) => {
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && wall[heap[child]] < wall[heap[least]]) least = child;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least], heap[at]];
      at = least;
    }
  };
  for (let k = 0; k < n; k++) {
    const i = visible[k];
    if (heap.length < most) {
      heap.push(i);
      if (heap.length === most) for (let at = most >> 1; at >= 0; at--) sink(at);
    } else if (wall[i] > wall[heap[0]]) {
      heap[0] = i;
      sink(0);
    }
  }
  return heap.sort((a, b) => wall[b] - wall[a] || a - b);
}

const NAMES = ["dataset", "file", "worker", "outcome"];

function rowOf(chunks: Chunks, i: number): Cell[] {
  return [
    chunks.datasetName(i),
    chunks.fileName(i),
    chunks.workerName(i),
    chunks.isFinished(i) ? chunks.outcomeName(i) : [null, chunks.outcomeName(i), 3],
    ...chunks.amounts.map(({ name, unit }): Cell => {
      const value = chunks.amount(name)[i];
      return Number.isNaN(value) ? [null, "not known", 2] : [value, amountText(unit, value)];
    }),
  ];
}

export function chunksTab(panel: HTMLElement, report: Report, range: TimeRange, charts: Charts): void {
  if (report.words.chunks.n === 0) {
    panel.append(
      h(
        "p",
        { class: "empty" },
        "There are no chunk records: decorate process() with @track_metrics to get them.",
      ),
    );
    return;
  }
  const chunks = new Chunks(report);
  const settings: Settings = { against: "num_events", colorBy: "dataset", log: false, dataset: null, outcome: null };
  const place = h("div", { class: "plotplace" });
  const keys = h("div");
  const status = h("span", { role: "status", class: "range" });
  const reset = button("Show all", () => scatter?.reset());
  const chosen = new Chosen(chunks);
  const drawn = new Charts();
  let scatter: Scatter | undefined;
  let listed: number[] = [];
  let timer = 0;
  charts.add(() => {
    clearTimeout(timer);
    drawn.clear();
  });

  const choose = (chunk: number) => {
    chosen.show(chunk);
    scatter?.mark(chunk);
  };
  const columns = [...NAMES, ...chunks.amounts.map(({ name }) => name)].map((name) => chunks.head(name));
  const table = new SortableTable(
    { name: "slowest", title: "Slowest chunks in view", columns, rows: [] },
    {
      sort: { column: columns.findIndex(({ key }) => key === "wall_ns"), descending: true },
      filter: false,
      chosen: (row) => {
        choose(listed[row]);
      },
    },
  );
  const list = () => {
    if (!scatter) return;
    listed = slowest(chunks.wall, scatter.visible, scatter.count, SLOWEST);
    table.replace(listed.map((i) => rowOf(chunks, i)));
    status.textContent = `${count(scatter.count)} of ${count(chunks.n)} chunks in view`;
    reset.disabled = scatter.isWhole;
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(list, 120);
  };
  const fill = () => {
    drawn.clear();
    const width = place.clientWidth || panel.clientWidth || 900;
    scatter = new Scatter(chunks, settings, range, drawn, width, changed, choose);
    place.replaceChildren(scatter.element);
    keys.replaceChildren(legend(chunks, settings.colorBy));
  };

  const names = report.words.datasets.map((_, i): [string, string] => [String(i), report.name(report.words.datasets, i)]);
  const outcomes = report.words.chunks.outcomes.map(({ name }, i): [string, string] => [String(i), name]);
  const present = new Set<number>(chunks.outcome);
  const against: [string, string][] = [START, ...chunks.amounts.map(({ name }) => name)]
    .filter((name) => name !== "wall_ns")
    .map((name) => [name, chunks.titleOf(name)]);
  const log = h("input", { type: "checkbox" });
  log.addEventListener("change", () => {
    settings.log = log.checked;
    fill();
  });
  panel.append(
    h(
      "div",
      { class: "controls" },
      choice("Against", against, settings.against, (value) => {
        settings.against = value;
        fill();
      }),
      choice("Coloured by", COLOR_BY, settings.colorBy, (value) => {
        settings.colorBy = value as ColorBy;
        fill();
      }),
      choice("Dataset", [["", "all"], ...names], "", (value) => {
        settings.dataset = value === "" ? null : Number(value);
        fill();
      }),
      choice("Outcome", [["", "all"], ...outcomes.filter(([i]) => present.has(Number(i)))], "", (value) => {
        settings.outcome = value === "" ? null : Number(value);
        fill();
      }),
      h("label", { class: "choice inline" }, log, h("span", {}, "Logarithmic")),
      h("div", { class: "ranges" }, status, reset),
    ),
    place,
    keys,
    chosen.element,
    h("h3", {}, "Slowest chunks in view"),
    table.element,
  );
  fill();
}
