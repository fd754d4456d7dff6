// A mark for each request between two axes: shown, pointed at, gone through by keys, opened.

import { $, el, setText } from './dom.js';
import { Cloud } from './marks.js';
import { logRange, mapper, plot } from './plot.js';
import { colors, faded } from './theme.js';
import { NO_TIME, rangeOf } from './time.js';

// How near the pointer must be, in CSS pixels.
const NEAR = 14;
// A request that has just ended is shown to have, for so long.
const FRESH_MS = 2500;
const MOST_FRESH = 200;
// Past so many, dots are small.
const MANY = 500;

export class Scatter {
  #panel;
  #axes;
  #isPlain;
  #words;
  #open;
  #plot;
  #cloud = new Cloud();
  #store = null;
  #places = new Uint32Array(0);
  #time = NO_TIME;
  #now = 0;
  #zoom = null;
  #at = -1;
  #ring = el('span', 'ring');
  // where each is on the canvas; NaN outside
  #x = new Float64Array(0);
  #y = new Float64Array(0);

  /**
   * An axis is of time, or has the `column` of the store, the `least` value that it tells apart, and the range that it has
   * when there is `nothing`. `words(store, at)` are told of the request that is pointed at; plain ones are dots.
   */
  constructor(panel, { x, y, words, zooms = false, isPlain = false }, open) {
    this.#panel = panel;
    this.#axes = { x, y };
    this.#isPlain = isPlain;
    this.#words = words;
    this.#open = open;
    const host = $('.plot', panel);
    const axis = (key) => ({ kind: 'log', ...this.#axes[key], range: () => this.#range(key) });
    this.#plot = plot(host, {
      x: axis('x'),
      y: axis('y'),
      draw: (u, ctx) => this.#draw(u, ctx),
      point: (u, left, top) => this.#select(left === null ? -1 : this.#nearest(left, top)),
      zoomed: zooms ? (across, up) => this.#zoomTo(across && { x: across, y: up }) : undefined,
    });
    this.#ring.hidden = true;
    this.#plot.u.over.append(this.#ring);
    this.#plot.u.over.addEventListener('click', () => this.#enter());
    host.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Shows those of a view that have both values. */
  show({ store, places, inFlight, time, now }) {
    const selected = this.#at >= 0 ? this.#store.id[this.#places[this.#at]] : null;
    const columns = [this.#column('x', store), this.#column('y', store)];
    this.#places = places.filter((at) => columns.every((column) => !Number.isNaN(column[at])));
    [this.#store, this.#time, this.#now] = [store, time, now];
    this.#at = selected === null ? -1 : this.#places.indexOf(store.find(selected));
    this.#panel.classList.toggle('nothing', store.n === 0 && inFlight !== null);
    this.#plot.redraw();
  }

  #column(key, store) {
    return store[this.#axes[key].column ?? 'start'];
  }

  #range(key) {
    if (this.#zoom) return this.#zoom[key];
    const { kind, least, nothing } = this.#axes[key];
    if (kind === 'time') return rangeOf(this.#time);
    if (!this.#places.length) return nothing;
    const column = this.#column(key, this.#store);
    let [low, high] = [Infinity, 0];
    for (const at of this.#places) {
      if (column[at] < low) low = column[at];
      if (column[at] > high) high = column[at];
    }
    return logRange(low, high, least);
  }

  #zoomTo(zoom) {
    this.#zoom = zoom;
    setText($('.readout', this.#panel), zoom ? 'A part: a double click shows all' : '');
    this.#plot.redraw();
  }

  #draw(u, ctx) {
    const n = this.#places.length;
    if (n) this.#lay(u);
    this.#mark();
    if (!n) return;
    const [x, y, ratio] = [this.#x, this.#y, devicePixelRatio];
    if (this.#isPlain) {
      ctx.fillStyle = faded(colors().accent, 0.75);
      const size = (n > MANY ? 2 : 3) * ratio;
      for (let i = 0; i < n; i += 1) ctx.fillRect(x[i] - size / 2, y[i] - size / 2, size, size);
    } else {
      this.#ringFresh(ctx);
      const of = (column) => Uint8Array.from(this.#places, (at) => column[at]);
      this.#cloud.draw(ctx, { n, x, y, verdict: of(this.#store.verdict), cold: of(this.#store.cold), ratio, box: u.bbox });
    }
  }

  /** The ring around the one that is pointed at: an element, so that nothing else is drawn anew. */
  #mark() {
    const [x, y] = [this.#x[this.#at], this.#y[this.#at]];
    this.#ring.hidden = !(x >= 0);
    if (this.#ring.hidden) return;
    const { left, top } = this.#plot.u.bbox;
    this.#ring.style.left = `${(x - left) / devicePixelRatio}px`;
    this.#ring.style.top = `${(y - top) / devicePixelRatio}px`;
  }

  #lay(u) {
    const n = this.#places.length;
    if (this.#x.length < n) [this.#x, this.#y] = [new Float64Array(n * 2), new Float64Array(n * 2)];
    const { left, top, width, height } = u.bbox;
    const along = (key) => {
      const [of, column, least = -Infinity] = [mapper(u, key), this.#column(key, this.#store), this.#axes[key].least];
      return (at) => of(Math.max(least, column[at]));
    };
    const [xOf, yOf] = [along('x'), along('y')];
    for (let i = 0; i < n; i += 1) {
      const [x, y] = [xOf(this.#places[i]), yOf(this.#places[i])];
      const isSeen = x >= left && x <= left + width && y >= top && y <= top + height;
      this.#x[i] = isSeen ? x : NaN;
      this.#y[i] = y;
    }
  }

  /** Rings that grow and fade. */
  #ringFresh(ctx) {
    const n = this.#places.length;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (let i = n - 1; i >= Math.max(0, n - MOST_FRESH); i -= 1) {
      const part = (this.#now - this.#store.endedAt(this.#places[i])) / FRESH_MS;
      if (!(part >= 0 && part < 1)) continue;
      ctx.strokeStyle = faded(colors().accent, 0.5 * (1 - part));
      ctx.beginPath();
      ctx.arc(this.#x[i], this.#y[i], (7 + 5 * part) * devicePixelRatio, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }

  #nearest(x, y) {
    let [found, least] = [-1, (NEAR * devicePixelRatio) ** 2];
    for (let i = 0; i < this.#places.length; i += 1) {
      const distance = (this.#x[i] - x) ** 2 + (this.#y[i] - y) ** 2;
      if (distance <= least) [found, least] = [i, distance];
    }
    return found;
  }

  #select(i) {
    if (i === this.#at) return;
    this.#at = i;
    this.#plot.u.over.style.cursor = i >= 0 ? 'pointer' : '';
    setText($('.readout', this.#panel), i < 0 ? '' : this.#words(this.#store, this.#places[i]));
    this.#mark();
  }

  #key(event) {
    if (event.key === 'Enter') this.#enter();
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !this.#places.length) return;
    event.preventDefault();
    const order = [...this.#places.keys()].filter((i) => !Number.isNaN(this.#x[i])).sort((a, b) => this.#x[a] - this.#x[b]);
    const next = this.#at < 0 ? (step > 0 ? 0 : order.length - 1) : order.indexOf(this.#at) + step;
    this.#select(order[Math.min(order.length - 1, Math.max(0, next))] ?? -1);
  }

  #enter() {
    if (this.#at >= 0) this.#open(this.#store.id[this.#places[this.#at]]);
  }
}
