// The live page and those who mean ill: names that would be markup, a token that is to stay secret, what is loaded.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { LivePage, Stage, closeRequest, until } from './live.mjs';
import { launch } from './support.mjs';

const TOKEN = '0123456789abcdef0123456789abcdef';
const HOSTILE = [
  '<img src=x onerror="document.title=\'ran\'"><script>document.title="ran"</script>',
  'right\u202eto left\u0007\u2028',
  `"'&amp;</title><style>*{display:none}</style>`,
  'm'.repeat(10_000),
];

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

test('names from outside are text, wherever they stand', async (t) => {
  const stage = await Stage.open();
  t.after(() => stage.close());
  await stage.askAll(HOSTILE);
  await stage.ask('in the path', '/v1/%3Cimg%20src=x%3E/\u00e9%22onerror=1/chat/completions');
  const live = await LivePage.open(browser, stage.live, { width: 1280 });
  const { page } = live;
  await live.rows(HOSTILE.length + 1);
  const names = await live.column('name');
  assert.ok(names.some((name) => name.startsWith('<img src=x onerror=')), 'it is shown as it came');
  assert.ok(names.every((name) => name.length <= 200 && !/[\u202e\u0007\u2028]/.test(name)), `${names.map((name) => name.slice(0, 40))}`);
  for (const name of names) {
    await page.locator('.space .row').filter({ has: page.locator(`.name:text-is(${JSON.stringify(name)})`) }).first().click();
    await page.waitForSelector('#request .figures');
    await page.click('#request summary');
    await page.waitForSelector('#request pre');
    await closeRequest(page);
  }
  // in a link, too
  await page.goto(`${stage.live}/#model=${encodeURIComponent(HOSTILE[0])}&verdict=<img>&end="><script>&request=<img src=x>`);
  await page.reload();
  await until(async () => ((await live.text('#request')).includes('It cannot be shown') ? null : await live.text('#request')));
  assert.equal(await page.title(), 'browser – dripline');
  assert.equal(await page.locator('img:not(h1 img), body script, body style').count(), 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
  live.heard = live.heard.filter((words) => !/status of 404/.test(words));
  await live.close();
});

test('a token is asked for once, sent as a header, and kept for the tab alone', async (t) => {
  const stage = await Stage.open({ args: ['--admin-token', TOKEN] });
  t.after(() => stage.close());
  await stage.ask('secret-model');
  const live = await LivePage.open(browser, stage.live, { isRefusalFine: true });
  const { page } = live;
  await page.waitForSelector('#token[open]');
  assert.ok(!(await page.content()).includes('secret-model'));
  for (let i = 0; i < 3; i += 1) {
    await page.keyboard.press('Escape');
    await page.waitForTimeout(100);
    assert.ok(await live.$('#token').isVisible(), 'without a token there is nothing to see');
  }
  // no header can have it, so it would be asked for nothing
  await page.fill('#token input', `${TOKEN}\u200b`);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  assert.ok(await live.$('#token').isVisible());
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  await page.fill('#token input', 'not-the-right-one-1234');
  await page.keyboard.press('Enter');
  await until(async () => ((await live.text('#token .problem')).includes('not the token') ? null : 'it says so'));
  await page.fill('#token input', TOKEN);
  await page.keyboard.press('Enter');
  await live.live();
  await live.rows(1);
  await page.reload();
  await live.live();
  assert.deepEqual(await live.context.cookies(), []);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, location.href, document.documentElement.outerHTML]));
  assert.ok(!kept.includes(TOKEN));
  assert.ok(live.asked.every((url) => !url.includes(TOKEN)));
  const other = await LivePage.open(browser, stage.live, { isRefusalFine: true });
  await other.page.waitForSelector('#token[open]');
  await other.close();
  await live.close();
});

test('only what the proxy serves is loaded, and nothing inline would run', async (t) => {
  const stage = await Stage.open();
  t.after(() => stage.close());
  const live = await LivePage.open(browser, stage.live);
  await live.live();
  const blocked = await live.page.evaluate(() => new Promise((done) => {
    const found = [];
    document.addEventListener('securitypolicyviolation', (event) => {
      found.push(event.effectiveDirective);
      if (found.length === 3) done(found);
    });
    const script = document.createElement('script');
    script.textContent = 'document.title = "ran"';
    document.body.append(script);
    document.body.setAttribute('style', 'color: red');
    fetch('http://127.0.0.1:9/').catch(() => {});
    setTimeout(() => done(found), 2000);
  }));
  assert.deepEqual([...blocked].sort(), ['connect-src', 'script-src-elem', 'style-src-attr']);
  assert.equal(await live.page.title(), 'browser – dripline');
  live.heard = live.heard.filter((words) => !/Content.Security.Policy|violates/.test(words));
  await live.close();
});

test('what others made is as they made it', () => {
  const folder = new URL('../../src/live/page/vendor/', import.meta.url);
  const sums = readFileSync(new URL('SHA256SUMS', folder), 'utf8').trim().split('\n');
  assert.equal(sums.length, 3);
  for (const line of sums) {
    const [sum, name] = line.split(/\s+/);
    assert.equal(createHash('sha256').update(readFileSync(new URL(name, folder))).digest('hex'), sum, name);
  }
});
