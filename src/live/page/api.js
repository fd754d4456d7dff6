// Asking this dripline, with the token where it wants one. The token is kept for this tab alone, and sent in no address.

const KEY = 'dripline-token';
let token = null;
try {
  token = sessionStorage.getItem(KEY);
} catch {
  // a browser may forbid it: then it lasts until the page is loaded anew
}

export class Refused extends Error {}

export function setToken(text) {
  token = text;
  try {
    sessionStorage.setItem(KEY, text);
  } catch {
    // as above
  }
}

/** An answer with a good status; else an error in the server's words. */
export async function ask(path, { headers = {}, signal } = {}) {
  const own = token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
  const response = await fetch(path, { headers: own, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: null }));
  const words = error ?? `status ${response.status}`;
  throw response.status === 401 ? new Refused(words) : new Error(words);
}

export const request = async (id, signal) => (await ask(`api/requests/${encodeURIComponent(id)}`, { signal })).json();

export const trace = async (id) => (await ask(`api/requests/${encodeURIComponent(id)}/trace`)).blob();
