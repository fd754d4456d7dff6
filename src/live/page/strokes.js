// How one request is drawn on its line of the drip, and the time beneath. All in CSS pixels.

import { duration } from './format.js';
import { draw as drawMark } from './marks.js';
import { stepFor, timeOfDay, timesOfDay } from './steps.js';
import { colors, faded } from './theme.js';

/** Height of a line: its words, and beneath them its ticks. */
export const LINE = 36;
export const AXIS = 20;

const FOOT = 4; // below a line's ticks
const TALLEST = 15;
const LABEL_WIDTH = 84;
const LETTER_WIDTH = 6.2;
const FEWEST_LETTERS = 4;
const WAITS = { sending: 'sends', header: 'waits for the header', first_token: 'waits for a token' };

/** The more events, the higher; 16 and more are as high as it gets. */
const heightOf = (events) => Math.min(TALLEST, 4.5 + 2.6 * Math.log2(1 + events));

export function paintAxis(ctx, { from, to, width, height, xOf }) {
  ctx.textBaseline = 'top';
  ctx.textAlign = 'center';
  const step = stepFor(to - from, width / LABEL_WIDTH);
  for (const at of timesOfDay(from, to, step)) {
    const x = Math.round(xOf(at));
    ctx.fillStyle = colors().grid;
    ctx.fillRect(x, 0, 1, height);
    ctx.fillStyle = colors().quiet;
    if (x > LABEL_WIDTH / 3 && x < width - LABEL_WIDTH / 3) ctx.fillText(timeOfDay(at, step), x, height + 5);
  }
}

/** Draws a request on line `lane`, with its words left of `until`; how far to the left it reaches. */
export function paintSpan(ctx, span, { xOf, lane, width, until, isChosen }) {
  const bottom = (lane + 1) * LINE - FOOT;
  const isOpen = span.to === Infinity;
  const [left, right] = [Math.max(0, xOf(span.from)), Math.min(width, isOpen ? xOf(span.now) : xOf(span.to))];
  const at = (ms) => xOf(span.from + ms);
  if (isChosen) {
    ctx.fillStyle = colors().wash;
    ctx.fillRect(left - 3, bottom - LINE + FOOT + 1, Math.max(right - left, 8) + 6, LINE - 1);
  }
  for (const [end, gap] of span.stalls) shade(ctx, at(end - gap), at(end), bottom, 0.2);
  if (span.hangs) shade(ctx, at(span.ticks[span.ticks.length - 2] / 10), right, bottom, 0.3);

  // until the first token there is a wait: a thinner line
  const first = Number.isNaN(span.firstToken) ? right : Math.min(right, Math.max(left, at(span.firstToken)));
  line(ctx, left, first, bottom, faded(colors().quiet, 0.5), [2, 3]);
  line(ctx, first, right, bottom, colors().axis, []);
  if (xOf(span.from) >= 0) {
    ctx.fillStyle = colors().axis;
    ctx.fillRect(left - 0.5, bottom - 5, 1, 5);
  }
  paintTicks(ctx, span.ticks, { at, bottom, color: isOpen ? colors().accent : colors().quiet, width });
  if (first < right && at(span.firstToken) >= 0) paintFirst(ctx, first, bottom);
  if (!isOpen) paintVerdict(ctx, span, Math.min(width - 5, right + 6), bottom);

  const y = bottom - TALLEST - 6;
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  const state = isOpen ? stateOf(span) : '';
  const free = state ? paintState(ctx, state, { right, y, color: span.hangs ? colors().hang : colors().quiet }) : until;
  paintName(ctx, span.model, { left, free, y });
  return { left, right, reach: Math.min(left, free) };
}

function shade(ctx, from, to, bottom, alpha) {
  if (to < 0) return;
  ctx.fillStyle = faded(colors().stall, alpha);
  ctx.fillRect(Math.max(0, from), bottom - TALLEST, Math.max(1, to - Math.max(0, from)), TALLEST);
}

function line(ctx, from, to, y, color, dash) {
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(to, y);
  ctx.stroke();
  ctx.setLineDash([]);
}

function paintTicks(ctx, ticks, { at, bottom, color, width }) {
  if (!ticks) return;
  ctx.fillStyle = color;
  let [before, highest] = [-9, 0];
  for (let i = 0; i < ticks.length; i += 3) {
    const x = at(ticks[i] / 10);
    if (x < -2 || x > width + 2) continue;
    const wide = Math.max(1.4, at(ticks[i + 1] / 10) - x);
    const height = heightOf(wide > 3 ? 1 : ticks[i + 2]);
    // several on the same pixel: the highest is enough
    if (x - before < 0.7 && wide < 2) {
      if (height <= highest) continue;
      highest = height;
    } else [before, highest] = [x, height];
    ctx.fillRect(x - 0.7, bottom - height, wide, height);
  }
}

function paintFirst(ctx, x, bottom) {
  ctx.fillStyle = colors().accent;
  ctx.fillRect(x - 1, bottom - TALLEST - 1, 2, TALLEST + 1);
  ctx.beginPath();
  ctx.arc(x, bottom - TALLEST - 1, 2.6, 0, 2 * Math.PI);
  ctx.fill();
}

function paintVerdict(ctx, { verdict, isCold }, x, bottom) {
  ctx.save();
  ctx.translate(x, bottom - 4);
  ctx.scale(0.8, 0.8);
  drawMark(ctx, verdict, isCold);
  ctx.restore();
}

/** What an open request is about. */
function stateOf({ hangs, silence, waitsFor, from, now }) {
  if (waitsFor === 'stream') return hangs ? `silent for ${duration(silence)}` : '';
  return `${WAITS[waitsFor]}, ${duration(silence ?? now - from)}`;
}

/** At the right end of the line, over what is there; where it begins. */
function paintState(ctx, words, { right, y, color }) {
  const x = right - ctx.measureText(words).width - 2;
  ctx.fillStyle = color;
  ctx.fillText(words, x, y);
  return x - 8;
}

function paintName(ctx, name, { left, free, y }) {
  const most = Math.floor((free - left) / LETTER_WIDTH);
  if (most < FEWEST_LETTERS) return;
  ctx.fillStyle = colors().quiet;
  ctx.fillText(name.length > most ? `${name.slice(0, most - 1)}…` : name, left, y);
}
