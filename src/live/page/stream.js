// What happens, as it happens: one connection that is made anew when it is lost, and goes on where it was.

import { Refused, ask } from './api.js';
import { Parser } from './sse.js';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
const LOOK_MS = 1000;
// other things come to their turn after this
const SLICE_MS = 10;

const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });
const others = () => (globalThis.scheduler?.yield ? scheduler.yield() : sleep(0));

/**
 * Never ends. `take` gets each event's name and value, `tell` how it stands: `live`, `lost` with why, `refused`; what
 * `refused` returns is waited for. A connection that brings nothing for longer than `patience()`, ms, is lost.
 */
export async function follow({ take, tell, refused, patience }) {
  const parser = new Parser((name, data) => take(name, JSON.parse(data)));
  let wait = FIRST_WAIT_MS;
  for (;;) {
    try {
      await connection(parser, patience, (response) => {
        wait = FIRST_WAIT_MS;
        tell('live', response);
      });
      tell('lost', 'the connection has ended');
    } catch (error) {
      if (error instanceof Refused) {
        tell('refused', error.message);
        await refused();
        continue;
      }
      tell('lost', error.message);
    }
    await sleep(wait);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

async function connection(parser, patience, begun) {
  const giveUp = new AbortController();
  let came, isLate;
  const heard = () => { [came, isLate] = [Date.now(), false]; };
  heard();
  // by the time of day: a machine that slept did not count. Twice: what has come may only wait for its turn
  const watch = setInterval(() => {
    const silent = Date.now() - came;
    const wasLate = isLate;
    isLate = silent > patience();
    if (isLate && wasLate) giveUp.abort(new Error(`nothing came for ${Math.round(silent / 1000)} s`));
  }, LOOK_MS);
  try {
    const headers = parser.id === null ? {} : { 'Last-Event-ID': parser.id };
    const response = await ask('api/events', { headers, signal: giveUp.signal });
    begun(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let turn = performance.now();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      for (const piece of pieces(value)) {
        parser.feed(piece);
        if (performance.now() - turn > SLICE_MS) {
          await others();
          heard();
          turn = performance.now();
        }
      }
    }
  } finally {
    clearInterval(watch);
    // also where an event could not be taken: a browser has but few connections for one server
    giveUp.abort();
    parser.reset();
  }
}

/** Long pieces in parts, so that no part takes long. */
function* pieces(text) {
  for (let at = 0; at < text.length; at += 32_768) yield text.slice(at, at + 32_768);
}
