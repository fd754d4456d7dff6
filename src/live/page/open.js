// The requests that are open, with all of their ticks: each event brings only new ones.

import { percentile, shown } from './format.js';
import { packTicks } from './store.js';

// A silence is one when it would be a stall in the record: so long, and so many times what is usual.
const LEAST_MS = 250;
const TIMES = 5;
// Events come four times a second. Past two of them nothing is known any more, so nothing is added.
const KNOWN_MS = 500;

export class Open {
  /** By id, the oldest first. */
  all = new Map();
  /** Whether what is open is known at all. */
  isKnown = false;

  /** The connection is lost. */
  lose() {
    this.all = new Map();
    this.isKnown = false;
  }

  /** Takes the rows of an `open` event that came at `now`, of this page's clock. */
  take(rows, now) {
    const next = new Map();
    for (const row of rows) {
      const before = this.all.get(row.id);
      const kept = before ? before.raw.slice(0, row.ticks_before) : [];
      // ticks of which some were never seen here come again with the next connection; until then there is a hole
      const raw = kept.concat(row.ticks);
      const isSame = before && !row.ticks.length && raw.length === before.raw.length;
      next.set(row.id, {
        id: row.id,
        model: shown(row.model),
        path: shown(row.path, 200),
        start: Date.parse(row.started_at),
        came: now,
        row,
        raw,
        ...(isSame ? { ticks: before.ticks, usual: before.usual, stalls: before.stalls } : seenIn(raw)),
      });
    }
    this.all = next;
    this.isKnown = true;
  }
}

/** Ticks as the store has them, the 90th percentile of their gaps, and those that were stalls: when each ended and how long it was, ms. */
function seenIn(raw) {
  const ticks = packTicks(raw);
  // four times a second, for each stream: numbers alone, in the ticks' units
  const gaps = new Uint32Array(Math.max(0, ticks.length / 3 - 1));
  for (let i = 0; i < gaps.length; i += 1) gaps[i] = ticks[3 * i + 3] - ticks[3 * i + 1];
  const usual = (percentile(gaps.toSorted(), 90) || 0) / 10;
  const stalls = [];
  gaps.forEach((gap, i) => {
    if (isStall(gap / 10, usual)) stalls.push([ticks[3 * i + 3] / 10, gap / 10]);
  });
  return { ticks, usual, stalls };
}

const isStall = (gap, usual) => gap >= LEAST_MS && gap >= TIMES * usual;

/** Age and silence of an open request at a moment of this page's clock, ms. */
export function since(one, now) {
  const passed = Math.min(KNOWN_MS, Math.max(0, now - one.came));
  const { age_ms: age, silence_ms: silence } = one.row;
  return { age: age + passed, silence: silence === null ? null : silence + passed };
}

/** Whether its silence would be a stall if it ended now. The server says how long that is: a page that hears nothing proves nothing. */
export const hangs = ({ row, usual }) => row.waits_for === 'stream' && isStall(row.silence_ms, usual);
