// uPlot for the axes, in this page's style. What is between them each picture draws itself.

import { short } from './format.js';
import { stepFor, timeOfDay, timesOfDay } from './steps.js';
import { colors, font, onTheme } from './theme.js';

const LETTERS = 11;
// What a label of an axis takes, in CSS pixels.
const LABEL_WIDTH = 64;
const DIGIT_WIDTH = 6.2;

/** Steps of an axis with logarithms: 1, 2 and 5 of each decade, or 1 alone where there are many. */
function logSteps(low, high) {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const parts = to - from > 4 ? [1] : to - from > 2 ? [1, 3] : [1, 2, 5];
  const steps = [];
  for (let decade = from; decade <= to; decade += 1)
    for (const part of parts) {
      const step = Number((part * 10 ** decade).toPrecision(2));
      if (step >= low * 0.999 && step <= high * 1.001) steps.push(step);
    }
  return steps;
}

/** A range of an axis with logarithms: room around the values, and never less than a decade, else the least difference would look large. */
export function logRange(low, high, least) {
  const [from, to] = [Math.max(least, low) / 1.35, Math.max(least, high) * 1.35];
  const lack = Math.sqrt(Math.max(1, 10 / (to / from)));
  return [Math.max(from / lack, least / 1.35), to * lack];
}

/** How a value of an axis becomes a place on the canvas. */
export function mapper(u, key) {
  const { min, max, distr } = u.scales[key];
  const { left, top, width, height } = u.bbox;
  const [f, low, high] = distr === 3 ? [Math.log10, Math.log10(min), Math.log10(max)] : [(v) => v, min, max];
  const factor = (key === 'x' ? width : height) / (high - low || 1);
  return key === 'x' ? (value) => left + (f(value) - low) * factor : (value) => top + height - (f(value) - low) * factor;
}

const SPLITS = {
  linear: {},
  log: { splits: (u, axis, low, high) => logSteps(low, high), filter: (u, splits) => splits },
  time: { splits: (u, axis, low, high) => timesOfDay(low, high, stepFor(high - low, u.bbox.width / devicePixelRatio / LABEL_WIDTH)) },
};

function axis(key, { kind, words = short, label }) {
  const isX = key === 'x';
  return {
    scale: key,
    font: font(LETTERS),
    stroke: () => colors().quiet,
    size: isX ? 28 : (u, values) => 14 + DIGIT_WIDTH * Math.max(3, ...(values ?? []).map((text) => text.length)),
    grid: { stroke: () => colors().grid, width: 1 },
    ticks: { stroke: () => colors().line, width: 1, size: 4 },
    border: { show: isX, stroke: () => colors().axis, width: 1 },
    ...(label && { label, labelFont: font(LETTERS), labelSize: 18, labelGap: 0 }),
    ...SPLITS[kind],
    values: (u, splits) => splits.map(kind === 'time' ? (at) => timeOfDay(at, splits[1] - splits[0] || 1000) : (value) => words(value)),
  };
}

const scale = ({ kind, range }) => ({ time: false, auto: true, distr: kind === 'log' ? 3 : 1, range: () => range() });

/**
 * A picture in `host`. `x` and `y` are axes: `kind` (`log`, `time`, `linear`), `range()`, `words(value)` and a `label`.
 * `draw(u, ctx)` draws, clipped to what is between the axes; `point(u, x, y)` is told of the pointer, in pixels of the
 * canvas, or of none; `zoomed(x, y)` of the two ranges that were drawn with it, or of none.
 */
export function plot(host, { x, y, draw, point, zoomed }) {
  const size = () => ({ width: Math.max(120, host.clientWidth), height: Math.max(80, host.clientHeight) });
  const u = new uPlot({
    ...size(),
    padding: [8, 10, 0, 0],
    legend: { show: false },
    scales: { x: scale(x), y: scale(y) },
    axes: [axis('x', x), axis('y', y)],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    cursor: { drag: { x: Boolean(zoomed), y: Boolean(zoomed), setScale: false }, points: { show: false }, x: !zoomed, y: false },
    hooks: {
      draw: [(self) => {
        const { ctx, bbox } = self;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        draw(self, ctx);
        ctx.restore();
      }],
      setCursor: [({ cursor: { left, top }, bbox }) => {
        if (left < 0 || top < 0) point(u, null);
        else point(u, bbox.left + left * devicePixelRatio, bbox.top + top * devicePixelRatio);
      }],
      setSelect: [(self) => {
        const { left, top, width, height } = self.select;
        if (!zoomed || width < 8 || height < 8) return;
        const values = (key, from, to) => [self.posToVal(from, key), self.posToVal(to, key)];
        self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        zoomed(values('x', left, left + width), values('y', top + height, top));
      }],
    },
  }, [[1, 2], [1, 2]], host);
  u.over.addEventListener('dblclick', () => zoomed?.(null, null));
  new ResizeObserver(() => u.setSize(size())).observe(host);
  // ranges are asked for anew, and all is drawn
  const redraw = () => u.setData(u.data, true);
  onTheme(redraw);
  return { u, redraw };
}

/** The value at a place of the canvas. */
export const valueAt = (u, key, place) => u.posToVal((place - (key === 'x' ? u.bbox.left : u.bbox.top)) / devicePixelRatio, key);
