/* The page: its heading, its tabs, and which of them is drawn. */

import { Charts } from "./chart";
import { chunksTab } from "./chunks";
import { compared } from "./comparison";
import { button, type Content, h, type Tab } from "./dom";
import { seconds, utc } from "./format";
import { ganttTab } from "./gantt";
import { fetchReport, follow, loadEmbedded } from "./load";
import { environment, overview } from "./overview";
import { TimeRange } from "./range";
import { type Compared, Report } from "./report";
import { sectionsTab } from "./sections";
import { isDark } from "./theme";
import { bytesTab, failuresTab, filesTable, ledgerTab, tableTab } from "./things";
import { timeline } from "./timeline";

function tabsOf(report: Report, range: TimeRange): Tab[] {
  const nothing = "There are no chunk records.";
  const tabs: Tab[] = [
    { id: "overview", title: "Overview", draw: (panel, charts) => { overview(panel, report, range, charts); } },
    { id: "timeline", title: "Timeline", draw: (panel, charts) => { timeline(panel, report, range, charts); } },
    { id: "chunks", title: "Chunks", draw: (panel, charts) => { chunksTab(panel, report, range, charts); } },
    { id: "gantt", title: "Gantt", draw: (panel, charts) => { ganttTab(panel, report, range, charts); } },
    { id: "sections", title: "Sections", draw: (panel) => { sectionsTab(panel, report); } },
    {
      id: "datasets",
      title: "Datasets",
      draw: (panel) => {
        tableTab(panel, report.table("datasets"), nothing);
      },
    },
    {
      id: "files",
      title: "Files",
      draw: (panel) => {
        tableTab(panel, report.table("files") ?? filesTable(report), nothing);
      },
    },
    { id: "bytes", title: "Bytes", draw: (panel) => { bytesTab(panel, report); } },
    {
      id: "branches",
      title: "Branches",
      draw: (panel) => {
        tableTab(panel, report.table("branches"), "Nothing is known about the branches that were read.");
      },
    },
    { id: "failures", title: "Failures", draw: (panel) => { failuresTab(panel, report); } },
  ];
  const ledger = report.table("ledger");
  if (ledger) tabs.push({ id: "ledger", title: "Time ledger", draw: (panel) => { ledgerTab(panel, ledger); } });
  const tasks = report.table("tasks");
  if (tasks) tabs.push({ id: "tasks", title: "Tasks", draw: (panel) => { tableTab(panel, tasks, ""); } });
  tabs.push({ id: "environment", title: "Environment", draw: (panel) => { environment(panel, report); } });
  return tabs;
}

function contentOf(report: Report): Content {
  const { run } = report.words;
  const outcome = run.outcome ?? "unfinished";
  const lasted = run.end_utc_ms !== null && run.start_utc_ms !== null ? (run.end_utc_ms - run.start_utc_ms) / 1e3 : run.duration_s;
  const badge = outcome === "finished" ? "good" : outcome === "failed" ? "alert" : "warn";
  return {
    title: run.name ?? "Run without a name",
    about: [
      `begun ${utc(run.start_utc_ms)}${lasted > 0 ? `, ${seconds(lasted)}` : ""} `,
      h("span", { class: `badge ${badge}` }, outcome),
    ],
    tabs: tabsOf(report, new TimeRange(run.duration_s)),
  };
}

function heading(content: Content, themeButton: HTMLElement): HTMLElement {
  return h(
    "header",
    {},
    h("div", { class: "brand", "aria-hidden": "true" }, "roast"),
    h("div", { class: "title" }, h("h1", {}, content.title), h("p", {}, ...content.about)),
    themeButton,
  );
}

class Page {
  readonly #tabs: Tab[];
  readonly #buttons: HTMLButtonElement[] = [];
  readonly #panels: HTMLElement[] = [];
  readonly #charts: Charts[] = [];
  readonly #drawn = new Set<number>();
  readonly #life = new AbortController();
  #current = 0;

  constructor(place: HTMLElement, known: Report | Compared) {
    const content = known instanceof Report ? contentOf(known) : compared(known);
    this.#tabs = content.tabs;
    const nav = h("nav", { role: "tablist", "aria-label": "Parts of the report" });
    const panels = h("div", { class: "panels" });
    this.#tabs.forEach((tab, i) => {
      const opener = button(tab.title, () => {
        this.show(i);
      }, { role: "tab", id: `tab-${tab.id}`, "aria-controls": tab.id });
      const panel = h("section", { role: "tabpanel", id: tab.id, "aria-labelledby": `tab-${tab.id}`, hidden: true },
        h("h2", {}, tab.title));
      this.#buttons.push(opener);
      this.#panels.push(panel);
      this.#charts.push(new Charts());
      nav.append(opener);
      panels.append(panel);
    });
    nav.addEventListener("keydown", (event) => {
      this.#key(event);
    });
    place.replaceChildren(heading(content, this.#themeButton()), nav, panels);
    document.title = `${content.title} – roast report`;
    const { signal } = this.#life;
    addEventListener("beforeprint", () => {
      this.#print();
    }, { signal });
    addEventListener("afterprint", () => {
      document.documentElement.classList.remove("printing");
      this.redraw();
    }, { signal });
    addEventListener("hashchange", () => {
      this.#showHash();
    }, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.redraw();
    }, { signal });
    this.#showHash();
  }

  #showHash(): void {
    const i = this.#tabs.findIndex((tab) => `#${tab.id}` === location.hash);
    this.show(Math.max(0, i));
  }

  show(i: number): void {
    this.#current = i;
    this.#buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === i));
      button.tabIndex = k === i ? 0 : -1;
      this.#panels[k].hidden = k !== i;
    });
    this.#draw(i);
    const hash = `#${this.#tabs[i].id}`;
    if (location.hash !== hash && (i > 0 || location.hash)) history.replaceState(null, "", hash);
  }

  /** Draws a panel, once. */
  #draw(i: number): void {
    if (this.#drawn.has(i)) return;
    this.#drawn.add(i);
    this.#tabs[i].draw(this.#panels[i], this.#charts[i]);
  }

  /** Makes place for another page. */
  close(): void {
    this.#life.abort();
    this.#charts.forEach((charts) => {
      charts.clear();
    });
  }

  /** Everything anew, in the colours that hold now. */
  redraw(): void {
    this.#panels.forEach((panel, i) => {
      this.#charts[i].clear();
      panel.replaceChildren(h("h2", {}, this.#tabs[i].title));
    });
    this.#drawn.clear();
    this.#draw(this.#current);
  }

  /** All panels, below each other, in light colours. */
  #print(): void {
    document.documentElement.classList.add("printing");
    this.redraw();
    this.#tabs.forEach((_, i) => {
      this.#draw(i);
    });
  }

  #themeButton(): HTMLElement {
    const tell = () => {
      toggle.textContent = isDark() ? "Light" : "Dark";
      toggle.setAttribute("aria-label", isDark() ? "Show in light colours" : "Show in dark colours");
    };
    const toggle = button("", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      tell();
      this.redraw();
    }, { class: "theme" });
    tell();
    return toggle;
  }

  #key(event: KeyboardEvent): void {
    const n = this.#tabs.length;
    const steps: Record<string, number> = { ArrowRight: this.#current + 1, ArrowLeft: this.#current - 1, Home: 0, End: n - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = (steps[event.key] + n) % n;
    this.show(next);
    this.#buttons[next].focus();
  }
}

async function start(): Promise<void> {
  const place = document.getElementById("page");
  if (!place) return;
  try {
    const embedded = await loadEmbedded();
    let page = new Page(place, embedded ?? (await fetchReport()));
    performance.mark("roast-ready");
    if (embedded) return;
    follow(async () => {
      const report = await fetchReport();
      const at = scrollY;
      page.close();
      page = new Page(place, report);
      scrollTo({ top: at });
    });
  } catch (error) {
    place.replaceChildren(
      h("p", { class: "notice alert", role: "alert" }, `The report cannot be shown: ${String(error)}`),
    );
    throw error;
  }
}

void start();
