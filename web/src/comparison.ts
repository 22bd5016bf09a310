/* The page of several runs: what differs around them, what changed, how each of them went. */

import { choice, type Content, h, svg } from "./dom";
import { utc } from "./format";
import type { Cell, Change, Compared, Figure, Table } from "./report";
import { cellOf, figureTable, heading, textOf } from "./table";

const GROUPS: [string, string][] = [
  ["", "everything"],
  ["run", "whole runs"],
  ["chunk", "chunks"],
  ["part", "waits"],
  ["dataset", "datasets"],
  ["section", "sections"],
];

/** Ratios that an axis may end with, each with a tick on the way. */
const AXES: [reach: number, tick: number][] = [
  [1.02, 1.01],
  [1.05, 1.02],
  [1.1, 1.05],
  [1.25, 1.1],
  [1.5, 1.2],
  [2, 1.4],
  [3, 1.7],
  [5, 2],
  [10, 3],
];
const NOT_ONE_RUN = "repeated runs";

function letter(group: number): string {
  return String.fromCharCode(65 + group);
}

/** Up to which ratio, either way, the axis goes: all changes fit, and most of the intervals. */
function reachOf(rows: Change[]): number {
  const ratio = (change: number | null) => (change === null || change <= -1 ? 1 : Math.exp(Math.abs(Math.log1p(change))));
  const ends = rows.flatMap((row) => [ratio(row.change_low), ratio(row.change_high)]).sort((a, b) => a - b);
  const needed = Math.max(...rows.map((row) => ratio(row.change)), ends[Math.floor(0.9 * (ends.length - 1))] ?? 1);
  return (AXES.find(([reach]) => reach >= needed * 1.01) ?? AXES[AXES.length - 1])[0];
}

/** Where a change stands on the axis, from 0 to 100 %; as far as its ends. */
function place(change: number, reach: number): number {
  const at = change <= -1 ? -Infinity : Math.log1p(change) / Math.log(reach);
  return 50 + 48 * Math.max(-1, Math.min(1, at));
}

function percentAt(x: number): string {
  return `${x.toFixed(2)}%`;
}

/** A mark by the verdict: shapes tell as much as colours do. */
function mark(verdict: Change["verdict"], x: number): SVGElement {
  const shapes: Record<Change["verdict"], SVGElement> = {
    worse: svg("rect", { x: -4.5, y: -4.5, width: 9, height: 9 }),
    better: svg("circle", { r: 5 }),
    changed: svg("path", { d: "M0-6 6 0 0 6-6 0Z" }),
    "~": svg("circle", { r: 4, class: "open" }),
  };
  return svg("svg", { x: percentAt(x), y: "50%", overflow: "visible" }, shapes[verdict]);
}

/** The noise, the interval and the change of a row, on a logarithmic axis of ratios. */
function drawing(row: Change, reach: number): SVGElement {
  const image = svg("svg", { class: `forest ${row.verdict === "~" ? "none" : row.verdict}`, "aria-hidden": "true" });
  image.append(svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: "100%" }));
  if (row.noise) {
    const left = place(1 / (1 + row.noise) - 1, reach);
    const right = place(row.noise, reach);
    image.prepend(svg("rect", { class: "noise", x: percentAt(left), width: percentAt(right - left), y: "15%", height: "70%" }));
  }
  if (row.change_low !== null && row.change_high !== null) {
    const x1 = percentAt(place(row.change_low, reach));
    const x2 = percentAt(place(row.change_high, reach));
    image.append(svg("line", { class: "interval", x1, x2, y1: "50%", y2: "50%" }));
  }
  if (row.change !== null) image.append(mark(row.verdict, place(row.change, reach)));
  return image;
}

function axis(reach: number): SVGElement {
  const tick = AXES.find(([end]) => end === reach)?.[1] ?? 1;
  const ticks = [1 / reach, 1 / tick, 1, tick, reach];
  const label = (ratio: number) => `${Number(ratio.toFixed(reach < 1.1 ? 3 : 2))}×`;
  return svg(
    "svg",
    { class: "forest axis", role: "img", "aria-label": `ratio, from ${label(1 / reach)} to ${label(reach)}` },
    ...ticks.map((ratio, i) =>
      svg(
        "text",
        { x: percentAt(place(ratio - 1, reach)), y: "70%", "text-anchor": i === 0 ? "start" : i === ticks.length - 1 ? "end" : "middle" },
        label(ratio),
      ),
    ),
  );
}

/** Why a figure is called different, or why not. */
function reasons(row: Change): string {
  if (row.verdict === "~") return row.why;
  const units = row.test === "t" ? "runs on the smaller side" : "chunks or files";
  return `${row.test}, ${row.n.toLocaleString("en-US")} ${units}`;
}

/** The changes of one later group: the table of the command, with a drawing of each row. */
class Changes {
  readonly element: HTMLElement;
  readonly #table: Table;
  readonly #rows: Change[];
  readonly #body = h("tbody");
  readonly #status = h("span", { role: "status", class: "range" });
  readonly #reach: number;
  #group = "";
  #different = false;

  constructor(table: Table, rows: Change[]) {
    this.#table = table;
    this.#rows = rows;
    this.#reach = reachOf(rows);
    const titles = table.columns.map((column) => heading(column));
    titles.splice(5, 0, h("th", { scope: "col" }, axis(this.#reach)));
    const called = h("input", { type: "checkbox" });
    called.addEventListener("change", () => {
      this.#different = called.checked;
      this.#fill();
    });
    const known = new Set<string>(rows.map((row) => row.group));
    this.element = h(
      "section",
      { class: "changes" },
      h("h3", {}, table.title),
      h(
        "div",
        { class: "controls" },
        choice("Show", GROUPS.filter(([key]) => !key || known.has(key)), "", (value) => {
          this.#group = value;
          this.#fill();
        }),
        h("label", { class: "choice" }, called, h("span", {}, "only what is called different")),
        this.#status,
      ),
      h("div", { class: "scroll" }, h("table", { "aria-label": table.title }, h("thead", {}, h("tr", {}, ...titles)), this.#body)),
    );
    this.#fill();
  }

  #fill(): void {
    const lines: HTMLElement[] = [];
    let shown = 0;
    let next = 0;
    let group: HTMLElement | null = null;
    for (const cells of this.#table.rows) {
      if (cells.slice(1).every((cell) => cell === null)) {
        group = h("tr", { class: "group" }, h("th", { scope: "colgroup", colspan: cells.length + 1 }, textOf(cells[0])));
        continue;
      }
      const row = this.#rows[next++];
      if ((this.#group && row.group !== this.#group) || (this.#different && row.verdict === "~")) continue;
      if (group) lines.push(group);
      group = null;
      lines.push(this.#line(cells, row));
      shown++;
    }
    this.#body.replaceChildren(...lines);
    const n = this.#rows.length;
    const different = this.#rows.filter((row) => row.verdict !== "~").length;
    this.#status.textContent = `${shown === n ? `${n} figures` : `${shown} of ${n} figures`}, ${different} called different`;
  }

  #line(cells: Cell[], row: Change): HTMLElement {
    const [name, ...values] = cells;
    const drawn = values.map((cell, i) => cellOf(cell, this.#table.columns[i + 1].right));
    drawn.splice(4, 0, h("td", {}, drawing(row, this.#reach)));
    return h("tr", { title: reasons(row) }, h("th", { scope: "row" }, textOf(name).trim()), ...drawn);
  }
}

function legend(noise: boolean): HTMLElement {
  const item = (verdict: Change["verdict"], text: string) =>
    h("li", {}, svg("svg", { class: `forest key ${verdict === "~" ? "none" : verdict}`, "aria-hidden": "true" }, mark(verdict, 50)), text);
  return h(
    "ul",
    { class: "legend" },
    item("worse", "worse"),
    item("better", "better"),
    item("changed", "different, neither is better"),
    item("~", "nothing can be said (~)"),
    noise
      ? h("li", {}, svg("svg", { class: "forest key", "aria-hidden": "true" }, svg("rect", { class: "noise", y: "15%", width: "100%", height: "70%" })), "what two runs differ by themselves")
      : null,
  );
}

function changes(panel: HTMLElement, data: Compared): void {
  const { rows, notes } = data.comparison;
  const [, conditions, ...figures] = data.tables;
  panel.append(
    conditions.rows.length > 0
      ? figureTable(conditions)
      : h("section", { class: "figures" }, h("h3", {}, conditions.title), h("p", { class: "lead" }, "Nothing that is known.")),
    ...notes.map((note) => h("p", { class: "notice" }, note)),
  );
  if (rows.length === 0) panel.append(h("p", { class: "empty" }, "The runs have no figure in common."));
  else panel.append(legend(rows.some((row) => row.noise)));
  figures.forEach((table, i) => {
    const own = rows.filter((row) => row.against === i + 1);
    if (own.length > 0) panel.append(new Changes(table, own).element);
  });
}

function figureCell(figure: Figure): HTMLElement {
  if (figure.text === undefined) return h("td", { class: "right dim", title: figure.absent ?? "" }, "not known");
  return h("td", { class: "right", title: figure.estimated ? `estimated: ${figure.estimated}` : undefined }, figure.text);
}

/** The runs, each with its key figures. */
function runs(panel: HTMLElement, data: Compared): void {
  const [table] = data.tables;
  const figures = (run: Compared["runs"][number]) => run.figures.filter((figure) => figure.key !== "num_chunks");
  const head = h("tr", {}, ...table.columns.map((column) => heading(column)));
  for (const figure of figures(data.runs[0])) head.append(h("th", { scope: "col", class: "right", title: figure.formula }, figure.title));
  const body = h("tbody");
  table.rows.forEach(([group, name, ...cells], i) => {
    body.append(
      h(
        "tr",
        { title: data.comparison.runs[i].path },
        cellOf(group, false),
        h("th", { scope: "row" }, textOf(name), h("small", {}, `begun ${utc(data.runs[i].start_utc_ms)}`)),
        ...cells.map((cell) => cellOf(cell, true)),
        ...figures(data.runs[i]).map(figureCell),
      ),
    );
  });
  panel.append(
    h(
      "section",
      { class: "changes runs" },
      h("div", { class: "scroll" }, h("table", { "aria-label": table.title }, h("thead", {}, head), body)),
    ),
    h("p", { class: "lead" }, "A page of one run, with its timelines and chunks, is written by ", h("code", {}, "roast report RUN -o FILE"), "."),
  );
}

export function compared(data: Compared): Content {
  const { runs: named, matched_by } = data.comparison;
  const groups = 1 + matched_by.length;
  const name = (group: number) => {
    const own = named.filter((run) => run.group === group);
    return own.length === 1 ? own[0].name : `${own.length} ${NOT_ONE_RUN}`;
  };
  const names = Array.from({ length: groups }, (_, i) => `${letter(i)} ${name(i)}`);
  const matched = new Set(matched_by);
  const how = matched.size === 1 && matched_by[0] ? `, matched by ${matched_by[0]}` : "";
  return {
    title: names.join(" – "),
    about: [`what differs between ${named.length} runs${how}`],
    tabs: [
      { id: "changes", title: "Changes", draw: (panel) => { changes(panel, data); } },
      { id: "runs", title: "Runs", draw: (panel) => { runs(panel, data); } },
    ],
  };
}
