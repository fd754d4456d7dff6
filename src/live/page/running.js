// The requests that are open: how old, and silent for how long.

import { $, el, setText } from './dom.js';
import { count, duration } from './format.js';
import { hangs, since } from './open.js';

const MOST = 50;
const WAITS = { sending: 'to be sent', header: 'the header', first_token: 'the first token', stream: 'the next chunk' };

export class RunningList {
  #panel;
  #body;
  #rows = new Map();

  constructor(panel, open) {
    this.#panel = panel;
    this.#body = $('tbody', panel);
    this.#body.addEventListener('click', (event) => {
      const row = event.target.closest('tr');
      if (row) open(row.dataset.id);
    });
    this.#body.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') open(event.target.closest('tr').dataset.id);
    });
  }

  show(running, clock) {
    const all = [...running.all.values()].slice(0, MOST);
    const gone = new Set(this.#rows.keys());
    for (const one of all) {
      gone.delete(one.id);
      const cells = this.#rows.get(one.id) ?? this.#add(one);
      const { age, silence } = since(one, clock);
      const { row } = one;
      setText(cells.waits, WAITS[row.waits_for] ?? row.waits_for);
      setText(cells.age, duration(age));
      setText(cells.silence, duration(silence));
      setText(cells.ttft, duration(row.ttft_ms));
      setText(cells.events, count(row.events));
      cells.tr.classList.toggle('hangs', hangs(one));
    }
    for (const id of gone) {
      this.#rows.get(id).tr.remove();
      this.#rows.delete(id);
    }
    const n = running.all.size;
    setText($('.empty', this.#panel), running.isKnown ? 'Nothing is running.' : 'Without a connection it is not known what runs.');
    setText($('#open-count'), n > all.length ? `${count(n)}, the oldest ${all.length} shown` : n ? count(n) : '');
    this.#panel.classList.toggle('nothing', n === 0);
  }

  #add(one) {
    const cell = (className) => el('td', className);
    const cells = { waits: cell('waits'), age: cell('figure'), silence: cell('figure silence'), ttft: cell('figure'), events: cell('figure') };
    const name = el('td', 'name', one.model);
    name.title = one.model;
    cells.tr = el('tr', '', name, el('td', 'path', one.path), cells.waits, cells.age, cells.silence, cells.ttft, cells.events);
    cells.tr.dataset.id = one.id;
    cells.tr.tabIndex = 0;
    this.#body.append(cells.tr);
    this.#rows.set(one.id, cells);
    return cells;
  }
}
