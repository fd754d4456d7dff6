// Looked at as a reader would, inside of the page: how well texts and marks stand out, and how large they are.
// These functions run in the browser, so each stands alone.

/** Texts and marks that stand out less than the Web Content Accessibility Guidelines ask for (1.4.3: 4.5, 1.4.11: 3). */
export function faint() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const over = (front, back) => {
    const alpha = front[3] ?? 1;
    return [0, 1, 2].map((i) => front[i] * alpha + back[i] * (1 - alpha));
  };
  const luminance = (color) => {
    const [r, g, b] = color.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(channels(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255]);
  };
  const paper = document.querySelector('.paper');
  const ground = (element) => (paper ? channels(getComputedStyle(paper).fill) : behind(element));
  const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());

  const found = new Set();
  for (const element of document.querySelectorAll('body *, svg *')) {
    const style = getComputedStyle(element);
    const drawn = element.matches('.mark, .bar, .cell, .share rect');
    if (!drawn && (!ownText(element) || element.matches('title, style, script') || !element.getClientRects().length)) continue;
    const inPicture = element instanceof SVGElement;
    let color = inPicture ? style.fill : style.color;
    // a hollow mark and the edge of a cell are their lines
    if (element.matches('.cold, .cell')) color = style.stroke;
    const ratio = contrast(over(channels(color), ground(element)), ground(element));
    if (ratio < (drawn ? 3 : 4.5)) found.add(`${element.tagName}.${element.getAttribute('class')} ${color}: ${ratio.toFixed(2)}`);
  }
  return [...found];
}

/** The smallest letters on the page, in pixels of the screen. */
export function smallest() {
  const sizes = [...document.querySelectorAll('body *')]
    .filter((element) => element.getClientRects().length && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => {
      const scale = element instanceof SVGGraphicsElement ? element.getScreenCTM().a : 1;
      return parseFloat(getComputedStyle(element).fontSize) * scale;
    });
  return Math.min(...sizes);
}

/** Labels of one picture that run into each other. */
export function collisions() {
  const found = [];
  for (const chart of document.querySelectorAll('.chart')) {
    const labels = [...chart.querySelectorAll('text')].filter((text) => text.getClientRects().length);
    const boxes = labels.map((text) => [text, text.getBoundingClientRect()]);
    for (const [i, [one, a]] of boxes.entries())
      for (const [other, b] of boxes.slice(i + 1))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
          found.push(`${one.textContent} | ${other.textContent}`);
  }
  return found;
}

/** Boxes and texts that stick out of the page to the right. */
export function wide() {
  const right = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return Math.max(range.getBoundingClientRect().right, node.getBoundingClientRect().right);
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => !element.closest('thead') && right(element) > innerWidth + 1)
    .map((element) => `${element.tagName}: ${element.textContent.trim().slice(0, 40)}`);
}
