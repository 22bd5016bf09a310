/* Where the data come from. Drawing knows only what they are. */

import { type Compared, Report, unpack } from "./report";

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

/** The data that were written into the page; null where there are none: a server has them. */
export async function loadEmbedded(): Promise<Report | Compared | null> {
  const element = document.getElementById("data");
  const text = element?.textContent.trim() ?? "";
  element?.remove();
  return text ? unpack(await inflate(decodeBase64(text))) : null;
}

/** The data as the server that the page came from has them now. */
export async function fetchReport(): Promise<Report> {
  const answer = await fetch("data");
  if (!answer.ok) throw new Error(await answer.text());
  const report = unpack(new Uint8Array(await answer.arrayBuffer()));
  if (!(report instanceof Report)) throw new Error("the server sent something else than a run");
  return report;
}

/** Calls when the server says that the run has changed; one call at a time. */
export function follow(changed: () => Promise<void>): void {
  let busy = false;
  let again = false;
  const update = async (): Promise<void> => {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      await changed().catch(() => undefined); // it will be told again
    }
    busy = false;
  };
  let first = true;
  new EventSource("events").addEventListener("change", () => {
    if (!first) void update();
    first = false;
  });
}
