// Gaps between chunks over time: how many of each length, in each stretch of time.

import { $, setText } from './dom.js';
import { count, short } from './format.js';
import { mapper, plot, valueAt } from './plot.js';
import { timeOfDay } from './steps.js';
import { colors, faded } from './theme.js';
import { NO_TIME, beginOf, columnOf, rangeOf } from './time.js';

// From 0.1 ms to 100 s, so many rows a decade. Shorter gaps are in the lowest row, longer ones in the highest.
const LEAST = 0.1;
const PER_DECADE = 6;
const ROWS = 6 * PER_DECADE;
const FEWEST_ROWS = 2 * PER_DECADE;
const SHADES = 8;

const lower = (row) => LEAST * 10 ** (row / PER_DECADE);
const rowOf = (ms) => Math.min(ROWS - 1, Math.max(0, Math.floor(Math.log10(Math.max(LEAST, ms) / LEAST) * PER_DECADE + 1e-9)));
// Rows of gaps in the ticks' units of 0.1 ms: there may be millions of them to look up.
const KNOWN = Uint8Array.from({ length: 1 << 16 }, (_, gap) => rowOf(gap / 10));

/** Counts of all gaps, by column and row. Ticks that stand for several chunks have lost the gaps within. */
export function gapCounts({ store, places, open, time }) {
  const counts = new Uint32Array(time.columns * ROWS);
  const add = (began, ticks) => {
    // in units of ticks
    const [start, step] = [(began - time.from) * 10, time.step * 10];
    for (let i = 3; i < ticks.length; i += 3) {
      const column = Math.floor((start + ticks[i]) / step);
      if (column < 0 || column >= time.columns) continue;
      const gap = ticks[i] - ticks[i - 2];
      counts[column * ROWS + (KNOWN[gap] ?? rowOf(gap / 10))] += 1;
    }
  };
  for (const at of places) if (store.ticks[at]) add(store.start[at], store.ticks[at]);
  for (const one of open) add(one.start, one.ticks);
  return counts;
}

/** The rows to show: those with gaps, and never fewer than so many. */
function rowsOf(counts) {
  const used = new Set();
  counts.forEach((n, i) => n && used.add(i % ROWS));
  if (!used.size) return [FEWEST_ROWS, 2 * FEWEST_ROWS];
  const [low, high] = [Math.min(...used), Math.max(...used) + 1];
  const from = Math.max(0, low - Math.ceil(Math.max(0, FEWEST_ROWS - (high - low)) / 2));
  return [from, Math.max(high, from + FEWEST_ROWS)];
}

export class Heatmap {
  #panel;
  #plot;
  #time = NO_TIME;
  #counts = new Uint32Array(0);
  #rows = rowsOf([]);

  constructor(panel) {
    this.#panel = panel;
    this.#plot = plot($('.plot', panel), {
      x: { kind: 'time', range: () => rangeOf(this.#time) },
      y: { kind: 'log', range: () => this.#rows.map(lower) },
      draw: (u, ctx) => this.#draw(u, ctx),
      point: (u, x, y) => this.#point(u, x, y),
    });
  }

  show(view) {
    this.#time = view.time;
    this.#counts = gapCounts(view);
    this.#rows = rowsOf(this.#counts);
    this.#plot.redraw();
  }

  #draw(u, ctx) {
    const [xOf, yOf] = [mapper(u, 'x'), mapper(u, 'y')];
    let most = 2;
    for (const n of this.#counts) if (n > most) most = n;
    // a lonely gap is seen beside many: by the logarithm, and never too faint
    const shades = Array.from({ length: SHADES }, (_, i) => faded(colors().accent, 0.22 + (0.78 * i) / (SHADES - 1)));
    // cells stand apart where there is room for it
    const between = (from, to) => Math.max(1, to - from - (to - from > 4 ? 1 : 0));
    this.#counts.forEach((n, i) => {
      if (!n) return;
      const [column, row] = [Math.floor(i / ROWS), i % ROWS];
      const [left, right] = [column, column + 1].map((one) => Math.round(xOf(beginOf(this.#time, one))));
      const [top, bottom] = [row + 1, row].map((one) => Math.round(yOf(lower(one))));
      ctx.fillStyle = shades[Math.round(((SHADES - 1) * Math.log(n)) / Math.log(most))];
      ctx.fillRect(left, top, between(left, right), between(top, bottom));
    });
  }

  #point(u, x, y) {
    const column = x === null ? -1 : columnOf(this.#time, valueAt(u, 'x', x));
    const row = x === null ? 0 : rowOf(valueAt(u, 'y', y));
    const n = this.#counts[column * ROWS + row];
    setText($('.readout', this.#panel), n === undefined ? ''
      : `${timeOfDay(beginOf(this.#time, column), this.#time.step)} · ${short(lower(row))} to ${short(lower(row + 1))} · ${count(n)} ${n === 1 ? 'gap' : 'gaps'}`);
  }
}
