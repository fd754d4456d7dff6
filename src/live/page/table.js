// The requests, a row for each: only the rows that are seen exist.

import { $, attr, el, setText } from './dom.js';
import { COLUMNS, sorted } from './columns.js';
import { count } from './format.js';
import { icon } from './marks.js';
import { isFailure } from './words.js';

const HEIGHT = 30;
const SPARE = 4;

export class Table {
  #panel;
  #host;
  #space;
  #rows = [];
  #heads = new Map();
  #sort = { name: 'start', isDown: true };
  #view = null;
  #order = new Uint32Array(0);
  #chosen = null;
  #open;

  constructor(panel, open) {
    this.#panel = panel;
    this.#open = open;
    this.#host = $('.rows', panel);
    this.#host.tabIndex = 0;
    const head = attr(el('div', 'row head'), { role: 'row' });
    for (const { name, words, class: kind } of COLUMNS) {
      const button = attr(el('button', '', words), { type: 'button' });
      button.addEventListener('click', () => this.#sortBy(name));
      const cell = attr(el('div', kind, button), { role: 'columnheader' });
      this.#heads.set(name, cell);
      head.append(cell);
    }
    this.#space = el('div', 'space');
    this.#host.append(head, this.#space);
    this.#host.addEventListener('scroll', () => requestAnimationFrame(() => this.#paint()));
    this.#host.addEventListener('click', (event) => {
      const row = event.target.closest('.row:not(.head)');
      if (row) this.#enter(Number(row.dataset.index));
    });
    this.#host.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.#paint()).observe(this.#host);
    this.#tellSort();
  }

  show(view) {
    // who reads further down goes on reading the same rows, whatever comes above
    const top = Math.floor(this.#host.scrollTop / HEIGHT);
    const read = top > 0 ? this.#rows.find((row) => row.index === top)?.id : null;
    this.#view = view;
    this.#order = sorted(view.store, view.places, this.#sort);
    this.#space.style.height = `${this.#order.length * HEIGHT}px`;
    const place = this.#placeOf(read);
    if (place >= 0) this.#host.scrollTop += (place - top) * HEIGHT;
    const gone = view.missed ? `; ${count(view.missed)} before are no longer kept` : '';
    setText($('#row-count'), (this.#order.length ? count(this.#order.length) : 'none') + gone);
    this.#paint();
  }

  /** The request before or after one, in the order of the rows. */
  beside(id, step) {
    const place = this.#placeOf(id);
    const at = place < 0 ? undefined : this.#order[place + step];
    return at === undefined ? null : this.#view.store.id[at];
  }

  focus() {
    this.#host.focus();
  }

  #placeOf(id) {
    const at = this.#view && id ? this.#view.store.find(id) : -1;
    return at < 0 ? -1 : this.#order.indexOf(at);
  }

  #sortBy(name) {
    // the largest first, but names from their beginning
    const isDown = this.#sort.name === name ? !this.#sort.isDown : !['model', 'path', 'verdict', 'ending'].includes(name);
    this.#sort = { name, isDown };
    this.#tellSort();
    this.#host.scrollTop = 0;
    if (this.#view) this.show(this.#view);
  }

  #tellSort() {
    for (const [name, cell] of this.#heads)
      cell.setAttribute('aria-sort', name !== this.#sort.name ? 'none' : this.#sort.isDown ? 'descending' : 'ascending');
  }

  #paint() {
    if (!this.#view) return;
    const first = Math.max(0, Math.floor(this.#host.scrollTop / HEIGHT) - SPARE);
    const n = Math.min(this.#order.length - first, Math.ceil(this.#host.clientHeight / HEIGHT) + 2 * SPARE);
    while (this.#rows.length < n) this.#rows.push(this.#add());
    this.#rows.forEach((row, i) => {
      row.element.hidden = i >= n;
      if (i < n) this.#fill(row, first + i);
      else row.element.removeAttribute('id');
    });
    attr(this.#host, { 'aria-rowcount': this.#order.length + 1 });
    // what is above it moves it to other rows
    const chosen = this.#rows.find(({ element, id }) => !element.hidden && id === this.#chosen);
    if (chosen) attr(this.#host, { 'aria-activedescendant': chosen.element.id });
    else this.#host.removeAttribute('aria-activedescendant');
  }

  #add() {
    const element = attr(el('div', 'row'), { role: 'row' });
    const cells = COLUMNS.map(({ class: kind }) => attr(el('div', kind), { role: 'gridcell' }));
    element.append(...cells);
    this.#space.append(element);
    return { element, cells, mark: null, index: -1, id: null };
  }

  #fill(row, index) {
    const { store } = this.#view;
    const at = this.#order[index];
    const { element, cells } = row;
    [row.index, row.id] = [index, store.id[at]];
    element.style.transform = `translateY(${index * HEIGHT}px)`;
    element.dataset.index = index;
    element.id = `row-${index}`;
    element.setAttribute('aria-rowindex', index + 2);
    element.classList.toggle('chosen', row.id === this.#chosen);
    element.classList.toggle('failed', isFailure(store.ending[at]));
    COLUMNS.forEach(({ name, text, class: kind }, i) => {
      const words = text(store, at);
      if (name === 'verdict') {
        const mark = store.verdict[at] * 2 + store.cold[at];
        if (row.mark !== mark) {
          row.mark = mark;
          cells[i].replaceChildren(icon(store.verdict[at], Boolean(store.cold[at])), el('span', '', words));
        }
        return;
      }
      setText(cells[i], words);
      if (/name|path/.test(kind)) cells[i].title = words;
    });
  }

  #key(event) {
    const page = Math.floor(this.#host.clientHeight / HEIGHT) - 2;
    const last = this.#order.length - 1;
    const place = this.#placeOf(this.#chosen);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last - 1, End: last + 1 }[event.key];
    if (event.key === 'Enter' && place >= 0 && event.target === this.#host) this.#enter(place);
    if (step === undefined || last < 0) return;
    event.preventDefault();
    const next = Math.min(last, Math.max(0, place < 0 ? 0 : place + step));
    this.#chosen = this.#view.store.id[this.#order[next]];
    const room = this.#host.clientHeight - 2 * HEIGHT;
    this.#host.scrollTop = Math.min(next * HEIGHT, Math.max(this.#host.scrollTop, next * HEIGHT - room));
    this.#paint();
  }

  #enter(index) {
    this.#chosen = this.#view.store.id[this.#order[index]];
    this.#open(this.#chosen);
  }
}
