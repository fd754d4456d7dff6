// How many requests were in flight: the most at once, in each column of time.

import { $, setText } from './dom.js';
import { count } from './format.js';
import { mapper, plot, valueAt } from './plot.js';
import { timeOfDay } from './steps.js';
import { colors, faded } from './theme.js';
import { NO_TIME, beginOf, columnOf, rangeOf } from './time.js';

const FEWEST = 4;

/** Most open at once by column, of those that have ended and those that are open still. */
export function flights({ store, places, open, time }) {
  const starts = Float64Array.from([...Array.from(places, (at) => store.start[at]), ...open.map((one) => one.start)]).sort();
  const ends = Float64Array.from(places, (at) => store.endedAt(at)).sort();
  let [s, e] = [0, 0];
  // goes on to `until`, and gives the most that were open on the way
  const advance = (until) => {
    let highest = s - e;
    for (;;) {
      const [start, end] = [starts[s] ?? Infinity, ends[e] ?? Infinity];
      if (Math.min(start, end) >= until) return highest;
      // one that ends as another starts was not open beside it
      if (end <= start) e += 1;
      else s += 1;
      highest = Math.max(highest, s - e);
    }
  };
  advance(time.from);
  return Uint32Array.from({ length: time.columns }, (_, column) => advance(beginOf(time, column + 1)));
}

export class Flight {
  #panel;
  #plot;
  #time = NO_TIME;
  #most = new Uint32Array(0);

  constructor(panel) {
    this.#panel = panel;
    this.#plot = plot($('.plot', panel), {
      x: { kind: 'time', range: () => rangeOf(this.#time) },
      y: { kind: 'linear', range: () => [0, Math.max(FEWEST, ...this.#most) * 1.1], words: (n) => (Number.isInteger(n) ? count(n) : '') },
      draw: (u, ctx) => this.#draw(u, ctx),
      point: (u, x) => this.#point(u, x),
    });
  }

  show(view) {
    this.#time = view.time;
    this.#most = flights(view);
    this.#plot.redraw();
  }

  #draw(u, ctx) {
    const [xOf, yOf] = [mapper(u, 'x'), mapper(u, 'y')];
    ctx.beginPath();
    ctx.moveTo(xOf(this.#time.from), yOf(0));
    this.#most.forEach((n, column) => {
      ctx.lineTo(xOf(beginOf(this.#time, column)), yOf(n));
      ctx.lineTo(xOf(beginOf(this.#time, column + 1)), yOf(n));
    });
    ctx.lineTo(xOf(beginOf(this.#time, this.#most.length)), yOf(0));
    ctx.fillStyle = faded(colors().accent, 0.16);
    ctx.fill();
    ctx.strokeStyle = colors().accent;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.stroke();
  }

  #point(u, x) {
    const column = x === null ? -1 : columnOf(this.#time, valueAt(u, 'x', x));
    const n = this.#most[column];
    setText($('.readout', this.#panel), n === undefined ? '' : `${timeOfDay(beginOf(this.#time, column), this.#time.step)} · at most ${count(n)} at once`);
  }
}
