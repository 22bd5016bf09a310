/* What the page knows about a run: the shape of the data, whoever brings them. */

export interface Column {
  type: "f32" | "u32" | "u16" | "u8";
  n: number;
  at: number;
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
  columns: { key: string; title: string; right: boolean }[];
  rows: Cell[][];
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
    time_unit_s: number;
    outcomes: string[];
    start: Column;
    wall: Column;
    cpu: Column;
    memory: Column;
    bytes: Column;
    events: Column;
    entry_start: Column;
    /** Entries beyond the number of events, zigzag-coded. */
    beyond: Column;
    attempt: Column;
    worker: Column;
    dataset: Column;
    file: Column;
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

const ABSENT = 0xffffffff;

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
  readonly #unpacked = new Map<Column, Float32Array | Float64Array | Uint32Array | Uint8Array>();
  #starts: Float64Array | undefined;

  constructor(words: Words, columns: Uint8Array) {
    this.words = words;
    this.#columns = columns;
  }

  /** Real numbers; NaN where there is none. */
  reals(column: Column): Float32Array {
    const known = this.#unpacked.get(column);
    if (known instanceof Float32Array) return known;
    const numbers = this.#join(column);
    const values = new Float32Array(numbers.buffer);
    this.#unpacked.set(column, values);
    return values;
  }

  /** Whole numbers; NaN where there is none. */
  counts(column: Column): Float64Array {
    const known = this.#unpacked.get(column);
    if (known instanceof Float64Array) return known;
    const values = Float64Array.from(this.#join(column), (x) => (x === ABSENT ? NaN : x));
    this.#unpacked.set(column, values);
    return values;
  }

  /** Numbers of names and the like: always there. */
  numbers(column: Column): Uint32Array | Uint8Array {
    const known = this.#unpacked.get(column);
    if (known instanceof Uint32Array || known instanceof Uint8Array) return known;
    const values = column.type === "u8" ? this.#bytes(column, 1) : this.#join(column);
    this.#unpacked.set(column, values);
    return values;
  }

  /** When each chunk began, in seconds of the page's time. */
  starts(): Float64Array {
    if (this.#starts) return this.#starts;
    const { start, time_unit_s } = this.words.chunks;
    this.#starts = Float64Array.from(this.#join(start), (x) => (x === ABSENT ? NaN : x * time_unit_s));
    return this.#starts;
  }

  #bytes(column: Column, size: number): Uint8Array {
    return this.#columns.subarray(column.at, column.at + column.n * size);
  }

  /** The planes of bytes as numbers again. */
  #join(column: Column): Uint32Array {
    const size = column.type === "u16" ? 2 : 4;
    const planes = this.#bytes(column, size);
    const n = column.n;
    const values = new Uint32Array(n);
    if (size === 2) for (let i = 0; i < n; i++) values[i] = planes[i] | (planes[n + i] << 8);
    else
      for (let i = 0; i < n; i++)
        values[i] =
          planes[i] | (planes[n + i] << 8) | (planes[2 * n + i] << 16) | (planes[3 * n + i] << 24);
    if (column.delta) for (let i = 1; i < n; i++) values[i] += values[i - 1];
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
