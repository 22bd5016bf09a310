/* Where the data come from. Drawing knows only the Report. */

import { Report } from "./report";

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The data that were written into the page. */
export async function loadEmbedded(): Promise<Report> {
  const element = document.getElementById("data");
  const text = element?.textContent.trim() ?? "";
  element?.remove();
  return new Report(await inflate(decodeBase64(text)));
}
