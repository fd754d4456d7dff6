// The requests that ended last, as typed columns: a ring of as many as the server keeps.

import { shown } from './format.js';
import { endOf, verdictOf } from './words.js';

// Names longer than this are cut: they are for looking at.
const NAME = 160;
const PATH = 200;

const NUMBERS = ['start', 'ttft', 'gapP50', 'gapP99', 'gapMax', 'end', 'hold', 'tokens'];
const WORDS = ['verdict', 'ending', 'cold'];
const OTHERS = ['id', 'model', 'path', 'upstream', 'ticks', 'stalls'];

const number = (value) => value ?? NaN;

/** Ticks as triples: when the first chunk came and when the last (in 0.1 ms from the start), events. */
export function packTicks(ticks) {
  const packed = new Uint32Array(ticks.length * 3);
  ticks.forEach(([at, events, last], i) => {
    packed[i * 3] = Math.round(at * 10);
    packed[i * 3 + 1] = Math.round((last ?? at) * 10);
    packed[i * 3 + 2] = events;
  });
  return packed;
}

export class Store {
  constructor(keeps) {
    this.keeps = keeps;
    /** Requests that came so far; the last `n` are here. */
    this.total = 0;
    this.n = 0;
    /** Those that had to go. */
    this.gone = 0;
    /** The latest end, ms of the epoch. */
    this.lastEnd = 0;
    for (const name of NUMBERS) this[name] = new Float64Array(keeps);
    for (const name of WORDS) this[name] = new Uint8Array(keeps);
    this.status = new Uint16Array(keeps);
    for (const name of OTHERS) this[name] = new Array(keeps).fill(null);
    this.places = new Map();
  }

  /** The same with more room. */
  grown(keeps) {
    const next = new Store(keeps);
    for (let i = this.total - this.n; i < this.total; i += 1, next.n += 1) {
      for (const name of [...NUMBERS, ...WORDS, 'status', ...OTHERS]) next[name][next.n] = this[name][i % this.keeps];
      next.places.set(next.id[next.n], next.n);
    }
    [next.total, next.gone, next.lastEnd] = [next.n, this.gone, this.lastEnd];
    return next;
  }

  /** Takes a row of the API. Whether it is new: after a lost connection some may come twice. */
  add(row) {
    if (this.places.has(row.id)) return false;
    const at = this.total % this.keeps;
    if (this.n === this.keeps) {
      this.places.delete(this.id[at]);
      this.gone += 1;
    } else this.n += 1;
    this.total += 1;
    this.places.set(row.id, at);
    this.id[at] = row.id;
    this.model[at] = shown(row.model, NAME);
    this.path[at] = shown(row.path, PATH);
    this.upstream[at] = shown(row.upstream, NAME);
    this.start[at] = Date.parse(row.started_at);
    this.ttft[at] = number(row.ttft_ms);
    this.gapP50[at] = number(row.gap_p50_ms);
    this.gapP99[at] = number(row.gap_p99_ms);
    this.gapMax[at] = number(row.gap_max_ms);
    this.end[at] = number(row.end_ms);
    this.hold[at] = number(row.hold_p99_us);
    this.tokens[at] = number(row.token_events);
    this.verdict[at] = verdictOf(row.timing);
    this.ending[at] = endOf(row.end);
    this.cold[at] = row.cold ? 1 : 0;
    this.status[at] = row.status ?? 0;
    this.stalls[at] = row.stalls;
    this.ticks[at] = row.ticks && packTicks(row.ticks);
    this.lastEnd = Math.max(this.lastEnd, this.endedAt(at));
    return true;
  }

  /** Place of the request with that id, or -1. */
  find(id) {
    return this.places.get(id) ?? -1;
  }

  /** When it ended, ms of the epoch. */
  endedAt(at) {
    const length = this.end[at];
    return this.start[at] + (Number.isNaN(length) ? 0 : length);
  }

  /** Places of those that are wanted, in the order in which they ended. */
  chosen(isWanted) {
    const places = new Uint32Array(this.n);
    let n = 0;
    for (let i = this.total - this.n; i < this.total; i += 1) {
      const at = i % this.keeps;
      if (isWanted(at)) places[n++] = at;
    }
    return places.subarray(0, n);
  }
}
