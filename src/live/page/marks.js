// The marks of requests on canvases: shape and colour are the verdict, a hollow one is cold. Each is drawn once, then copied.

import { colors, onTheme } from './theme.js';
import { VERDICTS } from './words.js';

// Past so many, marks are small: a cloud then shows where it is thin. As in the report's pictures.
const MANY = 500;
const SMALL = 0.6;
const BOX = 14;

const paths = VERDICTS.map(([, , outline]) => new Path2D(outline));
const sprites = new Map();
onTheme(() => sprites.clear());

/** Draws one mark around 0, 0. */
export function draw(ctx, verdict, isCold) {
  const { [VERDICTS[verdict][1]]: color, paper } = colors();
  if (isCold) {
    ctx.fillStyle = paper;
    ctx.fill(paths[verdict]);
    ctx.strokeStyle = color;
    ctx.lineWidth = 1.6;
    ctx.stroke(paths[verdict]);
    return;
  }
  ctx.strokeStyle = paper;
  ctx.lineWidth = 1.4;
  ctx.stroke(paths[verdict]);
  ctx.fillStyle = color;
  ctx.fill(paths[verdict]);
}

/** One mark in pixels. */
function sprite(verdict, isCold, scale) {
  const key = `${verdict}/${isCold}/${scale}`;
  if (!sprites.has(key)) {
    const size = Math.ceil(BOX * scale);
    const ctx = new OffscreenCanvas(size, size).getContext('2d', { willReadFrequently: true });
    ctx.translate(size / 2, size / 2);
    ctx.scale(scale, scale);
    draw(ctx, verdict, isCold);
    sprites.set(key, pixelsOf(ctx.getImageData(0, 0, size, size)));
  }
  return sprites.get(key);
}

/** An image with its pixels as whole numbers, the opacity in the highest byte. */
const pixelsOf = (image) => ({ image, size: image.width, height: image.height, data: image.data, pixels: new Uint32Array(image.data.buffer) });

/** Many marks at places of a canvas. They are put together pixel by pixel: a canvas takes its time over ten thousand images. */
export class Cloud {
  #ctx = new OffscreenCanvas(1, 1).getContext('2d');
  #ground = null;

  draw(ctx, { n, x, y, verdict, cold, ratio, box }) {
    const scale = ratio * (n > MANY ? SMALL : 1);
    this.#clear(Math.ceil(box.width), Math.ceil(box.height));
    // cold ones above the others, so that few among many are seen
    for (const isCold of [0, 1]) {
      const marks = VERDICTS.map((_, place) => sprite(place, isCold, scale));
      for (let i = 0; i < n; i += 1)
        if (cold[i] === isCold && !Number.isNaN(x[i])) stamp(this.#ground, marks[verdict[i]], x[i] - box.left, y[i] - box.top);
    }
    this.#ctx.putImageData(this.#ground.image, 0, 0);
    ctx.drawImage(this.#ctx.canvas, box.left, box.top);
  }

  #clear(width, height) {
    if (this.#ground?.size === width && this.#ground.height === height) {
      this.#ground.pixels.fill(0);
      return;
    }
    [this.#ctx.canvas.width, this.#ctx.canvas.height] = [width, height];
    this.#ground = pixelsOf(new ImageData(width, height));
  }
}

/** Puts a mark around a place of the ground: its edges let through what is beneath. */
function stamp(ground, mark, x, y) {
  const [left, top] = [Math.round(x - mark.size / 2), Math.round(y - mark.size / 2)];
  const [right, bottom] = [Math.min(ground.size, left + mark.size), Math.min(ground.height, top + mark.size)];
  for (let row = Math.max(0, top); row < bottom; row += 1)
    for (let column = Math.max(0, left); column < right; column += 1) {
      const from = (row - top) * mark.size + column - left;
      const to = row * ground.size + column;
      const opacity = mark.pixels[from] >>> 24;
      if (opacity === 0) continue;
      if (opacity === 255 || ground.pixels[to] === 0) ground.pixels[to] = mark.pixels[from];
      else blend(ground.data, to * 4, mark.data, from * 4);
    }
}

/** The usual "over" of Porter and Duff. */
function blend(below, to, above, from) {
  const front = above[from + 3] / 255;
  const back = below[to + 3] / 255;
  const rest = back * (1 - front);
  for (let channel = 0; channel < 3; channel += 1)
    below[to + channel] = (above[from + channel] * front + below[to + channel] * rest) / (front + rest);
  below[to + 3] = 255 * (front + rest);
}

const SVG = 'http://www.w3.org/2000/svg';

/** The mark as an element, for legends and rows. */
export function icon(verdict, isCold = false) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '-6 -6 12 12');
  svg.setAttribute('class', `mark ${VERDICTS[verdict][1]}${isCold ? ' cold' : ''}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', VERDICTS[verdict][2]);
  svg.append(path);
  return svg;
}
