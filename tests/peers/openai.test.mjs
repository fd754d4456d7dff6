// The official `openai` SDK for Node, with `baseURL` set to the proxy, against llmock: as before, and one right record each.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import OpenAI from 'openai';

import { Llmock, SECRET_WORD, client, withProxy } from './support.mjs';

const PROMPT = `${SECRET_WORD} größer 音楽 a b c d e f g h i j k l m n o p q r s t u v w x y z`;

let llmock;
before(async () => { llmock = await Llmock.start(); });
after(() => llmock?.stop());

const asked = (model) => ({ model, stream: true, messages: [{ role: 'user', content: PROMPT }] });

async function streamChat(url, model) {
  const seen = { id: null, texts: [], finish: null };
  for await (const chunk of await client(url).chat.completions.create(asked(model))) {
    seen.id = chunk.id;
    const [choice] = chunk.choices;
    if (choice.delta.content) seen.texts.push(choice.delta.content);
    seen.finish ??= choice.finish_reason;
  }
  return seen;
}

test('a streamed chat is as before and leaves one record', () => withProxy(llmock.url, async (proxy) => {
  const direct = await streamChat(llmock.url, 'node-chat');
  const seen = await streamChat(proxy.url, 'node-chat');
  assert.equal(direct.texts.join(''), `Hello! You said: ${PROMPT}`);
  assert.deepEqual({ ...seen, id: null }, { ...direct, id: null });

  const [record, ...more] = await proxy.finish();
  assert.deepEqual(more, []);
  assert.equal(record.api, 'chat');
  assert.equal(record.end, 'complete');
  assert.equal(record.request.model, 'node-chat');
  assert.equal(record.request.stream, true);
  assert.equal(record.response.status, 200);
  assert.equal(record.response.id, seen.id);
  assert.equal(record.counts.token_events, seen.texts.length);
  assert.equal(record.counts.done_markers, 1);
  assert.equal(record.counts.chars, [...seen.texts.join('')].length);
  assert.equal(record.ttft_ms, record.at.first_content_ms);
  assert.ok(record.ttft_ms > 0 && record.ttft_ms <= record.at.last_token_ms);
  assert.equal(record.gaps.token.n, seen.texts.length - 1);
  assert.ok(record.gaps.token.p50_ms >= 20, 'llmock sleeps 25 ms before each event');
}));

test('six streams at once leave a record each', () => withProxy(llmock.url, async (proxy) => {
  const seen = await Promise.all(Array.from({ length: 6 }, () => streamChat(proxy.url, 'node-many')));
  const records = await proxy.finish();
  assert.deepEqual(records.map((r) => r.response.id).sort(), seen.map((s) => s.id).sort());
  assert.ok(records.every((r) => r.end === 'complete' && r.counts.token_events === seen[0].texts.length));
}));

test('models pass without a record', () => withProxy(llmock.url, async (proxy) => {
  const [direct, seen] = [await client(llmock.url).models.list(), await client(proxy.url).models.list()];
  assert.deepEqual(seen.data, direct.data);
  assert.deepEqual(await proxy.finish(), []);
}));

for (const [status, kind] of [[401, OpenAI.AuthenticationError], [404, OpenAI.NotFoundError]]) {
  test(`the server's ${status} passes alike`, () => withProxy(llmock.url, async (proxy) => {
    const headers = { 'x-llmock-force-status': String(status) };
    const errorFrom = async (url) => {
      try {
        await client(url).chat.completions.create(asked(`node-${status}`), { headers });
      } catch (error) {
        return error;
      }
      return assert.fail('no error');
    };
    const [direct, seen] = [await errorFrom(llmock.url), await errorFrom(proxy.url)];
    assert.ok(seen instanceof kind, seen);
    assert.deepEqual([seen.status, seen.error, seen.message], [direct.status, direct.error, direct.message]);
    const [record] = await proxy.finish();
    assert.equal(record.end, 'http_error');
    assert.equal(record.response.status, status);
  }));
}

test('a client that leaves is recorded as gone', () => withProxy(llmock.url, async (proxy) => {
  await llmock.script('node-gone', { type: 'reply', text: 'word '.repeat(400) });
  const leave = new AbortController();
  const stream = await client(proxy.url).chat.completions.create(asked('node-gone'), { signal: leave.signal });
  let events = 0;
  for await (const _ of stream) if (++events === 6) leave.abort();
  const [record] = await proxy.waitForRecords(1);
  assert.equal(record.end, 'client_gone');
  assert.ok(record.counts.token_events >= 5 && record.counts.token_events < 200);
  assert.equal((await proxy.finish()).length, 1);
}));
