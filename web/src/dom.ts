/* Elements made by hand: text is always text. */

import type { Charts } from "./chart";

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string | null | undefined;

export interface Tab {
  id: string;
  title: string;
  draw: (panel: HTMLElement, charts: Charts) => void;
}

/** What a page shows. */
export interface Content {
  title: string;
  about: Child[];
  tabs: Tab[];
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function button(text: string, clicked: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", clicked);
  return made;
}

/** An item of a legend. */
export function swatch(color: string, text: string): HTMLElement {
  const mark = h("span", { class: "swatch" });
  mark.style.background = color;
  return h("li", {}, mark, text);
}

/** A labelled choice. */
export function choice(
  label: string,
  options: [value: string, text: string][],
  value: string,
  changed: (value: string) => void,
): HTMLLabelElement {
  const select = h("select", { name: label });
  for (const [key, text] of options) select.append(h("option", { value: key }, text));
  select.value = value;
  select.addEventListener("change", () => {
    changed(select.value);
  });
  return h("label", { class: "choice" }, h("span", {}, label), select);
}

/** A list of terms and what they are. */
export function definitions(rows: [string, string | Node][], className = "pairs"): HTMLElement {
  const list = h("dl", { class: className });
  for (const [term, text] of rows) list.append(h("dt", {}, term), h("dd", {}, text));
  return list;
}

/** Calls a function once before the next frame, however often it is asked to. */
export function oncePerFrame(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
