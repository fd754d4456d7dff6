// Which requests are shown. It stands in the address behind #, so that a link shows the same.

import { ENDS, VERDICTS } from './words.js';

/** What `over` may be a limit of: column, and words. */
export const BY = [
  ['ttft', 'TTFT'],
  ['gapP99', 'gap p99'],
  ['gapMax', 'gap max'],
  ['end', 'total'],
];
export const SPANS = [['', 'all'], ['60', '1 min'], ['300', '5 min'], ['900', '15 min'], ['3600', '1 h']];
const NAMES = ['model', 'path', 'upstream', 'verdict', 'end', 'over', 'by', 'span'];

/** The filter and the open request that an address names. */
export function fromHash(hash) {
  const named = new URLSearchParams(hash.replace(/^#/, ''));
  const filter = {};
  for (const name of NAMES) if (named.get(name)) filter[name] = named.get(name);
  return { filter, request: named.get('request') };
}

export function toHash(filter, request) {
  const named = new URLSearchParams();
  for (const name of NAMES) if (filter[name] && !(name === 'by' && !filter.over)) named.set(name, filter[name]);
  if (request) named.set('request', request);
  const text = named.toString();
  return text ? `#${text}` : '';
}

/** What `over` asks for; not a number where it asks for nothing. */
function limitOf({ over }) {
  const limit = Number.parseFloat(over);
  return limit >= 0 ? limit : NaN;
}

/** Whether it leaves out more than what is long ago. */
export const isFilter = (filter) => !Number.isNaN(limitOf(filter)) || Object.keys(filter).some((name) => !['by', 'span', 'over'].includes(name));

const contains = (part, text) => text.toLowerCase().includes(part.toLowerCase());

/** Those of the open requests that are wanted: they have names, and nothing else yet that is asked for. */
export function chosenOpen(filter, running) {
  const { model = '', path = '', upstream, verdict, end } = filter;
  if (upstream || verdict || end || !Number.isNaN(limitOf(filter))) return [];
  return [...running.all.values()].filter((one) => contains(model, one.model) && contains(path, one.path));
}

/** The question whether a place of the store is wanted; `now` is the server's, ms of the epoch. */
export function matcher(filter, store, now) {
  const tests = [];
  for (const name of ['model', 'path', 'upstream']) {
    const part = filter[name];
    if (part) tests.push((at) => contains(part, store[name][at]));
  }
  const place = (list, word) => list.findIndex(([known]) => known === word);
  if (filter.verdict) {
    const verdict = place(VERDICTS, filter.verdict);
    tests.push((at) => store.verdict[at] === verdict);
  }
  if (filter.end) {
    const end = place(ENDS, filter.end);
    tests.push((at) => store.ending[at] === end);
  }
  const over = limitOf(filter);
  if (!Number.isNaN(over)) {
    const column = store[BY.find(([name]) => name === filter.by)?.[0] ?? 'ttft'];
    tests.push((at) => column[at] > over);
  }
  const span = Number.parseFloat(filter.span);
  if (span > 0) tests.push((at) => store.endedAt(at) >= now - span * 1000);
  return (at) => tests.every((test) => test(at));
}

/** The form and the filter, kept equal. */
export class FilterForm {
  constructor(form, changed) {
    this.form = form;
    this.changed = changed;
    form.addEventListener('input', () => this.#read());
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('reset', () => setTimeout(() => this.#read()));
  }

  #read() {
    const filter = {};
    for (const name of NAMES) {
      const value = this.form.elements[name].value.trim();
      if (value) filter[name] = value;
    }
    this.changed(filter);
  }

  show(filter) {
    for (const name of NAMES) {
      const field = this.form.elements[name];
      const value = filter[name] ?? (name === 'by' ? 'ttft' : '');
      if (field.value !== value) field.value = value;
    }
    this.form.classList.toggle('active', Object.keys(filter).some((name) => name !== 'by'));
  }
}
