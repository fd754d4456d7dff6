// The pictures with a mark for each request: TTFT against gap p99, and TTFT and dripline's own hold over time.

import { duration, micros, short } from './format.js';
import { Scatter } from './scatter.js';
import { timeOfDay } from './steps.js';
import { VERDICTS } from './words.js';

// The least that an axis tells apart, ms: what is below stands at its edge.
const LEAST = 0.1;
const TIME = { kind: 'time' };

const atLeast = (value) => (value <= LEAST ? `≤ ${short(LEAST)}` : short(value));

const words = (store, at) => [
  store.model[at],
  `TTFT ${duration(store.ttft[at])}`,
  `gap p99 ${duration(store.gapP99[at])}`,
  VERDICTS[store.verdict[at]][0],
  ...(store.cold[at] ? ['cold'] : []),
  timeOfDay(store.start[at]),
].join(' · ');

export const graph = (panel, open) => new Scatter(panel, {
  x: { column: 'ttft', least: LEAST, nothing: [50, 5000], words: atLeast, label: 'time to first token (TTFT)' },
  y: { column: 'gapP99', least: LEAST, nothing: [1, 1000], words: atLeast, label: 'p99 of the gaps between token events' },
  words,
  zooms: true,
}, open);

export const waits = (panel, open) => new Scatter(panel, {
  x: TIME,
  y: { column: 'ttft', least: LEAST, nothing: [50, 5000], words: atLeast },
  words,
}, open);

export const holds = (panel, open) => new Scatter(panel, {
  x: TIME,
  y: { column: 'hold', least: 1, nothing: [10, 1000], words: (us) => (us < 1000 ? `${us} µs` : short(us / 1000)) },
  words: (store, at) => `${timeOfDay(store.start[at])} · ${store.model[at]} · hold p99 ${micros(store.hold[at])}`,
  isPlain: true,
}, open);
