// Names to choose from in the filter: those that came last.

import { $, options } from './dom.js';

const MOST = 200;
const known = {};

/** Offers what the store has. */
export function suggest(store) {
  for (const name of ['model', 'path', 'upstream']) {
    const found = new Set();
    for (let i = store.total - 1; i >= store.total - store.n && found.size < MOST; i -= 1) found.add(store[name][i % store.keeps]);
    const names = [...found].sort();
    if (names.join() === known[name]) continue;
    known[name] = names.join();
    options($(`#${name}s`), names.map((text) => [text, '']));
  }
}
