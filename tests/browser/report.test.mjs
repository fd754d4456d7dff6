// The page and the pictures of `dripline report`, in Chromium, of a log that the proxy wrote in front of the simulated server.

import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Store } from '../../src/live/page/store.js';
import { figuresOf } from '../../src/live/page/tiles.js';
import { ENDS } from '../../src/live/page/words.js';
import { collisions, faint, smallest, wide } from './seen.mjs';
import { Log, SHOTS, dripline, launch, open } from './support.mjs';

let browser, log, html, svg;

before(async () => {
  [browser, log] = await Promise.all([launch(), Log.write()]);
  [html, svg] = [log.report('html'), log.report('svg')];
});

after(async () => {
  await browser?.close();
  log?.remove();
});

/** Opens a file, hands it to `look`, and insists that it asked for nothing but itself and said nothing. */
async function look(path, options, seen) {
  const { page, heard, close } = await open(browser, path, options);
  await seen(page);
  assert.deepEqual(heard, [pathToFileURL(path).href]);
  await close();
}

/** Marks of each picture, those counted that stand at one place with another. */
const marks = (page) => page.evaluate(() => [...document.querySelectorAll('.chart')].map((chart) => {
  const all = [...chart.querySelectorAll('.mark')];
  const more = all.map((mark) => Number(mark.querySelector('title').textContent.match(/\(and (\d+) more/)?.[1] ?? 0));
  return all.length + more.reduce((sum, n) => sum + n, 0);
}));

test('every picture has all of its marks, and every table its rows', () => look(html, {}, async (page) => {
  const measured = log.measured();
  assert.ok(measured.length > 12, `${measured.length} streams`);
  const withGaps = measured.filter((record) => record.gaps.token.p99_ms !== null).length;
  assert.deepEqual(await marks(page), [0, withGaps, 0, measured.length, measured.length]);
  const cold = measured.filter((record) => record.load.cold).length;
  assert.ok(cold > 0 && (await page.locator('#pictures figure:nth-child(5) .chart .cold').count()) > 0, 'cold ones are hollow');
  assert.ok((await page.locator('.bar').count()) >= 3);
  assert.ok((await page.locator('.chart .cell').count()) >= 3);
  for (const chart of await page.locator('.chart').all()) {
    const { width, height } = await chart.boundingBox();
    assert.ok(width > 400 && height > 200, `${width} × ${height}`);
    assert.match(await chart.getAttribute('aria-label'), /: \d+/);
  }

  const records = log.records();
  const distinct = (of) => new Set(records.map(of).filter(Boolean)).size;
  assert.equal(await page.locator('#groups tbody tr:not(.cold-row)').count(), distinct((r) => r.request.model));
  assert.equal(await page.locator('#verdicts tbody tr').count(), distinct((r) => r.verdict?.timing));
  assert.equal(await page.locator('#ends table:first-of-type tbody tr').count(), distinct((r) => r.end));
  assert.equal(await page.locator('#waits tbody tr').count(), Math.min(20, records.length));
  assert.ok((await page.locator('#failures tbody tr').count()) >= 2);
}));

test('names from outside are text', () => look(html, {}, async (page) => {
  assert.equal(await page.title(), `${log.path} – dripline report`);
  assert.equal(await page.locator('img, script, b').count(), 0);
  assert.ok((await page.locator('th', { hasText: '</style><img src=' }).count()) > 0, 'it is shown as it came');
}));

test('an id of the page is one that --explain takes', () => look(html, {}, async (page) => {
  const id = await page.locator('#waits code').nth(1).textContent();
  assert.match(dripline('report', log.path, '--explain', id), new RegExp(`^request ${id}`));
}));

for (const dark of [false, true]) {
  const name = dark ? 'dark' : 'light';
  test(`${name}: everything stands out, and no labels collide`, () => look(html, { dark }, async (page) => {
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(paper, dark ? 'rgb(20, 24, 28)' : 'rgb(255, 255, 255)');
    await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
    assert.deepEqual(await page.evaluate(faint), []);
    assert.deepEqual(await page.evaluate(collisions), []);
  }));
}

for (const width of [320, 390, 720, 1000, 1100, 1280]) {
  test(`${width} pixels wide: nothing sticks out, everything can be read`, () => look(html, { width, height: 844 }, async (page) => {
    if (width === 390) await page.screenshot({ path: join(SHOTS, 'phone.png'), fullPage: true });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    assert.deepEqual(await page.evaluate(wide), []);
    assert.deepEqual(await page.evaluate(collisions), []);
    const letters = await page.evaluate(smallest);
    assert.ok(letters >= (width < 390 ? 7 : 8.9), `${letters} px`);
  }));
}

test('in print it is light, whatever the screen is, and has a few pages', () => look(html, { dark: true }, async (page) => {
  const pdf = await page.pdf({ format: 'A4', printBackground: false });
  writeFileSync(join(SHOTS, 'print.pdf'), pdf);
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length;
  assert.ok(pages >= 2 && pages <= 8, `${pages} pages`);
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 718, height: 1016 }); // A4 at 96 pixels an inch, without its margins
  await page.screenshot({ path: join(SHOTS, 'print.png'), fullPage: true });
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, 'rgb(255, 255, 255)');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 718);
  assert.deepEqual(await page.evaluate(faint), []);
}));

test('the sheet of pictures has the same marks', async () => {
  for (const dark of [false, true])
    await look(svg, { dark, width: 1148, height: 1700 }, async (page) => {
      const measured = log.measured().length;
      assert.deepEqual((await marks(page)).slice(3), [measured, measured]);
      await page.screenshot({ path: join(SHOTS, `sheet-${dark ? 'dark' : 'light'}.png`) });
      assert.deepEqual(await page.evaluate(faint), []);
      assert.deepEqual(await page.evaluate(collisions), []);
    });
});

test('rows by something else, and only what was asked for', async () => {
  const path = log.report('html', '--by', 'verdict', '--where', 'verdict=st*');
  await look(path, {}, async (page) => {
    assert.equal(await page.locator('h2').first().textContent(), 'Found over several requests');
    assert.match(await page.locator('.facts').textContent(), /chosen\s*verdict=st\*/);
    const names = await page.locator('#groups tbody tr:not(.cold-row) th').allTextContents();
    assert.ok(names.every((name) => name.trim().startsWith('st')), `${names}`);
  });
});

test('the tiles of the live page say what the report says', () => {
  const path = join(log.folder, 'live.jsonl');
  copyFileSync(log.path, path);
  // an end of each kind
  const some = log.measured()[0];
  for (const [i, end] of ENDS.map(([word]) => word).entries()) appendFileSync(path, `${JSON.stringify({ ...some, id: `end-${i}`, end })}\n`);
  const said = JSON.parse(dripline('report', path, '--json'));
  const records = readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const store = new Store(records.length);
  for (const { id, started_at, request, upstream, end, verdict, load, ttft_ms, gaps, at, hold, counts, stalls } of records)
    store.add({
      id, started_at, ...request, upstream: upstream.name, end, timing: verdict?.timing ?? null, cold: load.cold, ttft_ms, end_ms: at.end_ms, stalls,
      gap_p50_ms: gaps.token.p50_ms, gap_p99_ms: gaps.token.p99_ms, gap_max_ms: gaps.token.max_ms, token_events: counts.token_events, hold_p99_us: hold.p99_us, ticks: [],
    });
  const { ttft50, ttft95, gap99, stalled, failed } = figuresOf(store, store.chosen(() => true));
  const sum = (of) => said.groups.reduce((total, group) => total + of(group), 0);
  assert.deepEqual({ ttft50, ttft95, gap99, stalled, failed }, {
    ttft50: said.warm.ttft.p50_ms, ttft95: said.warm.ttft.p95_ms, gap99: said.warm.gap_p99.p50_ms, stalled: sum((group) => group.stalled), failed: sum((group) => group.errors),
  });
});
