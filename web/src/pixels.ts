/*
 * A picture of very many small things. Each pixel knows how much lies on it and
 * which of the things came last: that one gives the colour, the amount how dense
 * it is.
 */

import type { RGB } from "./theme";

/** Densities are looked up: this many steps up to a weight of 1, and up to WEIGHTS. */
const STEPS = 16;
const WEIGHTS = 32;

export class Pixels {
  width = 0;
  height = 0;
  #weights = new Float32Array(0);
  #shades = new Uint32Array(0);
  readonly #canvas = document.createElement("canvas");

  /** An empty picture of that size. */
  begin(width: number, height: number): void {
    this.width = Math.max(1, Math.round(width));
    this.height = Math.max(1, Math.round(height));
    const n = this.width * this.height;
    if (this.#weights.length === n) {
      this.#weights.fill(0);
    } else {
      this.#weights = new Float32Array(n);
      this.#shades = new Uint32Array(n);
    }
  }

  /** A disc around a place. */
  disc(x: number, y: number, radius: number, shade: number): void {
    const { width, height } = this;
    if (radius === 0) {
      if (x < 0 || y < 0 || x >= width || y >= height) return;
      this.#weights[y * width + x]++;
      this.#shades[y * width + x] = shade;
      return;
    }
    const limit = (radius + 0.4) * (radius + 0.4);
    for (let dy = -radius; dy <= radius; dy++) {
      if (y + dy < 0 || y + dy >= height) continue;
      const half = Math.floor(Math.sqrt(limit - dy * dy));
      const row = (y + dy) * width;
      const to = row + Math.min(width - 1, x + half);
      for (let at = row + Math.max(0, x - half); at <= to; at++) {
        this.#weights[at]++;
        this.#shades[at] = shade;
      }
    }
  }

  /** A rectangle; of pixels that it covers in part, that part counts. */
  block(x0: number, x1: number, y0: number, y1: number, shade: number, weight: number): void {
    const { width, height } = this;
    const left = Math.max(0, Math.floor(x0));
    const right = Math.min(width, Math.max(Math.ceil(x1), left + 1));
    const top = Math.max(0, Math.floor(y0));
    const bottom = Math.min(height, Math.max(top + 1, Math.floor(y1)));
    for (let y = top; y < bottom; y++)
      for (let x = left, at = y * width + left; x < right; x++, at++) {
        const part = Math.min(x + 1, x1) - Math.max(x, x0);
        this.#weights[at] += weight * (part > 0.05 ? part : 0.05);
        if (part > 0.3 || this.#weights[at] < 0.3) this.#shades[at] = shade;
      }
  }

  /** Puts the picture on a canvas; `density` is that of a weight. */
  paint(
    context: CanvasRenderingContext2D,
    left: number,
    top: number,
    colors: RGB[],
    density: (weight: number) => number,
  ): void {
    const image = new ImageData(this.width, this.height);
    const out = new Uint32Array(image.data.buffer);
    const packed = Uint32Array.from(colors, ([r, g, b]) => r | (g << 8) | (b << 16));
    const alphas = new Uint32Array(WEIGHTS * STEPS + 1);
    for (let i = 0; i < alphas.length; i++)
      alphas[i] = Math.round(255 * Math.min(1, density(i / STEPS))) << 24;
    const weights = this.#weights;
    const shades = this.#shades;
    for (let at = 0; at < weights.length; at++) {
      const weight = weights[at];
      if (weight === 0) continue;
      const step = weight >= WEIGHTS ? WEIGHTS * STEPS : Math.ceil(weight * STEPS);
      out[at] = packed[shades[at]] | alphas[step];
    }
    this.#canvas.width = this.width;
    this.#canvas.height = this.height;
    this.#canvas.getContext("2d")?.putImageData(image, 0, 0);
    context.drawImage(this.#canvas, left, top);
  }
}
