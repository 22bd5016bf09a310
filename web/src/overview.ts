/* The first page: how the run went, in figures and in words. */

import type { Charts } from "./chart";
import { definitions, h } from "./dom";
import { percent, seconds, utc } from "./format";
import type { TimeRange } from "./range";
import type { Figure, Finding, Report } from "./report";
import { figureTable } from "./table";
import { timeline } from "./timeline";

/** Tables of figures; those of things have a tab of their own. */
const FIGURES = ["throughput", "events", "resources", "timing", "split", "chunks", "fine", "custom"];

function card(figure: Figure): HTMLElement {
  const value =
    figure.text === undefined
      ? h("dd", { class: "absent" }, "not known", h("small", {}, figure.absent ?? ""))
      : h(
          "dd",
          {},
          figure.text,
          figure.estimated === undefined ? null : h("small", {}, `estimated: ${figure.estimated}`),
        );
  return h("div", { class: "card", title: figure.formula }, h("dt", {}, figure.title), value);
}

function finding(one: Finding): HTMLElement {
  const saves =
    typeof one.saves_s === "number"
      ? `could save ${seconds(one.saves_s)}${typeof one.share === "number" ? `, ${percent(one.share)} of the run` : ""}`
      : "";
  const subjects = h("ul", { class: "subjects" });
  for (const subject of one.subjects ?? [])
    subjects.append(
      h("li", {}, h("span", { class: "dim" }, `${subject.kind} `), subject.name, h("span", { class: "dim" }, ` ${subject.value}`)),
    );
  return h(
    "li",
    { class: "finding" },
    h("h4", {}, one.title, " ", h("span", { class: "saves" }, saves)),
    ...(one.evidence ?? []).map((line) => h("p", {}, line)),
    subjects.children.length > 0 ? subjects : null,
    one.try ? h("p", { class: "try" }, h("strong", {}, "Try: "), one.try) : null,
    one.threshold ? h("p", { class: "dim" }, one.threshold) : null,
  );
}

function findings(report: Report): HTMLElement | null {
  const list = report.words.explanation?.findings;
  if (!list) return null;
  if (list.length === 0)
    return h(
      "section",
      { class: "findings" },
      h("h3", {}, "Findings"),
      h("p", { class: "empty" }, "Nothing stands out: no rule found time to save."),
    );
  return h(
    "section",
    { class: "findings" },
    h("h3", {}, "Findings"),
    h("ol", {}, ...list.map(finding)),
  );
}

function fate(report: Report): HTMLElement | null {
  const { run } = report.words;
  if (run.outcome === null)
    return h(
      "p",
      { class: "notice" },
      h("strong", {}, "Unfinished. "),
      "The run is still going on, or its client died: this is what was written until then.",
    );
  if (run.outcome !== "finished")
    return h(
      "p",
      { class: "notice alert" },
      h("strong", {}, "Failed. "),
      run.error ?? "No reason was kept.",
    );
  return null;
}

export function overview(panel: HTMLElement, report: Report, range: TimeRange, charts: Charts): void {
  const notice = fate(report);
  if (notice) panel.append(notice);
  panel.append(
    h("section", { "aria-label": "Key figures" }, h("dl", { class: "cards" }, ...report.words.figures.map(card))),
  );
  const found = findings(report);
  if (found) panel.append(found);
  if (report.words.grid.n > 0 && report.words.chunks.n > 0) {
    const place = h("section", { "aria-label": "Activity over time" });
    panel.append(place);
    timeline(place, report, range, charts, 2);
  }
  const tables = h("div", { class: "columns" });
  for (const name of FIGURES) {
    const table = report.table(name);
    if (table) tables.append(figureTable(table));
  }
  panel.append(tables);
}

/** Everything that was noted about the run: software, machine, settings. */
export function environment(panel: HTMLElement, report: Report): void {
  const { run, facts, version } = report.words;
  const rows: [string, string | Node][] = facts.map(([name, value, reason]) => {
    if (value === null)
      return [name, h("span", { class: "dim" }, `not known${reason ? `: ${reason}` : ""}`)];
    if (name.endsWith("_utc_ns") && typeof value === "number") return [name, utc(value / 1e6)];
    if (name.endsWith("_ns") && typeof value === "number") return [name, seconds(value / 1e9)];
    return [name, String(value)];
  });
  panel.append(
    h("h3", {}, "Run"),
    definitions([
      ["Name", run.name ?? "(no name)"],
      ["Id", run.id ?? "not known"],
      ["Begun", utc(run.start_utc_ms)],
      ["Ended", run.end_utc_ms === null ? "unfinished" : utc(run.end_utc_ms)],
      ["Report by", `roast ${version}`],
    ]),
    h("h3", {}, "Facts"),
    rows.length > 0 ? definitions(rows) : h("p", { class: "empty" }, "Nothing was noted."),
  );
}
