// The requests that are open, with all of their ticks: each event brings only new ones.

import { percentile, shown } from './format.js';
import { packTicks } from './store.js';

// A silence is one when it would be a stall in the record: so long, and so many times what is usual.
const LEAST_MS = 250;
const TIMES = 5;

export class Open {
  /** By id, the oldest first. */
  all = new Map();

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
  }
}

/** Ticks as the store has them, the 90th percentile of their gaps, and those that were stalls: when each ended and how long it was, ms. */
function seenIn(raw) {
  const ticks = packTicks(raw);
  const gaps = [];
  for (let i = 3; i < ticks.length; i += 3) gaps.push([ticks[i] / 10, (ticks[i] - ticks[i - 2]) / 10]);
  const usual = percentile(gaps.map(([, gap]) => gap).sort((a, b) => a - b), 90) || 0;
  return { ticks, usual, stalls: gaps.filter(([, gap]) => isStall(gap, usual)) };
}

const isStall = (gap, usual) => gap >= LEAST_MS && gap >= TIMES * usual;

/** Age and silence of an open request at a moment of this page's clock, ms. */
export function since(one, now) {
  const passed = Math.max(0, now - one.came);
  const { age_ms: age, silence_ms: silence } = one.row;
  return { age: age + passed, silence: silence === null ? null : silence + passed };
}

/** Whether its silence would be a stall if it ended now. */
export const hangs = (one, silence) => one.row.waits_for === 'stream' && isStall(silence, one.usual);
