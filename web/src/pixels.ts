/*
 * A picture of very many small things: colours are added up pixel by pixel,
 * and a pixel gets the denser the more of them meet there.
 */

import type { RGB } from "./theme";

export class Pixels {
  width = 0;
  height = 0;
  #sums = new Float32Array(0);
  readonly #canvas = document.createElement("canvas");

  /** An empty picture of that size. */
  begin(width: number, height: number): void {
    this.width = Math.max(1, Math.round(width));
    this.height = Math.max(1, Math.round(height));
    const n = this.width * this.height * 4;
    if (this.#sums.length === n) this.#sums.fill(0);
    else this.#sums = new Float32Array(n);
  }

  add(x: number, y: number, color: RGB, weight: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = (y * this.width + x) * 4;
    const sums = this.#sums;
    sums[at] += color[0] * weight;
    sums[at + 1] += color[1] * weight;
    sums[at + 2] += color[2] * weight;
    sums[at + 3] += weight;
  }

  /** One thing of weight 1 is as dense as `alpha`; with `cover`, the weight itself is the density. */
  paint(context: CanvasRenderingContext2D, left: number, top: number, alpha: number, cover = false): void {
    const { width, height } = this;
    const image = new ImageData(width, height);
    const out = image.data;
    const sums = this.#sums;
    for (let at = 0; at < sums.length; at += 4) {
      const weight = sums[at + 3];
      if (weight === 0) continue;
      out[at] = sums[at] / weight;
      out[at + 1] = sums[at + 1] / weight;
      out[at + 2] = sums[at + 2] / weight;
      out[at + 3] = 255 * (cover ? Math.min(1, 0.12 + 0.88 * weight) : 1 - Math.pow(1 - alpha, weight));
    }
    this.#canvas.width = width;
    this.#canvas.height = height;
    this.#canvas.getContext("2d")?.putImageData(image, 0, 0);
    context.drawImage(this.#canvas, left, top);
  }
}
