/* Elements made by hand: text is always text. */

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string | null | undefined;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
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
