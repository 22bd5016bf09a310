/* Units for people, as libroast writes them: SI prefixes, times down to nanoseconds. */

function fixed(value: number, digits: number): string {
  return value.toFixed(digits);
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return "not known";
  const prefixes = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let i = 0;
  while (Math.abs(value) >= (i ? 999.995 : 999.5) && i + 1 < prefixes.length) {
    value /= 1000;
    i++;
  }
  return `${fixed(value, i ? 2 : 0)} ${prefixes[i]}`;
}

export function seconds(value: number, digits = 1): string {
  if (!Number.isFinite(value)) return "not known";
  const size = Math.abs(value);
  if (value >= 3600)
    return `${Math.floor(value / 3600)}h ${Math.floor(value / 60) % 60}m ${Math.floor(value % 60)}s`;
  if (value >= 60) return `${Math.floor(value / 60)}m ${Math.floor(value % 60)}s`;
  if (size >= 0.99995 || value === 0) return `${fixed(value, digits)}s`;
  if (size >= 0.99995e-3) return `${fixed(value * 1e3, 1)}ms`;
  if (size >= 0.9995e-6) return `${fixed(value * 1e6, 1)}us`;
  return `${fixed(value * 1e9, 0)}ns`;
}

/** A duration on axes: without what is zero. */
export function briefly(value: number): string {
  return seconds(value, 2)
    .replace(/\.0+(?=[a-z])/, "")
    .replace(/(\.[0-9]*[1-9])0+(?=[a-z])/, "$1")
    .replace(/ 0[ms]$/, "");
}

/** A time since the run began, on axes: 0:00, 12:30, 1:02:30. */
export function clock(value: number, step = 1): string {
  const whole = Math.floor(value + 1e-9);
  const two = (x: number) => String(x).padStart(2, "0");
  const rest = step < 1 ? fixed(value - whole, step < 0.01 ? 3 : step < 0.1 ? 2 : 1).slice(1) : "";
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const text = `${two(whole % 60)}${rest}`;
  return hours ? `${hours}:${two(minutes)}:${text}` : `${minutes}:${text}`;
}

export function count(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en-US") : "not known";
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${fixed(share * 100, share < 0.1 ? 1 : 0)} %` : "not known";
}

/** 1200000 -> 1.2M: for axes, where room is scarce. */
export function short(value: number): string {
  const size = Math.abs(value);
  const digits = (x: number) => String(Number(x.toPrecision(3)));
  if (size >= 1e9) return `${digits(value / 1e9)}G`;
  if (size >= 1e6) return `${digits(value / 1e6)}M`;
  if (size >= 1e4) return `${digits(value / 1e3)}k`;
  return digits(value);
}

export function utc(ms: number | null): string {
  if (ms === null || !Number.isFinite(ms)) return "at an unknown time";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "at an unknown time";
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A value of a series, by its unit. */
export function inUnit(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "not known";
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return `${bytes(value)}/s`;
  if (unit === "seconds") return seconds(value);
  if (unit === "events/s") return `${short(value)} events/s`;
  if (unit === "count") return count(value);
  return `${Number(value.toPrecision(4))} ${unit}`;
}

/** A long name, cut in its middle: names of files and hosts differ at their ends. */
export function cut(name: string, length: number): string {
  if (name.length <= length) return name;
  const head = Math.floor(length / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (length - head - 1))}`;
}
