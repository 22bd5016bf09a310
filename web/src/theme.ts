/* Colours: of the page from its style sheet, of the data from Okabe and Ito (2008). */

/** Told apart by people with any kind of colour blindness. */
const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7f00"];
const DARK = ["#4aa8e0", "#f0b429", "#2cc79a", "#e29bc3", "#8fd0f5", "#ff8a4c", "#e8dc5a"];

export type RGB = [number, number, number];

export function isDark(): boolean {
  if (document.documentElement.classList.contains("printing")) return false;
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** A colour of the style sheet. */
export function ofTheme(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The colour of thing number i; more things than colours take them again. */
export function color(i: number): string {
  const cycle = isDark() ? DARK : LIGHT;
  return cycle[i % cycle.length];
}

export function rgb(hex: string): RGB {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function fade(hex: string, alpha: number): string {
  const [r, g, b] = rgb(hex);
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

/** Finished, failed, lost, skipped, and what else there may be. */
export function outcomeColor(outcome: string): string {
  if (outcome === "finished") return color(0);
  if (outcome === "failed") return ofTheme("alert");
  return outcome === "lost" ? color(1) : color(3);
}
