/* Tabs that are tables: datasets, files, bytes, branches, failures, the time ledger. */

import { Chunks } from "./chunk";
import { h, swatch } from "./dom";
import { bytes, clock, count, percent, seconds } from "./format";
import type { Cell, Report, Table } from "./report";
import { figureTable, SortableTable } from "./table";
import { color } from "./theme";

export function tableTab(panel: HTMLElement, table: Table | undefined, nothing: string): void {
  if (table && table.rows.length > 0) panel.append(new SortableTable(table).element);
  else panel.append(h("p", { class: "empty" }, nothing));
}

/** Bytes by their sources, one beside the other, and how much of the files that is. */
export function bytesTab(panel: HTMLElement, report: Report): void {
  const tables = ["bytes", "coverage"].map((name) => report.table(name)).filter((table) => table !== undefined);
  if (tables.length > 0) panel.append(h("div", { class: "columns" }, ...tables.map(figureTable)));
  else panel.append(h("p", { class: "empty" }, "Nothing is known about the bytes that were read."));
}

/** Files by what their chunks took, of the chunks' columns: for a run with too many of them for words. */
export function filesTable(report: Report): Table {
  const chunks = new Chunks(report);
  const { words } = report;
  const n = words.files.length;
  const file = report.values(words.chunks.file);
  const sums = Array.from({ length: 8 }, () => new Float64Array(n));
  // of wall time and bytes also how many chunks tell them, and the events of those
  const [done, failed, events, wall, walls, wallEvents, requested, requests] = sums;
  const dataset = report.values(words.chunks.file_dataset);
  for (let i = 0; i < chunks.n; i++) {
    const f = file[i];
    if (!chunks.isFinished(i)) {
      failed[f]++;
      continue;
    }
    done[f]++;
    events[f] += chunks.events[i] || 0;
    if (!Number.isNaN(chunks.wall[i])) {
      wall[f] += chunks.wall[i];
      wallEvents[f] += chunks.events[i] || 0;
      walls[f]++;
    }
    if (!Number.isNaN(chunks.bytes[i])) {
      requested[f] += chunks.bytes[i];
      requests[f]++;
    }
  }
  const titles = ["File", "Dataset", "Chunks", "Failed", "Events", "Wall", "Bytes", "Wall/Event"];
  const rows = words.files.map((_, f): Cell[] => [
    report.name(words.files, f),
    report.name(words.datasets, dataset[f]),
    [done[f], count(done[f])],
    failed[f] ? [failed[f], count(failed[f]), 3] : [0, "0"],
    [events[f], count(events[f])],
    walls[f] ? [wall[f], seconds(wall[f])] : null,
    requests[f] ? [requested[f], bytes(requested[f])] : null,
    wallEvents[f] ? [wall[f] / wallEvents[f], seconds(wall[f] / wallEvents[f])] : null,
  ]);
  return {
    name: "files",
    title: "Files",
    columns: titles.map((title, i) => ({ key: title, title, right: i > 1 })),
    rows,
  };
}

/** Failed and lost attempts: grouped by what was said, then one by one. */
export function failuresTab(panel: HTMLElement, report: Report): void {
  const { errors } = report.words.chunks;
  const groups = report.table("failures");
  if (groups) panel.append(new SortableTable(groups).element);
  else if (errors.length === 0) panel.append(h("p", { class: "empty good" }, "No chunk failed or was lost."));
  if (errors.length === 0) return;
  const chunks = new Chunks(report);
  panel.append(
    h("h3", {}, "One by one"),
    new SortableTable({
      name: "attempts",
      title: "Attempts that did not finish",
      columns: [
        ...["start_utc_ns", "outcome", "dataset", "file", "worker", "error_type"].map((name) => chunks.head(name)),
      ],
      rows: errors.map(([i, type, message]): Cell[] => [
        Number.isNaN(chunks.start[i]) ? [null, "not known", 2] : [chunks.start[i], clock(chunks.start[i], 0.1)],
        chunks.outcomeName(i),
        chunks.datasetName(i),
        chunks.fileName(i),
        chunks.workerName(i),
        [type, message].filter(Boolean).join(": "),
      ]),
    }).element,
  );
}

/** Parts of one whole, one beside the other; workers below each other. */
export function ledgerTab(panel: HTMLElement, table: Table): void {
  const cell = (row: Cell[], key: string) => row[table.columns.findIndex((column) => column.key === key)];
  const parts = table.rows.flatMap((row, i) => {
    const name = cell(row, "part");
    const time = cell(row, "seconds");
    const isPart = !table.levels?.[i];
    return isPart && typeof name === "string" && Array.isArray(time) && time[0] !== null && time[0] > 0
      ? [{ name, seconds: time[0] }]
      : [];
  });
  const total = parts.reduce((sum, part) => sum + part.seconds, 0);
  if (total > 0) {
    const bar = h("div", { class: "stack", role: "img", "aria-label": `${table.title}, all workers together` });
    const list = h("ul", { class: "legend" });
    parts.forEach((part, k) => {
      const share = percent(part.seconds / total);
      const block = h("span", { title: `${part.name}: ${seconds(part.seconds)}, ${share}` });
      block.style.width = `${(100 * part.seconds) / total}%`;
      block.style.background = color(k);
      bar.append(block);
      list.append(swatch(color(k), `${part.name} ${share}`));
    });
    panel.append(h("h3", {}, "All workers together"), bar, list);
  }
  panel.append(h("h3", {}, table.title), new SortableTable(table).element);
}
