/* What the page knows about a run: the shape of the data, whoever brings them. */

export interface Column {
  /** f32, or u8 to u64. */
  type: string;
  n: number;
  at: number;
  /** What a number stands for, in ns or bytes. */
  unit?: number;
  delta?: boolean;
}

/** Text; nothing; or a number (null: absent), its text for people, and how loud it is. */
export type Cell = string | null | [number | null, string, number?];

export const STRONG = 1;
export const DIM = 2;
export const ALERT = 3;

export interface Table {
  name: string;
  title: string;
  columns: { key: string; title: string; right: boolean; note?: string }[];
  rows: Cell[][];
  /** of each row: above 0 it is part of a row before it */
  levels?: number[];
}

export interface Figure {
  key: string;
  title: string;
  formula: string;
  text?: string;
  absent?: string;
  estimated?: string;
}

export interface Finding {
  rule: string;
  title: string;
  saves_s?: number | null;
  share?: number | null;
  threshold?: string;
  evidence?: string[];
  subjects?: { kind: string; name: string; value: string }[];
  try?: string;
}

export interface Series {
  key: string;
  title: string;
  unit: string;
  note: string;
  min: Column;
  low: Column;
  median: Column;
  high: Column;
  max: Column;
  mean: Column;
  /** How many cells of the grid one value of `each` stands for. */
  fold: number;
  /** Worker by worker. */
  each: Column;
}

/** What a column of the run is called; ns, utc_ns, bytes, count, number or text. */
export interface About {
  name: string;
  title: string;
  unit: string;
  meaning: string;
}

export interface Words {
  version: string;
  run: {
    id: string | null;
    name: string | null;
    outcome: string | null;
    error: string | null;
    start_utc_ms: number | null;
    end_utc_ms: number | null;
    zero_utc_ms: number;
    duration_s: number;
  };
  figures: Figure[];
  tables: Table[];
  facts: [string, string | number | null, string?][];
  explanation?: { findings: Finding[]; checked: { rule: string; why_not: string }[] };
  chunks: {
    n: number;
    /** By number. */
    outcomes: { name: string; meaning: string }[];
    columns: About[];
    /** Durations, sizes and counts, by name. */
    amounts: Record<string, Column>;
    start: Column;
    entry_start: Column;
    /** Entries beyond the number of events, zigzag-coded. */
    beyond: Column;
    attempt: Column;
    worker: Column;
    file: Column;
    /** By file: the dataset of its first chunk. */
    file_dataset: Column;
    /** By how much the number of a chunk's dataset is above that, modulo the number of datasets. */
    other_dataset: Column;
    outcome: Column;
    lane: Column;
    errors: [number, string | null, string | null][];
  };
  sections: { names: (string | null)[]; datasets: { wall_s: number; own_s: number[] }[] };
  grid: {
    n: number;
    step_s: number;
    workers: Column;
    threads?: Column;
    running: Column;
    events: Column;
    memory_limit_bytes?: number;
  };
  series: Series[];
  workers: (string | null)[];
  datasets: (string | null)[];
  files: (string | null)[];
}

/** One figure of two groups of runs; what is not known is null. */
export interface Change {
  group: "run" | "chunk" | "part" | "dataset" | "section";
  title: string;
  against: number;
  change: number | null;
  change_low: number | null;
  change_high: number | null;
  /** A change below it is not called one. */
  noise: number | null;
  n: number;
  test: string;
  verdict: "~" | "better" | "worse" | "changed";
  why: string;
}

/** What a page of several runs knows. */
export interface Compared {
  version: string;
  comparison: {
    runs: { path: string; name: string; group: number }[];
    matched_by: string[];
    notes: string[];
    rows: Change[];
  };
  /** Runs, what differs around them, and the changes of each later group. */
  tables: Table[];
  runs: { start_utc_ms: number | null; figures: Figure[] }[];
}

/** The data of a page: those of a run, or of several. */
export function unpack(bytes: Uint8Array): Report | Compared {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const words = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Words | Compared;
  return "comparison" in words ? words : new Report(words, bytes.subarray(4 + length));
}

/** The words of a run, and its columns, each unpacked when it is first asked for. */
export class Report {
  readonly words: Words;
  readonly #columns: Uint8Array;
  readonly #unpacked = new Map<Column, Float64Array>();
  #datasets: Float64Array | undefined;

  constructor(words: Words, columns: Uint8Array) {
    this.words = words;
    this.#columns = columns;
  }

  /** The numbers of a column, NaN where there is none; `per` units of the column are one of what is asked for. */
  values(column: Column, per = 1): Float64Array {
    let values = this.#unpacked.get(column);
    if (!values) this.#unpacked.set(column, (values = this.#unpack(column, per)));
    return values;
  }

  seconds(column: Column): Float64Array {
    return this.values(column, 1e9);
  }

  /** The dataset of each chunk. */
  datasets(): Float64Array {
    const { file, file_dataset, other_dataset } = this.words.chunks;
    const first = this.values(file_dataset);
    const other = this.values(other_dataset);
    this.#datasets ??= this.values(file).map((f, i) => (first[f] + other[i]) % this.words.datasets.length);
    return this.#datasets;
  }

  /** The planes of bytes as numbers again. */
  #unpack({ type, n, at, unit = 1, delta }: Column, per: number): Float64Array {
    const range = 2 ** Number(type.slice(1));
    const planes = this.#columns.subarray(at);
    const values = new Float64Array(n);
    for (let scale = 1, plane = 0; scale < range; scale *= 256, plane += n)
      for (let i = 0; i < n; i++) values[i] += planes[plane + i] * scale;
    if (type === "f32") return Float64Array.from(new Float32Array(Uint32Array.from(values).buffer));
    let before = 0;
    for (let i = 0; i < n; i++) {
      let value = values[i] + before;
      if (value >= range) value -= range;
      if (delta) before = value;
      values[i] = value === range - 1 ? NaN : (value * unit) / per;
    }
    return values;
  }

  name(names: (string | null)[], number: number): string {
    const name = names[number] ?? "";
    return name === "" ? "(no name)" : name;
  }

  table(name: string): Table | undefined {
    return this.words.tables.find((table) => table.name === name);
  }
}
