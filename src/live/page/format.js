// Values as they are shown. What was not measured is a dash, never 0.

/** Stands for what was not measured. */
const NONE = '–';

const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);

/** Three digits and a unit: `3.21 ms`, `412 ms`, `1.32 s`, `125 s`. */
export function duration(ms) {
  if (isMissing(ms)) return NONE;
  const [value, unit] = ms < 999.5 ? [ms, 'ms'] : [ms / 1000, 's'];
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

/** Microseconds in the same way. */
export const micros = (us) => (isMissing(us) ? NONE : us < 999.5 ? `${Math.round(us)} µs` : duration(us / 1000));

/** At an axis: `0.1 ms`, `20 ms`, `5 s`. */
export function short(ms) {
  if (ms < 0.001) return `${Number((ms * 1e6).toPrecision(3))} ns`;
  if (ms < 0.1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  return ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`;
}

/** A number in groups of three digits: `1,204`. */
export const count = (n) => (isMissing(n) ? NONE : n.toLocaleString('en-US'));

/** `1.4 kB`. */
export function bytes(n) {
  if (isMissing(n)) return NONE;
  if (n < 1000) return `${n} B`;
  const unit = Math.min(3, Math.floor(Math.log10(n) / 3));
  const value = n / 1000 ** unit;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${' kMG'[unit]}B`;
}

// Control characters, marks that turn the direction of text, what has no shape, and separators of lines.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text of others: what cannot be seen is told, and it is at most so long. It goes into `textContent` alone. */
export function shown(text, most = 160) {
  if (isMissing(text)) return NONE;
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return cut.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** The percentile `p` of sorted values, by the rank that the record and the report take. */
export function percentile(sorted, p) {
  return sorted.length ? sorted[Math.floor((p * (sorted.length - 1) + 50) / 100)] : NaN;
}
