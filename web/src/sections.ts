/* Where process() spent its time: all, by dataset, by section, as an icicle. */

import { h } from "./dom";
import { percent, seconds } from "./format";
import type { Report } from "./report";
import { simpleTable, SortableTable } from "./table";
import { color } from "./theme";

interface Part {
  name: string;
  kind: string;
  seconds: number;
  color: string | null;
  parts: Part[];
  dataset?: number;
}

/** Narrower parts than this are not drawn: the table has them. */
const NARROWEST = 0.001;

function partsOf(report: Report): Part {
  const { sections, datasets } = report.words;
  const children = sections.datasets.map((dataset, d): Part => {
    const own = dataset.own_s.map(
      (value, s): Part => ({
        name: report.name(sections.names, s),
        kind: "section",
        seconds: value,
        color: color(s),
        parts: [],
      }),
    );
    const inside = own.reduce((sum, part) => sum + part.seconds, 0);
    own.sort((a, b) => b.seconds - a.seconds);
    if (dataset.wall_s > inside)
      own.push({ name: "outside of sections", kind: "rest", seconds: dataset.wall_s - inside, color: null, parts: [] });
    return {
      name: report.name(datasets, d),
      kind: "dataset",
      seconds: dataset.wall_s,
      color: null,
      parts: own.filter((part) => part.seconds > 0),
      dataset: d,
    };
  });
  children.sort((a, b) => b.seconds - a.seconds);
  const total = children.reduce((sum, part) => sum + part.seconds, 0);
  return { name: "process()", kind: "all", seconds: total, color: null, parts: children };
}

/** All datasets as one, section by section. */
function together(root: Part): Part {
  const sums = new Map<string, Part>();
  for (const dataset of root.parts)
    for (const part of dataset.parts) {
      const key = `${part.kind} ${part.name}`;
      const sum = sums.get(key);
      if (sum) sum.seconds += part.seconds;
      else sums.set(key, { ...part });
    }
  const parts = [...sums.values()].sort(
    (a, b) => Number(a.kind === "rest") - Number(b.kind === "rest") || b.seconds - a.seconds,
  );
  return { name: "process(), all datasets", kind: "all", seconds: root.seconds, color: null, parts };
}

class Icicle {
  readonly element = h("div", { class: "icicle", role: "group", "aria-label": "Time by dataset and section" });
  readonly #status = h("p", { role: "status", class: "range" });
  readonly #rows = h("div", { class: "rows" });
  readonly #root: Part;
  #top: Part;

  constructor(root: Part) {
    this.#root = root;
    this.#top = root;
    this.element.append(this.#rows, this.#status);
    this.show(root);
  }

  show(top: Part): void {
    this.#top = top;
    this.#rows.replaceChildren();
    this.#block(top, 0, 1, 0);
    let at = 0;
    for (const part of top.parts) {
      const share = part.seconds / top.seconds;
      this.#block(part, at, share, 1);
      let inner = at;
      for (const leaf of part.parts) {
        const width = leaf.seconds / top.seconds;
        this.#block(leaf, inner, width, 2);
        inner += width;
      }
      at += share;
    }
    this.#rows.style.setProperty("--levels", top.parts.some((part) => part.parts.length > 0) ? "3" : "2");
    this.#tell(top);
  }

  #tell(part: Part): void {
    const share = part.seconds / this.#root.seconds;
    this.#status.textContent = `${part.name}: ${seconds(part.seconds)}, ${percent(share)} of the time in process()`;
  }

  #block(part: Part, at: number, share: number, level: number): void {
    if (share < NARROWEST) return;
    const text = `${part.name}: ${seconds(part.seconds)}, ${percent(part.seconds / this.#root.seconds)}`;
    const block = h(
      "button",
      { type: "button", class: `part ${part.kind}`, title: text, "aria-label": text },
      h("span", {}, share > 0.03 ? part.name : ""),
    );
    block.style.left = `${100 * at}%`;
    block.style.width = `${100 * share}%`;
    block.style.setProperty("--level", String(level));
    if (part.color) block.style.setProperty("--fill", part.color);
    block.addEventListener("mouseenter", () => {
      this.#tell(part);
    });
    block.addEventListener("focus", () => {
      this.#tell(part);
    });
    block.addEventListener("click", () => {
      this.show(part === this.#top || part.kind === "section" || part.kind === "rest" ? this.#root : part);
    });
    this.#rows.append(block);
  }
}

export function sectionsTab(panel: HTMLElement, report: Report): void {
  const { names } = report.words.sections;
  const root = partsOf(report);
  if (names.length === 0 || !(root.seconds > 0)) {
    panel.append(
      h(
        "p",
        { class: "empty" },
        "No sections were timed: put `with track_time(self, \"name\"):` around parts of process() to see where its time goes.",
      ),
    );
  } else {
    const all = together(root);
    panel.append(
      h("p", { class: "lead" }, "Own time of each section, without that of sections inside it. Widths are shares of the time in process()."),
      h("h3", {}, "All datasets"),
      new Icicle(all).element,
    );
    if (root.parts.length > 1)
      panel.append(
        h("h3", {}, "By dataset"),
        h("p", { class: "lead" }, "Choose a dataset to fill the width with it, choose it again to go back."),
        new Icicle(root).element,
      );
    panel.append(
      h(
        "details",
        { class: "numbers" },
        h("summary", {}, "As a table"),
        simpleTable(
          "Own time by section",
          ["Section", "Own time", "Share"],
          all.parts.map((part) => [part.name, seconds(part.seconds), percent(part.seconds / all.seconds)]),
        ),
      ),
    );
  }
  const table = report.table("sections");
  if (table) panel.append(h("h3", {}, table.title), new SortableTable(table).element);
}
