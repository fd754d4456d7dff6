// Every SDK and API of `sdks.mjs` through dripline, against llmock: the same objects as direct, and one right record each.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { comparable, comparableError, outcome } from './compare.mjs';
import { SDKS, TEXT } from './sdks.mjs';
import { AlteredLlmock, QUICK_CHUNK_DELAY_MS, withProxy } from './support.mjs';

let llmock; // without the headers that `altered.py` looks for, it is llmock as it comes
before(async () => { llmock = await AlteredLlmock.start(); });
after(() => llmock?.stop());

/** Runs one stream direct and one through the proxy, at the same time; gives the client's view and the record. */
async function both(sdk, model, options) {
  let seen, record;
  await withProxy(llmock.url, async (proxy) => {
    const [direct, proxied] = await Promise.all(
      [llmock.url, proxy.url].map((url) => outcome(sdk.stream(url, model, options))));
    assert.deepEqual(comparable(proxied.events), comparable(direct.events));
    assert.deepEqual(comparableError(proxied.error), comparableError(direct.error));
    seen = proxied;
    record = await onlyRecord(proxy);
  });
  assert.equal(record.api, sdk.api);
  assert.deepEqual([record.request.method, record.request.path], ['POST', sdk.path]);
  assert.deepEqual([record.request.model, record.request.stream], [model, true]);
  return { ...seen, record };
}

async function onlyRecord(proxy) {
  const records = await proxy.finish();
  assert.equal(records.length, 1);
  return records[0];
}

/** What must hold for the record of any whole stream of llmock, given the objects that the SDK gave. */
function checkStream(record, sdk, model, { events, error }) {
  assert.ifError(error);
  assert.deepEqual([record.end, record.error], ['complete', null]);
  // An SDK leaves at the end marker, sometimes before the last, empty HTTP chunk has come.
  const encoded = record.response.content_encoding ? ['encoded'] : [];
  assert.deepEqual(record.flags.filter((flag) => flag !== 'client_closed_after_done'), encoded);
  assert.deepEqual([record.response.status, record.response.origin], [200, 'upstream']);
  assert.deepEqual([record.response.id, record.response.model], [sdk.id(events), model]);

  const { counts, at } = record;
  assert.ok(counts.token_events > 1);
  assert.deepEqual([counts.done_markers, counts.keepalives, counts.parse_errors], [1, sdk.keepalives, 0]);
  assert.ok(counts.events > counts.token_events + counts.keepalives);
  assert.deepEqual([record.tokens.prompt, record.tokens.completion], sdk.usage(events));

  assert.equal(record.ttft_null, null);
  const marks = [at.header_ms, at.first_byte_ms, at.first_event_ms, record.ttft_ms, at.last_token_ms, at.done_ms, at.end_ms];
  assert.ok(marks.every((mark, i) => mark !== null && (i === 0 || marks[i - 1] <= mark)), marks.join(' '));
  assert.equal(record.ttfa_ms, at.first_content_ms);
}

for (const [name, sdk] of Object.entries(SDKS)) {
  const model = (of) => `${name} ${of}`.replaceAll(/\W+/g, '-');

  describe(name, { concurrency: 4 }, () => {
    test('a stream', async () => {
      const seen = await both(sdk, model('stream'));
      const { record, events } = seen;
      checkStream(record, sdk, model('stream'), seen);
      assert.equal(sdk.texts(events).join(''), TEXT);
      assert.equal(record.counts.token_events, sdk.texts(events).length);
      assert.equal(record.counts.chars, [...TEXT].length);
      assert.equal(record.ttft_ms, record.at.first_content_ms);
      assert.equal(record.gaps.token.n, sdk.texts(events).length - 1);
      assert.ok(record.gaps.token.p50_ms >= 0.8 * QUICK_CHUNK_DELAY_MS, 'llmock sleeps before each event');
      assert.equal(record.request.has_tools, false);
    });

    test('a tool call after some words', async () => {
      const called = { name: 'get_weather', arguments: { city: 'Zürich am Zürichsee', unit: 'celsius' } };
      const said = 'Let me look that up. ';
      await llmock.script(model('tool'), { type: 'reply', text: said, tool_calls: [called] });
      const seen = await both(sdk, model('tool'), { tools: true });
      const { record, events } = seen;
      checkStream(record, sdk, model('tool'), seen);
      assert.equal(sdk.texts(events).join(''), said);
      assert.ok(sdk.toolPieces(events).length > 1);
      const withName = sdk.api === 'chat' ? 1 : 0; // the call's name is a token event of its own there
      const pieces = 5; // of 12 characters
      assert.equal(record.counts.token_events, sdk.texts(events).length + pieces + withName);
      assert.equal(record.request.has_tools, true);
      assert.ok(record.at.first_content_ms < record.at.first_tool_ms);
      assert.equal(record.ttft_ms, record.at.first_content_ms);
    });

    test('a whole reply', () => withProxy(llmock.url, async (proxy) => {
      const [direct, seen] = [await sdk.whole(llmock.url, model('whole')), await sdk.whole(proxy.url, model('whole'))];
      assert.deepEqual(comparable([seen]), comparable([direct]));
      assert.ok(JSON.stringify(seen).includes(TEXT));
      const record = await onlyRecord(proxy);
      assert.deepEqual([record.api, record.end, record.error, record.flags], [sdk.api, 'complete', null, []]);
      assert.deepEqual([record.ttft_ms, record.ttft_null, record.verdict], [null, 'not_a_stream', null]);
      assert.deepEqual([record.response.id, record.response.model], [seen.id, model('whole')]);
      assert.deepEqual([record.tokens.prompt, record.tokens.completion], sdk.wholeUsage(seen));
    }));

    test('a 429 with Retry-After', async () => {
      await llmock.script(model('429'), { type: 'fail', status: 429, retry_after: 7 });
      const { record, events, error } = await both(sdk, model('429'));
      const { status, retryAfter } = comparableError(error);
      assert.deepEqual([status, retryAfter], [429, '7']);
      assert.deepEqual(sdk.texts(events), []);
      assert.deepEqual([record.end, record.response.status, record.ttft_null], ['http_error', 429, 'http_error']);
    });

    test('a cut connection', async () => {
      await llmock.script(model('cut'), { type: 'stream_fault', kind: 'disconnect', after_chunks: 6 });
      const { record, events, error } = await both(sdk, model('cut'));
      assert.notEqual(error, null);
      assert.ok(['truncated', 'upstream_reset'].includes(record.end), record.end);
      assert.equal(record.counts.token_events, sdk.texts(events).length);
      assert.equal(record.at.done_ms, null);
    });

    test('an error inside the stream', async () => {
      const { record, events, error } = await both(sdk, model('error'), { headers: { 'x-test-error-after': '6' } });
      assert.ok(error !== null || events.some((e) => e.type === 'error'));
      const type = sdk.api === 'messages' ? 'overloaded_error' : 'server_error';
      assert.deepEqual([record.end, record.error], ['in_band_error', { kind: 'in_band_error', type }]);
      assert.equal(record.counts.events, 7);
      assert.equal(record.counts.token_events, sdk.texts(events).length);
    });

    // Node's fetch asks for gzip and deflate, over plain HTTP; it reads br too.
    for (const [encoding, flush, accept] of [['gzip', 'event'], ['gzip', 'never'], ['br', 'event', 'br']]) {
      test(`${encoding}, flushed: ${flush}`, async () => {
        const headers = { 'x-test-encoding': encoding, 'x-test-flush': flush };
        if (accept) headers['accept-encoding'] = accept;
        const seen = await both(sdk, model('compressed'), { headers });
        const { record, events } = seen;
        assert.ok(record.request.accept_encoding.includes(encoding));
        assert.equal(record.response.content_encoding, encoding);
        assert.equal(sdk.texts(events).join(''), TEXT);
        checkStream(record, sdk, model('compressed'), seen);
        assert.equal(record.counts.token_events, sdk.texts(events).length);
        assert.equal(record.counts.chars, [...TEXT].length);
        if (flush === 'event') assert.ok(record.gaps.token.p50_ms >= 0.8 * QUICK_CHUNK_DELAY_MS);
        else assert.equal(record.verdict.timing, 'whole_body_burst');
      });
    }
  });
}
