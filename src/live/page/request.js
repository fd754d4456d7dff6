// One request, opened: ended ones with all that is known, running ones as they run.

import * as api from './api.js';
import { attr, el, setText } from './dom.js';
import { figures, sections, title } from './detail.js';
import { duration, shown } from './format.js';
import { hangs, since } from './open.js';
import { onTheme } from './theme.js';
import { paintChunks } from './waterfall.js';

const TOLD_MS = 1600;

async function copy(text) {
  if (!navigator.clipboard) throw new Error('browsers copy only over https, and from this machine');
  await navigator.clipboard.writeText(text);
}

async function download(id) {
  const url = URL.createObjectURL(await api.trace(id));
  attr(el('a', ''), { href: url, download: `dripline-${id}.trace.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A button that tells how it went. */
function button(words, act) {
  const made = attr(el('button', '', words), { type: 'button' });
  made.addEventListener('click', async () => {
    let told = 'Done';
    try {
      await act();
    } catch (error) {
      told = `Failed: ${error.message}`;
    }
    setText(made, told);
    setTimeout(() => setText(made, words), TOLD_MS);
  });
  return made;
}

function sign(words, name, act) {
  const made = attr(el('button', '', words), { type: 'button', 'aria-label': name, title: name });
  made.addEventListener('click', act);
  return made;
}

export class RequestDialog {
  #dialog;
  #beside;
  #changed;
  #id = null;
  #whole = null;
  #canvas = el('canvas', '');
  #state = el('p', 'running-now');
  #asked = null;

  /** `beside(id, step)` names the next request, `changed(id)` is told of the one that is open, or of none. */
  constructor(dialog, beside, changed) {
    this.#dialog = dialog;
    this.#beside = beside;
    this.#changed = changed;
    // it holds the focus when what had it was replaced, so that keys still come here
    dialog.tabIndex = -1;
    dialog.addEventListener('close', () => {
      // it is told in a task of its own (WHATWG HTML, "close the dialog"), and the next may be open by then
      if (dialog.open) return;
      this.#asked?.abort();
      [this.#id, this.#whole] = [null, null];
      changed(null);
    });
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && !event.target.closest('pre')) this.#go(step);
    });
    new ResizeObserver(() => this.#paint()).observe(dialog);
    onTheme(() => this.#paint());
  }

  get id() {
    return this.#id;
  }

  /** Whether it is open, and has no record yet. */
  get isWaiting() {
    return this.#id !== null && this.#whole === null;
  }

  close() {
    this.#dialog.close();
  }

  /** Opens it, or shows another in its place; `running` is what is known of one that is open. */
  async open(id, running = null) {
    this.#asked?.abort();
    this.#asked = new AbortController();
    [this.#id, this.#whole] = [id, null];
    this.#changed(id);
    if (!this.#dialog.open) this.#dialog.showModal();
    if (running) {
      this.#fill(title(running.row, 'still running'), [this.#state, el('div', 'chunks', this.#canvas)]);
      this.tick(running, performance.now());
      return;
    }
    this.#fill(title({ model: '…' }, ''), []);
    try {
      const whole = await api.request(id, this.#asked.signal);
      if (this.#id === id) this.#show(whole);
    } catch (error) {
      if (this.#id === id && error.name !== 'AbortError')
        this.#fill(title({ model: id }, ''), [el('p', 'problem', `It cannot be shown: ${error.message}`)]);
    }
  }

  #show(whole) {
    this.#whole = whole;
    const { record } = whole;
    const trace = attr(button('Download trace', () => download(record.id)), { title: 'A trace to open in Perfetto' });
    const actions = el('div', 'actions', button('Copy JSON', () => copy(JSON.stringify(record, null, 2))), button('Copy link', () => copy(location.href)), trace);
    const head = title({ ...record.request, started_at: record.started_at }, record.response.status ?? 'no status');
    this.#fill(head, [figures(record), actions, ...sections(whole, this.#canvas)]);
    this.#paint();
  }

  #fill(head, body) {
    const tools = el('div', 'tools', sign('←', 'The request above', () => this.#go(-1)), sign('→', 'The request below', () => this.#go(1)),
      sign('×', 'Close', () => this.#dialog.close()));
    this.#dialog.replaceChildren(el('header', '', head, tools), el('div', 'body', ...body));
    if (!this.#dialog.contains(document.activeElement)) this.#dialog.focus();
  }

  #go(step) {
    const next = this.#beside(this.#id, step);
    if (next) this.open(next);
  }

  #paint() {
    if (!this.#whole || !this.#canvas.isConnected) return;
    const { record, ticks } = this.#whole;
    const length = record.at.end_ms ?? ticks.at(-1)?.[0] ?? 1;
    paintChunks(this.#canvas, { ticks, stalls: record.stalls, firstToken: record.at.first_token_ms, length });
  }

  /** While nobody knows whether it runs. */
  lose() {
    this.#state.classList.remove('hangs');
    setText(this.#state, 'Without a connection it is not known whether it still runs.');
  }

  /** While it runs: its age, its silence, its chunks. It may have been named before it was known to run. */
  tick(one, clock) {
    if (!this.#state.isConnected) {
      this.open(one.id, one);
      return;
    }
    const { age, silence } = since(one, clock);
    const isSilent = hangs(one);
    setText(this.#state, `Running for ${duration(age)}, silent for ${duration(silence)}, ${one.row.events} events so far. It is all here when it has ended.`);
    this.#state.classList.toggle('hangs', isSilent);
    const stalls = one.stalls.map(([at, gap]) => ({ at_ms: at, gap_ms: gap }));
    if (isSilent) stalls.push({ at_ms: age, gap_ms: silence });
    paintChunks(this.#canvas, { ticks: one.raw, stalls, firstToken: one.row.ttft_ms, length: age });
  }
}
