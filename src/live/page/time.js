// The axis of time that all pictures over time share.

import { stepFor } from './steps.js';

const SHORTEST_MS = 10_000;
const MOST_COLUMNS = 120;
// Time goes on in the pictures while something happens, and for so long afterwards.
const LINGER_MS = 10_000;

/** Before there is anything to show. */
export const NO_TIME = { from: 0, step: 1000, columns: 10 };

/** Where time ends in the pictures: now, or a little after the last that happened. */
export const edge = (now, last, isBusy) => (isBusy || !last ? now : Math.min(now, last + LINGER_MS));

/** From when to when, and how long a column is: a round time, and at most so many of them. */
export function axis(from, to) {
  const length = Math.max(SHORTEST_MS, to - from);
  const step = stepFor(length, MOST_COLUMNS - 2);
  // one column more, so that marks at the beginning are whole
  const start = (Math.floor((to - length) / step) - 1) * step;
  return { from: start, step, columns: Math.max(1, Math.ceil((to - start) / step)) };
}

export const rangeOf = (time) => [time.from, time.from + time.step * time.columns];

/** The column of a moment, which may be none of them; and when one begins. */
export const columnOf = (time, at) => Math.floor((at - time.from) / time.step);
export const beginOf = (time, column) => time.from + column * time.step;
