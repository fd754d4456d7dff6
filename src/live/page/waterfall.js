// One request on its own line of time: phases, stalls, marks, and each chunk.

import { el } from './dom.js';
import { duration, short } from './format.js';
import { stepFor } from './steps.js';
import { colors, faded, font } from './theme.js';

/** Marks of a record that have a place of their own, by their keys. */
const MARKS = [
  ['request_end_ms', 'request in'], ['sent_ms', 'sent'], ['header_ms', 'header'], ['first_byte_ms', 'first byte'], ['first_event_ms', 'first event'],
  ['first_token_ms', 'first token'], ['first_reasoning_ms', 'first reasoning'], ['first_content_ms', 'first answer'], ['first_tool_ms', 'first tool call'],
  ['last_token_ms', 'last token'], ['done_ms', 'end marker'], ['end_ms', 'end'],
];

/** All marks, in the order of time; what was not measured is last. */
export function marks(record) {
  const all = MARKS.map(([key, words]) => ({ key, words, at: record.at[key] }));
  return all.sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity));
}

/** A row for each phase, as long as it took. */
export function waterfall(phases) {
  const length = Math.max(...phases.map((phase) => phase.to_ms), 0.001);
  const rows = phases.map((phase) => {
    const bar = el('span', `stretch${phase.in_vain ? ' vain' : ''}`);
    bar.style.left = `${(100 * phase.from_ms) / length}%`;
    bar.style.width = `${Math.max(0.25, (100 * (phase.to_ms - phase.from_ms)) / length)}%`;
    const took = el('td', 'figure', duration(phase.to_ms - phase.from_ms));
    return el('tr', '', el('th', '', phase.in_vain ? `${phase.name}, in vain` : phase.name), el('td', 'bars', el('span', 'track', bar)), took);
  });
  return el('table', 'waterfall', el('tbody', '', ...rows));
}

const TALLEST = 40;
const HEIGHT = 84;
const LABEL_WIDTH = 72;

/** Draws the chunks of a request onto a canvas as wide as its parent. `length` is ms. */
export function paintChunks(canvas, { ticks, stalls, firstToken, length }) {
  const width = canvas.parentElement.clientWidth;
  const ratio = devicePixelRatio;
  [canvas.width, canvas.height] = [Math.round(width * ratio), HEIGHT * ratio];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${HEIGHT}px`;
  const ctx = canvas.getContext('2d');
  ctx.scale(ratio, ratio);
  const bottom = HEIGHT - 22;
  const xOf = (ms) => 4 + (ms / Math.max(1, length)) * (width - 8);

  ctx.fillStyle = faded(colors().stall, 0.2);
  for (const stall of stalls) ctx.fillRect(xOf(stall.at_ms - stall.gap_ms), 8, xOf(stall.at_ms) - xOf(stall.at_ms - stall.gap_ms), bottom - 8);

  ctx.font = font(11);
  ctx.textBaseline = 'top';
  const step = stepFor(length, (width - 8) / LABEL_WIDTH);
  for (let at = 0; at <= length; at += step) {
    ctx.fillStyle = colors().grid;
    ctx.fillRect(xOf(at), 4, 1, bottom - 4);
    ctx.fillStyle = colors().quiet;
    ctx.textAlign = at === 0 ? 'left' : xOf(at) > width - 24 ? 'right' : 'center';
    ctx.fillText(at === 0 ? '0' : short(at), xOf(at), bottom + 6);
  }
  ctx.fillStyle = colors().axis;
  ctx.fillRect(4, bottom, width - 8, 1);

  const most = Math.max(1, ...ticks.map(([, events]) => events));
  ctx.fillStyle = colors().ink;
  for (const [at, events, last] of ticks) {
    const height = 6 + ((TALLEST - 6) * Math.log2(1 + events)) / Math.log2(1 + most);
    const wide = Math.max(1.5, last === undefined ? 0 : xOf(last) - xOf(at));
    ctx.fillRect(xOf(at) - 0.75, bottom - height, wide, height);
  }
  if (firstToken !== null && firstToken !== undefined) {
    ctx.fillStyle = colors().accent;
    ctx.fillRect(xOf(firstToken) - 1, 8, 2, bottom - 8);
    ctx.beginPath();
    ctx.arc(xOf(firstToken), 8, 3.5, 0, 2 * Math.PI);
    ctx.fill();
  }
}
