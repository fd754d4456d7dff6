// Elements with text in them. Nothing here takes markup.

/** An element with a class, and texts or elements in it. */
export function el(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children.map((child) => child ?? ''));
  return element;
}

/** The same with attributes. */
export function attr(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  return element;
}

/** Sets a text only where it changed, so that nothing is laid out anew for nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The choices of a list: value and words of each. */
export const options = (select, pairs) => select.replaceChildren(...pairs.map(([value, words]) => attr(el('option', '', words), { value })));

export const $ = (selector, within = document) => within.querySelector(selector);
