// What is shown, in numbers. Latency is of warm streams that came whole, as in `dripline report`.

import { attr, el, setText } from './dom.js';
import { count, duration, micros, percentile } from './format.js';
import { endOf, isFailure } from './words.js';

const COMPLETE = endOf('complete');
const TILES = [
  ['requests', 'requests', 'Requests that are shown, of those that are kept'],
  ['open', 'in flight', 'Requests that are open now'],
  ['ttft50', 'TTFT p50', 'Time to first token: warm streams that came whole'],
  ['ttft95', 'TTFT p95', 'Time to first token: warm streams that came whole'],
  ['gap99', 'gap p99', 'The median stream’s 99th percentile of gaps between token events: warm streams that came whole'],
  ['stalled', 'stalled', 'Streams with at least one stall'],
  ['failed', 'failed', 'Requests that ended badly'],
  ['hold', 'own hold', 'dripline’s own delay: the median of each request’s p99'],
];

/** The figures of those places of the store. */
export function figuresOf(store, places) {
  const sorted = (column, isOf) => {
    const values = new Float64Array(places.length);
    let n = 0;
    for (const at of places) if (isOf(at) && !Number.isNaN(column[at])) values[n++] = column[at];
    return values.subarray(0, n).sort();
  };
  const isMeasured = (at) => store.ending[at] === COMPLETE && !store.cold[at];
  const ttft = sorted(store.ttft, isMeasured);
  let [stalled, failed] = [0, 0];
  for (const at of places) {
    if (store.stalls[at].length) stalled += 1;
    if (isFailure(store.ending[at])) failed += 1;
  }
  return {
    ttft50: percentile(ttft, 50),
    ttft95: percentile(ttft, 95),
    gap99: percentile(sorted(store.gapP99, isMeasured), 50),
    hold: percentile(sorted(store.hold, () => true), 50),
    stalled,
    failed,
  };
}

export class Tiles {
  #values = new Map();
  #requests;

  constructor(host) {
    for (const [name, words, title] of TILES) {
      const value = el('dd', '');
      this.#values.set(name, value);
      const label = el('dt', '', words);
      if (name === 'requests') this.#requests = label;
      host.append(attr(el('div', name, value, label), { title }));
    }
  }

  show({ store, places, inFlight, isFiltered }) {
    const set = (name, text) => setText(this.#values.get(name), text);
    const figures = figuresOf(store, places);
    // without a connection nothing has come, which says nothing
    set('requests', count(store.n || inFlight !== null ? places.length : null));
    setText(this.#requests, isFiltered ? `of ${count(store.n)} requests` : 'requests');
    set('open', count(inFlight));
    set('ttft50', duration(figures.ttft50));
    set('ttft95', duration(figures.ttft95));
    set('gap99', duration(figures.gap99));
    set('stalled', count(figures.stalled));
    set('failed', count(figures.failed));
    set('hold', micros(figures.hold));
  }
}
