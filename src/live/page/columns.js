// The columns of the table: words, place in the store to sort by, what stands in a cell, and what kind of cell it is.

import { count, duration, micros } from './format.js';
import { timeOfDay } from './steps.js';
import { VERDICTS, endWord } from './words.js';

const time = (column) => (store, at) => duration(store[column][at]);

/** `class`: `figure` stands right; `wide` and `wider` are left out where there is no room. */
export const COLUMNS = [
  { name: 'start', words: 'time', class: 'time', text: (store, at) => timeOfDay(store.start[at]) },
  { name: 'verdict', words: 'verdict', class: 'verdict', text: (store, at) => VERDICTS[store.verdict[at]][0] },
  { name: 'model', words: 'model', class: 'name', text: (store, at) => store.model[at] },
  { name: 'ttft', words: 'TTFT', class: 'figure', text: time('ttft') },
  { name: 'gapP50', words: 'gap p50', class: 'figure wide', text: time('gapP50') },
  { name: 'gapP99', words: 'gap p99', class: 'figure', text: time('gapP99') },
  { name: 'gapMax', words: 'gap max', class: 'figure wide', text: time('gapMax') },
  { name: 'end', words: 'total', class: 'figure wide', text: time('end') },
  { name: 'tokens', words: 'events', class: 'figure wider', text: (store, at) => count(store.tokens[at]) },
  { name: 'hold', words: 'hold', class: 'figure wider', text: (store, at) => micros(store.hold[at]) },
  { name: 'ending', words: 'end', class: 'ending', text: (store, at) => endWord(store.ending[at]) },
  { name: 'status', words: 'status', class: 'figure wide', text: (store, at) => (store.status[at] ? String(store.status[at]) : '–') },
  { name: 'path', words: 'path', class: 'path wider', text: (store, at) => store.path[at] },
];

/** Places in the order of a column; what was not measured stands last, equals as they came. */
export function sorted(store, places, { name, isDown }) {
  const column = store[name];
  const direction = isDown ? -1 : 1;
  return places.toSorted((a, b) => {
    const [x, y] = [column[a], column[b]];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return direction * ((x > y) - (x < y));
  });
}
