// How many requests have each verdict and each end. A click shows only these.

import { $, attr, el, setText } from './dom.js';
import { count } from './format.js';
import { icon } from './marks.js';
import { ENDS, VERDICTS, isFailure } from './words.js';

class List {
  #host;
  #rows = new Map();

  constructor(host, words, dress, choose) {
    this.#host = host;
    words.forEach(([word, ...rest], place) => {
      const [n, bar] = [el('span', 'figure'), el('span', 'level')];
      const button = attr(el('button', '', ...dress(place), el('span', 'word', word), n, bar), { type: 'button', title: rest.at(-1), 'aria-pressed': 'false' });
      const item = el('li', '', button);
      button.addEventListener('click', () => choose(word));
      this.#rows.set(place, { item, button, n, bar, word });
    });
  }

  show(column, places, chosen) {
    const counts = new Uint32Array(256);
    for (const at of places) counts[column[at]] += 1;
    const most = Math.max(1, ...counts);
    for (const [place, { item, button, n, bar, word }] of this.#rows) {
      const found = counts[place];
      const isChosen = word === chosen;
      if (!found && !isChosen) {
        item.remove();
        continue;
      }
      setText(n, count(found));
      bar.style.width = `${(100 * found) / most}%`;
      button.setAttribute('aria-pressed', String(isChosen));
      if (!item.isConnected) this.#insert(place, item);
    }
  }

  #insert(place, item) {
    const after = [...this.#rows].find(([other, row]) => other > place && row.item.isConnected);
    this.#host.insertBefore(item, after?.[1].item ?? null);
  }
}

export class Counts {
  #verdicts;
  #ends;

  constructor(panel, choose) {
    this.#verdicts = new List($('#verdicts', panel), VERDICTS, (place) => [icon(place)], (word) => choose('verdict', word));
    this.#ends = new List($('#ends', panel), ENDS, (place) => [el('span', isFailure(place) ? 'dot bad' : 'dot')], (word) => choose('end', word));
  }

  show({ store, places, filter }) {
    this.#verdicts.show(store.verdict, places, filter.verdict);
    this.#ends.show(store.ending, places, filter.end);
  }
}
