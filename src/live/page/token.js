// Asks for the token, once.

import { setToken } from './api.js';
import { $, setText } from './dom.js';

let wasAsked = false;

/** Resolves when one was given; whether it is the right one the server says. */
export function askToken() {
  const dialog = $('#token');
  const field = $('input', dialog);
  setText($('.problem', dialog), wasAsked ? 'That is not the token of this dripline.' : '');
  wasAsked = true;
  field.value = '';
  dialog.showModal();
  // without one there is nothing to see
  dialog.oncancel = (event) => event.preventDefault();
  // a browser lets a second Esc through
  dialog.onclose = () => dialog.showModal();
  return new Promise((given) => {
    $('form', dialog).onsubmit = (event) => {
      event.preventDefault();
      setToken(field.value.trim());
      field.value = '';
      dialog.onclose = null;
      dialog.close();
      given();
    };
  });
}
