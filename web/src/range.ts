/* The stretch of time that is looked at: one for all charts over time. */

type Listener = () => void;

export class TimeRange {
  readonly end: number;
  from = 0;
  to: number;
  readonly #listeners = new Set<Listener>();

  constructor(end: number) {
    this.end = end > 0 ? end : 1;
    this.to = this.end;
  }

  get isWhole(): boolean {
    return this.from <= 0 && this.to >= this.end;
  }

  set(from: number, to: number): void {
    const span = Math.min(Math.max(to - from, this.end / 1e6, 1e-3), this.end);
    from = Math.min(Math.max(from, 0), this.end - span);
    if (from === this.from && from + span === this.to) return;
    this.from = from;
    this.to = from + span;
    for (const listener of [...this.#listeners]) listener();
  }

  reset(): void {
    this.set(0, this.end);
  }

  /** Smaller or larger around a place; the place stays where it is. */
  zoom(factor: number, around = (this.from + this.to) / 2): void {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(share: number): void {
    const step = (this.to - this.from) * share;
    this.set(this.from + step, this.to + step);
  }

  /** Returns a function that ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The keys of a chart; `shown` tells what they change. */
export function listenKeys(place: HTMLElement, shown: () => Pick<TimeRange, "zoom" | "pan" | "reset">): void {
  place.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const range = shown();
    switch (event.key) {
      case "+":
      case "=":
        range.zoom(0.5);
        break;
      case "-":
        range.zoom(2);
        break;
      case "ArrowLeft":
        range.pan(-0.2);
        break;
      case "ArrowRight":
        range.pan(0.2);
        break;
      case "0":
      case "Escape":
        range.reset();
        break;
      default:
        return;
    }
    event.preventDefault();
  });
}
