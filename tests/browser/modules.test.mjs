// The live page's modules that draw nothing, one by one.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chosenOpen, fromHash, isFilter, matcher, toHash } from '../../src/live/page/filter.js';
import { flights } from '../../src/live/page/flight.js';
import { bytes, duration, micros, percentile, short, shown } from '../../src/live/page/format.js';
import { gapCounts } from '../../src/live/page/heatmap.js';
import { Lanes } from '../../src/live/page/lanes.js';
import { Open, hangs, since } from '../../src/live/page/open.js';
import { Parser } from '../../src/live/page/sse.js';
import { stepFor, timesOfDay } from '../../src/live/page/steps.js';
import { Store } from '../../src/live/page/store.js';
import { axis, beginOf, columnOf } from '../../src/live/page/time.js';

const T0 = Date.parse('2026-12-02T16:00:00Z');

/** Numbers that look random, and are the same each time. */
function* numbers(seed) {
  for (let x = seed; ; yield x / 2147483647) x = (x * 16807) % 2147483647;
}
const draw = (from) => from.next().value;

let made = 0;
const row = (over = {}) => ({
  id: `id-${made++}`, started_at: new Date(T0).toISOString(), model: 'm', path: '/v1/chat/completions', upstream: 'u', status: 200, end: 'complete',
  timing: 'steady', cold: false, ttft_ms: 10, gap_p50_ms: 1, gap_p99_ms: 2, gap_max_ms: 3, end_ms: 100, token_events: 5, hold_p99_us: 50, stalls: [], ticks: [], ...over,
});

function storeOf(rows, keeps = rows.length) {
  const store = new Store(keeps);
  for (const one of rows) store.add(one);
  return store;
}

const allOf = (store) => store.chosen(() => true);

test('events are the same however their text is cut', () => {
  const text = ': hello\nevent: a\ndata: {"x":1}\nid: b-1\n\ndata: one\r\ndata: two\r\n\r\nid: b-2\n\nevent: none\n\ndata:last\n\n';
  const wanted = [['a', '{"x":1}'], ['message', 'one\ntwo'], ['message', 'last']];
  for (let from = 0; from <= text.length; from += 1)
    for (let to = from; to <= text.length; to += 1) {
      const found = [];
      const parser = new Parser((...event) => found.push(event));
      for (const part of [text.slice(0, from), text.slice(from, to), text.slice(to)]) parser.feed(part);
      assert.deepEqual(found, wanted);
      assert.equal(parser.id, 'b-2');
    }
});

test('half an event at the end of a connection is none, and its id is not known', () => {
  const found = [];
  const parser = new Parser((...event) => found.push(event));
  parser.feed('data: 1\nid: b-1\n\ndata: half\nid: b-2\nda');
  parser.reset();
  parser.feed('data: 2\n\n');
  assert.deepEqual(found, [['message', '1'], ['message', '2']]);
  assert.equal(parser.id, 'b-1');
});

test('the ring keeps the last, and none twice', () => {
  const rows = Array.from({ length: 7 }, (_, i) => row({ model: `m${i}` }));
  const store = storeOf(rows, 3);
  const names = (of) => [...allOf(of)].map((at) => of.model[at]);
  assert.deepEqual(names(store), ['m4', 'm5', 'm6']);
  assert.equal(store.add(rows[6]), false);
  assert.equal(store.find(rows[0].id), -1);
  const grown = store.grown(5);
  grown.add(row({ model: 'm7' }));
  assert.deepEqual(names(grown), ['m4', 'm5', 'm6', 'm7']);
  assert.equal(grown.model[grown.find(rows[5].id)], 'm5');
  assert.equal(grown.gone, 4);
});

test('a filter and its address are the same', () => {
  const filter = { model: 'a&b=c #', verdict: 'steady', over: '500', by: 'gapMax', span: '60' };
  assert.deepEqual(fromHash(toHash(filter, 'some/id')), { filter, request: 'some/id' });
  assert.equal(toHash({ by: 'ttft' }, null), '');
  assert.ok(isFilter(filter) && !isFilter({ by: 'ttft', span: '60' }) && !isFilter({ over: 'abc' }));
});

test('each part of a filter leaves out what it should', () => {
  const store = storeOf([
    row({ model: 'Llama', ttft_ms: 900 }), row({ model: 'other', timing: null, end: 'http_error', ttft_ms: null }),
    row({ model: 'llama-2', path: '/v1/messages', gap_max_ms: 700, started_at: new Date(T0 - 120_000).toISOString() }),
  ]);
  const found = (filter) => [...store.chosen(matcher(filter, store, T0 + 200))];
  assert.deepEqual(found({}), [0, 1, 2]);
  assert.deepEqual(found({ model: 'LLAMA' }), [0, 2]);
  assert.deepEqual(found({ path: 'messages' }), [2]);
  assert.deepEqual(found({ verdict: 'none' }), [1]);
  assert.deepEqual(found({ end: 'http_error' }), [1]);
  assert.deepEqual(found({ over: '500' }), [0]);
  assert.deepEqual(found({ over: '500', by: 'gapMax' }), [2]);
  assert.deepEqual(found({ span: '60' }), [0, 1]);
  assert.deepEqual(found({ verdict: 'no such' }), []);
});

test('of the open requests a filter leaves those whose names fit, and none where it asks for what is not known yet', () => {
  const running = { all: new Map([{ model: 'Llama', path: '/v1/a' }, { model: 'other', path: '/v1/b' }].entries()) };
  const found = (filter) => chosenOpen(filter, running).map((one) => one.model);
  assert.deepEqual(found({}), ['Llama', 'other']);
  assert.deepEqual(found({ by: 'ttft', span: '60', model: 'llama' }), ['Llama']);
  assert.deepEqual(found({ path: '/b' }), ['other']);
  assert.deepEqual(found({ over: 'abc' }), ['Llama', 'other']);
  assert.deepEqual(found({ over: '5' }), []);
  assert.deepEqual(found({ verdict: 'steady' }), []);
});

test('in flight: the most at once, as counting at each moment finds it', () => {
  const random = numbers(7);
  const rows = Array.from({ length: 200 }, () => row({ started_at: new Date(T0 + Math.floor(draw(random) * 60_000)).toISOString(), end_ms: Math.floor(draw(random) * 9000) }));
  const store = storeOf(rows);
  const open = [{ start: T0 + 30_000 }, { start: T0 + 58_000 }];
  const time = axis(T0 + 10_000, T0 + 60_000);
  const places = allOf(store);
  const spans = [...[...places].map((at) => [store.start[at], store.endedAt(at)]), ...open.map((one) => [one.start, Infinity])];
  const openAt = (ms) => spans.filter(([from, to]) => from <= ms && ms < to).length;
  flights({ store, places, open, time }).forEach((most, column) => {
    let naive = 0;
    for (let ms = beginOf(time, column); ms < beginOf(time, column + 1); ms += 1) naive = Math.max(naive, openAt(ms));
    assert.equal(most, naive, `column ${column}`);
  });
});

test('gaps: each is counted once, where it ended', () => {
  const ticks = [[5, 1], [25, 1], [1025, 2], [1026, 1, 1030], [1040, 1]];
  const store = storeOf([row({ ticks }), row({ ticks: null })]);
  const time = axis(T0, T0 + 10_000);
  const counts = gapCounts({ store, places: allOf(store), open: [], time });
  assert.equal(counts.reduce((sum, n) => sum + n, 0), 4);
  const rows = counts.length / time.columns;
  const found = [...counts.keys()].filter((i) => counts[i]).map((i) => [Math.floor(i / rows) - columnOf(time, T0), i % rows]);
  // six rows a decade from 0.1 ms: 1 ms begins row 6, 10 ms row 12, 20 ms is in row 13, 1 s begins row 24
  assert.deepEqual(found, [[0, 13], [10, 6], [10, 12], [10, 24]]);
});

test('lines of the drip: who has one keeps it, and no two are on one at a time', () => {
  const random = numbers(3);
  const spans = Array.from({ length: 60 }, (_, i) => ({ id: i, from: i * 100, to: i * 100 + draw(random) * 2000 }));
  const lanes = new Lanes();
  const first = lanes.place(spans.slice(0, 40), 18);
  const second = lanes.place(spans.slice(20), 18);
  for (let i = 20; i < 40; i += 1) assert.equal(second.get(i), first.get(i));
  for (const [i, one] of spans.slice(20).entries())
    for (const other of spans.slice(20 + i + 1))
      assert.ok(second.get(one.id) !== second.get(other.id) || second.get(one.id) < 0 || other.from >= one.to || one.from >= other.to);
  assert.equal([...new Lanes().place(spans.map((span) => ({ ...span, to: Infinity })), 5).values()].filter((lane) => lane < 0).length, 55);
});

test('an open request hangs when its silence would be a stall', () => {
  const open = new Open();
  const ticks = Array.from({ length: 21 }, (_, i) => [100 + i * 100, 1]);
  const one = { ...row({ id: 'x' }), waits_for: 'stream', age_ms: 2200, silence_ms: 80, ticks_before: 0, ticks: ticks.slice(0, 9) };
  open.take([one], 1000);
  open.take([{ ...one, ticks_before: 9, ticks: ticks.slice(9) }], 1000);
  const known = open.all.get('x');
  assert.deepEqual([...known.ticks].filter((_, i) => i % 3 === 0), ticks.map(([at]) => at * 10));
  assert.deepEqual(since(known, 1250), { age: 2450, silence: 330 });
  // two events further on nothing more is known
  assert.deepEqual(since(known, 60_000), { age: 2700, silence: 580 });
  // gaps are 100 ms: five times that
  const silent = (silence, more) => hangs({ ...known, row: { ...known.row, silence_ms: silence, ...more } });
  assert.ok(!silent(499) && silent(500));
  assert.ok(!silent(9000, { waits_for: 'first_token' }));
  assert.deepEqual(known.stalls, []);
  open.take([{ ...one, ticks_before: 21, ticks: [[2800, 1]] }], 1000);
  assert.deepEqual(open.all.get('x').stalls, [[2800, 700]]);
  open.take([], 2000);
  assert.equal(open.all.size, 0);
});

test('two hundred streams are taken in within a few times what sorting their gaps takes', () => {
  const random = numbers(5);
  const open = new Open();
  const rows = Array.from({ length: 200 }, (_, i) => ({
    ...row({ id: `s${i}` }), waits_for: 'stream', age_ms: 40_000, silence_ms: 5, ticks_before: 0, ticks: Array.from({ length: 1000 }, (__, n) => [n * 33 + draw(random) * 30, 1]),
  }));
  open.take(rows, 0);
  const next = rows.map((one) => ({ ...one, ticks_before: 1000, ticks: [[33_100, 1]] }));
  const best = (act) => Math.min(...Array.from({ length: 8 }, () => {
    const begun = performance.now();
    act();
    return performance.now() - begun;
  }));
  const took = best(() => open.take(next, 0));
  const sorting = best(() => rows.forEach(({ ticks }) => ticks.slice(1).map(([at], i) => at - ticks[i][0]).sort((a, b) => a - b)));
  assert.ok(took < 4 * sorting, `${took} ms, and sorting takes ${sorting} ms`);
});

test('values are written with three digits and a unit, and what was not measured is a dash', () => {
  assert.deepEqual([0, 3.214, 41.23, 412.3, 999.6, 12_345, null, NaN].map(duration), ['0.00 ms', '3.21 ms', '41.2 ms', '412 ms', '1.00 s', '12.3 s', '–', '–']);
  assert.deepEqual([0, 42, 999, 1500, null].map(micros), ['0 µs', '42 µs', '999 µs', '1.50 ms', '–']);
  assert.deepEqual([0.05, 0.1, 20, 5000].map(short), ['50 µs', '0.1 ms', '20 ms', '5 s']);
  assert.deepEqual([12, 1400, 2_500_000].map(bytes), ['12 B', '1.4 kB', '2.5 MB']);
});

test('percentiles are of the rank that the record takes', () => {
  assert.deepEqual([[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]].map((values) => percentile(values, 50)), [1, 2, 2, 3]);
  const many = Array.from({ length: 101 }, (_, i) => i);
  assert.deepEqual([50, 90, 95, 99].map((p) => percentile(many, p)), [50, 90, 95, 99]);
  assert.equal(percentile([], 50), NaN);
});

test('text of others shows what cannot be seen, and has an end', () => {
  assert.equal(shown('a\u202eb\u0000\n\u2028'), 'a\\u{202e}b\\u{0}\\u{a}\\u{2028}');
  assert.equal(shown('m'.repeat(5000)).length, 160);
  assert.equal(shown(null), '–');
});

test('steps of time are round, and as many as there is room for', () => {
  assert.deepEqual([[30_000, 15], [10_000, 100], [1880, 12], [6 * 3_600_000, 8], [30 * 86_400_000, 6]].map((of) => stepFor(...of)),
    [2000, 100, 200, 3_600_000, 5 * 86_400_000]);
  const times = timesOfDay(T0 + 1, T0 + 7_200_000, 3_600_000);
  assert.equal(times.length, 2);
  assert.ok(times.every((at) => new Date(at).getMinutes() === 0));
});
