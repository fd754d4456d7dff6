// The drip: requests on lines of time, a tick for each chunk. What hangs now is seen to hang.

import { $, attr, options, setText } from './dom.js';
import { count, duration } from './format.js';
import { Lanes } from './lanes.js';
import { hangs, since } from './open.js';
import { timeOfDay } from './steps.js';
import { AXIS, LINE, paintAxis, paintSpan } from './strokes.js';
import { font, onTheme } from './theme.js';
import { edge } from './time.js';
import { VERDICTS } from './words.js';

const WINDOWS = [['10', '10 s'], ['30', '30 s'], ['120', '2 min'], ['600', '10 min']];
const MOST = 18;
const MOST_ON_PHONES = 10;
const FEWEST = 4;
const NEAR = 8;
const BENT_MS = 5000;

export class Drip {
  #panel;
  #canvas;
  #ctx;
  #lanes = new Lanes();
  #shown = [];
  #at = null;
  #lines = FEWEST;
  #open;
  #length = 30_000;

  constructor(panel, open) {
    this.#panel = panel;
    this.#open = open;
    this.#canvas = $('canvas', panel);
    this.#ctx = this.#canvas.getContext('2d');
    const choice = $('select', panel);
    options(choice, WINDOWS);
    choice.value = '30';
    choice.addEventListener('change', () => {
      this.#length = Number(choice.value) * 1000;
      this.#lines = FEWEST;
      this.isDirty = true;
    });
    const host = $('.plot', panel);
    host.addEventListener('pointermove', (event) => this.#select(this.#under(event)));
    host.addEventListener('pointerleave', () => this.#select(null));
    host.addEventListener('click', (event) => this.#enter(this.#under(event) ?? this.#at));
    host.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => { this.isDirty = true; }).observe(host);
    onTheme(() => { this.isDirty = true; });
  }

  /** Whether it must be drawn although nothing moves. */
  isDirty = true;

  /** Draws what is wanted of the store, and what is open; `now` is the server's, `clock` this page's. Whether time goes on in it. */
  draw({ store, isWanted, open, now, clock }) {
    this.isDirty = false;
    const isBusy = open.length > 0;
    const to = edge(now, store.lastEnd, isBusy);
    const from = to - this.#length;
    const spans = spansOf({ store, isWanted, open, now, clock }, from);
    const most = innerWidth < 600 ? MOST_ON_PHONES : MOST;
    const lanes = this.#lanes.place(spans, most);
    // it never gets lower while it is looked at: what is below would jump
    this.#lines = Math.min(most, Math.max(this.#lines, this.#lanes.used));
    const height = this.#lines * LINE;
    const width = this.#fit(height + AXIS);
    const xOf = (at) => ((at - from) / this.#length) * width;
    paintAxis(this.#ctx, { from, to, width, height, xOf });
    this.#shown = [];
    // the later first: each leaves room for the words of the one before it
    const until = new Array(most).fill(width);
    for (const span of spans.toReversed()) {
      const lane = lanes.get(span.id);
      if (lane < 0) continue;
      const { left, right, reach } = paintSpan(this.#ctx, span, { xOf, lane, width, until: until[lane], isChosen: span.id === this.#at });
      until[lane] = reach - 6;
      this.#shown.push({ id: span.id, span, left, right, top: lane * LINE, bottom: (lane + 1) * LINE });
    }
    this.#tell();
    const hidden = spans.length - this.#shown.length;
    setText($('.more', this.#panel), hidden ? `and ${count(hidden)} more at the same time` : spans.length ? '' : 'Nothing in this window.');
    return isBusy || to === now;
  }

  /** Clears the canvas, as wide as there is room; how wide that is. */
  #fit(height) {
    const ratio = devicePixelRatio;
    const width = this.#canvas.parentElement.clientWidth;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== w || this.#canvas.height !== h) {
      attr(this.#canvas, { width: w, height: h });
      this.#canvas.style.width = `${width}px`;
      this.#canvas.style.height = `${height}px`;
    }
    this.#ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#ctx.clearRect(0, 0, width, height);
    this.#ctx.font = font(11);
    return width;
  }

  #under({ clientX, clientY }) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const found = this.#shown.find((one) => y >= one.top && y < one.bottom && x >= one.left - NEAR && x <= Math.max(one.right, one.left + 60) + NEAR);
    return found?.id ?? null;
  }

  #select(id) {
    if (id === this.#at) return;
    this.#at = id;
    this.isDirty = true;
    this.#canvas.style.cursor = id ? 'pointer' : '';
    this.#tell();
  }

  #tell() {
    const span = this.#shown.find((one) => one.id === this.#at)?.span;
    setText($('.readout', this.#panel), span ? words(span) : '');
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') this.#enter(this.#at);
    if (!step || !this.#shown.length) return;
    event.preventDefault();
    const order = [...this.#shown].sort((a, b) => a.left - b.left || a.top - b.top);
    const place = order.findIndex((one) => one.id === this.#at);
    const next = place < 0 ? (step > 0 ? 0 : order.length - 1) : place + step;
    this.#select(order[Math.min(order.length - 1, Math.max(0, next))].id);
  }

  #enter(id) {
    if (id) this.#open(id);
  }
}

/** What ended after `from`, and what is open, by their starts. */
function spansOf({ store, isWanted, open, now, clock }, from) {
  const spans = [];
  for (let i = store.total - 1; i >= store.total - store.n; i -= 1) {
    const at = i % store.keeps;
    const to = store.endedAt(at);
    // they are in the order of their ends, which two clocks may bend a little
    if (to < from - BENT_MS) break;
    if (to < from || !isWanted(at)) continue;
    spans.push({
      id: store.id[at], model: store.model[at], from: store.start[at], to, ticks: store.ticks[at], stalls: store.stalls[at],
      firstToken: store.ttft[at], verdict: store.verdict[at], isCold: Boolean(store.cold[at]), hangs: false,
    });
  }
  for (const one of open) {
    if (store.find(one.id) >= 0) continue;
    const { age, silence } = since(one, clock);
    spans.push({
      id: one.id, model: one.model, from: now - age, to: Infinity, now, ticks: one.ticks, stalls: one.stalls,
      firstToken: one.row.ttft_ms ?? NaN, silence, hangs: hangs(one), waitsFor: one.row.waits_for,
    });
  }
  return spans.sort((a, b) => a.from - b.from);
}

function words(span) {
  const start = `${span.model} · ${timeOfDay(span.from)} · TTFT ${duration(span.firstToken)}`;
  if (span.to === Infinity) return `${start} · running, silent for ${duration(span.silence)}`;
  return `${start} · ${duration(span.to - span.from)} · ${VERDICTS[span.verdict][0]}`;
}
