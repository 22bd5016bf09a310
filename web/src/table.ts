/* Tables of any size: sorted by any column, filtered by words, a page of rows at a time. */

import { button, h } from "./dom";
import { ALERT, type Cell, DIM, STRONG, type Table } from "./report";

const PAGE = 50;
/** Texts up to this length stay on one line. */
const SHORT = 24;

export function simpleTable(caption: string, titles: string[], rows: string[][]): HTMLElement {
  const head = h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)));
  const body = h("tbody");
  for (const row of rows) body.append(h("tr", {}, ...row.map((text) => h("td", {}, text))));
  return h(
    "div",
    { class: "scroll" },
    h("table", { class: "plain" }, h("caption", { class: "quiet" }, caption), h("thead", {}, head), body),
  );
}

export function textOf(cell: Cell): string {
  return cell === null ? "" : typeof cell === "string" ? cell : cell[1];
}

function numberOf(cell: Cell): number | null {
  return Array.isArray(cell) ? cell[0] : null;
}

export function loudness(cell: Cell): string | undefined {
  const emphasis = Array.isArray(cell) ? cell[2] : 0;
  if (/^[█▉▊▋▌▍▎▏]+$/.test(textOf(cell))) return "blocks";
  return emphasis === STRONG ? "strong" : emphasis === DIM ? "dim" : emphasis === ALERT ? "alert" : undefined;
}

/** The head of a column. */
export function heading(column: Table["columns"][number], content: Node | string = column.title): HTMLElement {
  return h("th", { scope: "col", class: column.right ? "right" : undefined, title: column.note }, content);
}

export function cellOf(cell: Cell, right: boolean): HTMLElement {
  return h("td", { class: `${loudness(cell) ?? ""}${right ? " right" : ""}` }, textOf(cell));
}

/** A table of figures, name and value: nothing to sort. */
export function figureTable(table: Table): HTMLElement {
  const body = h("tbody");
  for (const row of table.rows) {
    const [name, ...values] = row;
    body.append(
      h(
        "tr",
        { class: loudness(name) },
        h("th", { scope: "row" }, textOf(name)),
        ...values.map((cell, i) => cellOf(cell, table.columns[i + 1].right)),
      ),
    );
  }
  const several = table.columns.length > 2;
  return h(
    "section",
    { class: "figures" },
    h("h3", {}, table.title),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { "aria-label": table.title },
        several
          ? h("thead", {}, h("tr", {}, ...table.columns.map((column) => heading(column))))
          : null,
        body,
      ),
    ),
  );
}

/** What is compared: numbers where there are some, else words; nothing comes last. */
function compare(a: Cell, b: Cell): number {
  const x = numberOf(a);
  const y = numberOf(b);
  if (x !== null && y !== null) return x - y;
  if (x !== null || y !== null) return x === null ? 1 : -1;
  return textOf(a).localeCompare(textOf(b), "en", { numeric: true });
}

function isNothing(cell: Cell): boolean {
  return cell === null || (Array.isArray(cell) && cell[0] === null);
}

export interface TableOptions {
  /** Called with the number of the row when it is chosen. */
  chosen?: (row: number) => void;
  sort?: { column: number; descending: boolean };
  filter?: boolean;
}

export class SortableTable {
  readonly element: HTMLElement;
  #table: Table;
  readonly #options: TableOptions;
  readonly #body = h("tbody");
  readonly #status = h("span", { role: "status", class: "range" });
  readonly #more = button("Show more rows", () => {
    this.#shown += 10 * PAGE;
    this.#fill();
  }, { class: "more" });
  readonly #headers: HTMLElement[];
  #sort: { column: number; descending: boolean } | null;
  #words = "";
  #shown = PAGE;

  constructor(table: Table, options: TableOptions = {}) {
    this.#table = table;
    this.#options = options;
    this.#sort = options.sort ?? null;
    this.#headers = table.columns.map((column, i) => heading(column, button(column.title, () => {
      this.#sortBy(i);
    })));
    this.element = h(
      "section",
      { class: "sortable" },
      this.#controls(),
      h("div", { class: "scroll" }, h("table", { "aria-label": table.title }, h("thead", {}, h("tr", {}, ...this.#headers)), this.#body)),
      this.#more,
    );
    this.#fill();
  }

  /** Other rows in the same columns. */
  replace(rows: Cell[][]): void {
    this.#table = { ...this.#table, rows };
    this.#fill();
  }

  #controls(): HTMLElement {
    const controls = h("div", { class: "controls" });
    if (this.#options.filter !== false) {
      const input = h("input", { type: "search", placeholder: "words to look for", spellcheck: "false" });
      input.addEventListener("input", () => {
        this.#words = input.value;
        this.#shown = PAGE;
        this.#fill();
      });
      controls.append(h("label", { class: "choice" }, h("span", {}, "Filter"), input));
    }
    controls.append(this.#status);
    return controls;
  }

  #sortBy(column: number): void {
    const first = this.#table.columns[column].right;
    const descending = this.#sort?.column === column ? !this.#sort.descending : first;
    this.#sort = { column, descending };
    this.#fill();
  }

  #order(): number[] {
    const words = this.#words.toLowerCase().split(/\s+/).filter(Boolean);
    let order = this.#table.rows.map((_, i) => i);
    if (words.length > 0)
      order = order.filter((i) => {
        const text = this.#table.rows[i].map(textOf).join("\n").toLowerCase();
        return words.every((word) => text.includes(word));
      });
    const sort = this.#sort;
    if (sort)
      order.sort((i, j) => {
        const a = this.#table.rows[i][sort.column];
        const b = this.#table.rows[j][sort.column];
        if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b)) || i - j;
        return (sort.descending ? -1 : 1) * compare(a, b) || i - j;
      });
    return order;
  }

  #fill(): void {
    const order = this.#order();
    const sort = this.#sort;
    this.#headers.forEach((cell, i) => {
      cell.setAttribute(
        "aria-sort",
        sort?.column === i ? (sort.descending ? "descending" : "ascending") : "none",
      );
    });
    let largest = 0;
    if (sort) for (const i of order) largest = Math.max(largest, numberOf(this.#table.rows[i][sort.column]) ?? 0);
    this.#body.replaceChildren(...order.slice(0, this.#shown).map((i) => this.#row(i, largest)));
    const n = this.#table.rows.length;
    const rows = n === 1 ? "row" : "rows";
    this.#status.textContent =
      order.length === n ? `${n.toLocaleString("en-US")} ${rows}` : `${order.length.toLocaleString("en-US")} of ${n.toLocaleString("en-US")} ${rows}`;
    this.#more.hidden = order.length <= this.#shown;
  }

  #row(i: number, largest: number): HTMLTableRowElement {
    const row = h("tr");
    this.#table.rows[i].forEach((cell, column) => {
      const right = this.#table.columns[column].right;
      const text = textOf(cell);
      const side = right ? " right" : text.length <= SHORT ? " short" : " long";
      const td = h("td", { class: `${loudness(cell) ?? ""}${side}` }, text);
      const value = numberOf(cell);
      if (this.#sort?.column === column && right && value !== null && largest > 0) {
        td.classList.add("bar");
        td.style.setProperty("--share", `${Math.max(0, (100 * value) / largest)}%`);
      }
      row.append(td);
    });
    const chosen = this.#options.chosen;
    if (chosen) {
      row.tabIndex = 0;
      row.classList.add("choosable");
      row.addEventListener("click", () => {
        chosen(i);
      });
      row.addEventListener("keydown", (event) => {
        if (event.key === "Enter") chosen(i);
      });
    }
    return row;
  }
}
