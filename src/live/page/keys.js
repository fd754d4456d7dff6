// Shortcuts, where no field takes the key.

import { $ } from './dom.js';

/** `acts` by key. Returns nothing; they last as long as the page. */
export function shortcuts(acts) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isTyping = event.target.closest?.('input, select, textarea, pre');
    if (isTyping && event.key === 'Escape') event.target.blur();
    if (isTyping || $('dialog[open]')) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
