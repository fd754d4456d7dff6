// The framing of event streams agrees with the npm package `eventsource-parser` on generated streams. Where they differ on
// purpose is listed in tests/framing_differential.rs. Our frames come from examples/frames.rs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createParser } from 'eventsource-parser';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../..');
const FRAMES = resolve(ROOT, process.env.DRIPLINE_FRAMES_BIN ?? 'target/debug/examples/frames');
const STREAMS = 4000;

/** Numbers that look random and are the same in each run (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (z ^ (z >>> 14)) >>> 0;
  };
  const below = (n) => next() % n;
  return { below, pick: (list) => list[below(list.length)] };
}

const FIELDS = ['data', 'data', 'data', 'data', 'event', 'event', 'id', 'retry', '', 'Data', 'x', '\uFEFFdata'];
const COLONS = [': ', ': ', ':', ':  ', ''];
const VALUES = [
  '', 'a', 'message', '[DONE]', '{"choices":[{"delta":{"content":"word "}}]}', 'café 那🌍', '\u2028\u0085\uFEFF', ': :',
  ' two spaces ', '3000', '-1', 'a\0b', 'data: x', '\t',
].map((text) => Buffer.from(text)).concat(
  // no UTF-8: half a character, a byte that none has, an encoded surrogate, a shorter form than there is
  [[0xe9, 0x82], [0xff, 0x61], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf0, 0x9f, 0x8c]].map((bytes) => Buffer.from(bytes)),
);
const ENDS = ['\n', '\r', '\r\n'];

function generated({ below, pick }) {
  const usual = pick([...ENDS, null]);
  const end = () => Buffer.from(usual ?? pick(ENDS));
  const parts = [Buffer.from(pick(['', '', '\uFEFF', '\uFEFF\uFEFF']))];
  for (let blocks = 1 + below(12); blocks > 0; blocks--) {
    for (let lines = below(4); lines > 0; lines--)
      parts.push(Buffer.from(pick(FIELDS)), Buffer.from(pick(COLONS)), pick(VALUES), end());
    parts.push(end());
  }
  const stream = Buffer.concat(parts);
  return below(4) === 0 ? stream.subarray(0, -1) : stream; // the end is missing
}

/** The stream whole, byte by byte, or cut anywhere, also within characters. */
function cut({ below, pick }, stream) {
  const longest = pick([1, 3, 20, stream.length]);
  const pieces = [];
  for (let from = 0; from < stream.length;) {
    const to = from + 1 + below(longest);
    pieces.push(stream.subarray(from, to));
    from = to;
  }
  return pieces;
}

/** What eventsource-parser finds in it, in the words of examples/frames.rs. */
function theirs(pieces) {
  const frames = [];
  const parser = createParser({
    onEvent: ({ event, data }) => frames.push({ event: event ?? '', data }),
    onComment: () => frames.push({ comment: true }),
  });
  const decoder = new TextDecoder(); // takes the byte order mark off, as a browser does
  let text = '';
  const feed = (more) => { text += more; parser.feed(more); };
  for (const piece of pieces) feed(decoder.decode(piece, { stream: true }));
  // It looks at a CR once more has come. What is fed makes no blank line, so that it completes no event.
  const inComment = /(^|[\r\n]):[^\r\n]*$/.test(text);
  parser.feed('x\n');
  if (inComment) frames.pop(); // which was not complete
  return frames;
}

test('our events and comments are those of eventsource-parser', () => {
  assert.ok(existsSync(FRAMES), `missing: ${FRAMES} (\`cargo build --example frames\`)`);
  const streams = Array.from({ length: STREAMS }, (_, seed) => {
    const numbers = random(seed);
    return cut(numbers, generated(numbers));
  });
  const input = streams.map((pieces) => JSON.stringify(pieces.map((piece) => piece.toString('latin1'))) + '\n').join('');
  const { status, stdout, stderr } = spawnSync(FRAMES, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n').slice(0, -1);
  assert.equal(lines.length, STREAMS);

  let events = 0;
  for (const [seed, pieces] of streams.entries()) {
    const ours = JSON.parse(lines[seed]).filter((frame) => !('empty' in frame));
    assert.deepEqual(ours, theirs(pieces), `seed ${seed}: ${JSON.stringify(Buffer.concat(pieces).toString('latin1'))}`);
    events += ours.filter((frame) => 'data' in frame).length;
  }
  assert.ok(events > 2 * STREAMS, `only ${events} events`);
});
