// The live page where it cannot know: what it says of requests while the proxy is away, is silent, or has begun anew.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { LivePage, Stage, Wire, seconds, until } from './live.mjs';
import { launch } from './support.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

test('what is not known while the proxy is away is not claimed', async (t) => {
  const stage = await Stage.open({ hangs: true });
  t.after(() => stage.close());
  const live = await LivePage.open(browser, stage.live);
  live.isLossFine = true;
  await live.live();
  const asked = stage.ask('some-model');
  await live.page.click('#running tbody tr');
  await live.page.waitForSelector('#request .running-now');
  await stage.restart(async () => {
    await until(async () => ((await live.text('#state')).startsWith('lost') ? null : await live.text('#state')));
    await until(async () => ((await live.text('#tiles .open dd')) === '–' ? null : `in flight: ${await live.text('#tiles .open dd')}`));
    await until(async () => (/not known/.test(await live.text('#running .empty')) ? null : await live.text('#running .empty')));
    // how it ended may have been told, and the record not
    await until(async () => (/not known|cannot be shown/.test(await live.text('#request')) ? null : await live.text('#request')));
  });
  await asked;
  // the process that had it is gone, and its record with it
  await until(async () => ((await live.text('#request')).includes('It cannot be shown') ? null : await live.text('#request')));
  await until(async () => ((await live.text('#tiles .open dd')) === '0' ? null : 'none is in flight'));
  live.heard = live.heard.filter((words) => !/status of 404/.test(words));
  await live.close();
});

test('before it is connected the page claims nothing', async (t) => {
  const stage = await Stage.open();
  t.after(() => stage.close());
  const context = await browser.newContext();
  let letGo;
  const held = new Promise((done) => { letGo = done; });
  await context.route('**/api/events', async (route) => {
    await held;
    await route.continue();
  });
  const live = await LivePage.open(browser, stage.live, { context });
  await until(async () => ((await live.text('#state')) === 'connecting' ? null : `it is ${await live.text('#state')}`));
  const requests = async (n) => until(async () => ((await live.text('#tiles .requests dd')) === n ? null : `${await live.text('#tiles .requests dd')} requests`));
  await requests('–');
  assert.ok(!(await live.$('#graph .empty').isVisible()), 'whether something has come is not known yet');
  letGo();
  await live.live();
  await until(async () => ((await live.text('#graph .empty')).startsWith('Nothing has come') ? null : 'now it is known'));
  await requests('0');
  await live.close();
});

test('a connection that brings nothing is no stream that hangs', async (t) => {
  const stage = await Stage.open({ script: 'steps = [{ write = "role" }, { write = "word", times = 3000, every = "20ms" }, { write = "done" }]' });
  t.after(() => stage.close());
  const wire = await Wire.to(stage.live);
  t.after(() => wire.close());
  const live = await LivePage.open(browser, wire.url);
  live.isLossFine = true;
  await live.live();
  stage.ask('some-model');
  await until(async () => ((await live.text('#running tbody')).includes('the next chunk') ? null : 'it streams'));
  wire.pause();
  const begun = performance.now();
  while (!(await live.text('#state')).startsWith('lost')) {
    assert.ok(performance.now() - begun < 10_000, 'events come four times a second, and none came for ten');
    // so long at most as it takes to see that nothing comes, and a stream may really stand still on a busy machine
    const silences = await live.page.evaluate(() => [...document.querySelectorAll('#running td.silence')].map((cell) => cell.textContent));
    for (const silence of silences) assert.ok(seconds(silence) < 2, silence);
    await sleep(100);
  }
  wire.resume();
  await live.live();
  await live.close();
});

test('a link to a request that runs shows it, and then how it ended', async (t) => {
  const stage = await Stage.open({ hangs: true });
  t.after(() => stage.close());
  const live = await LivePage.open(browser, stage.live);
  await live.live();
  const asked = stage.ask('some-model');
  await live.page.click('#running tbody tr');
  await live.page.waitForSelector('#request .running-now');
  await live.page.reload();
  await until(async () => (/Running for .*21 events/.test(await live.text('#request')) ? null : await live.text('#request')));
  stage.last.destroy();
  await asked;
  await live.page.waitForSelector('#request .figures');
  live.heard = live.heard.filter((words) => !/status of 404/.test(words));
  await live.close();
});

test('a span of time goes on where nothing happens', async (t) => {
  const stage = await Stage.open();
  t.after(() => stage.close());
  const live = await LivePage.open(browser, stage.live, { hash: '#span=4' });
  await live.live();
  await stage.ask('a');
  await live.rows(1);
  await live.rows(0);
  await live.close();
});

test('those that this page had to let go are told', async (t) => {
  const stage = await Stage.open({ args: ['--admin-recent', '5'] });
  t.after(() => stage.close());
  await stage.askAll(['a', 'b', 'c', 'd', 'e', 'f']);
  const live = await LivePage.open(browser, stage.live);
  await live.rows(5);
  await stage.askAll(['g', 'h', 'i']);
  await until(async () => ((await live.text('#row-count')) === '5; 4 before are no longer kept' ? null : await live.text('#row-count')));
  await live.page.reload();
  await until(async () => ((await live.text('#row-count')) === '5; 4 before are no longer kept' ? null : await live.text('#row-count')));
  await live.close();
});

test('an event that cannot be read costs no connection', async (t) => {
  const stage = await Stage.open();
  t.after(() => stage.close());
  const live = await LivePage.open(browser, stage.live);
  await live.live();
  // a browser has six for one server
  await live.page.evaluate(() => {
    const { parse } = JSON;
    let left = 8;
    JSON.parse = (text) => {
      if (left > 0 && text.includes('"ttft_ms"')) throw new Error(`unreadable, ${left -= 1} to go`);
      return parse(text);
    };
  });
  for (let i = 0; i < 12; i += 1) {
    await stage.ask(`m${i}`);
    await sleep(150);
  }
  await until(async () => (/^\d/.test(await live.text('#row-count')) ? null : `${await live.text('#state')}, ${await live.text('#row-count')} rows`), 35_000);
  await live.close();
});
