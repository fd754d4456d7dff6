// The live page: that it shows what happens, filters, sorts, opens and hands out.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { LivePage, Stage, closeRequest, until } from './live.mjs';
import { faint, smallest } from './seen.mjs';
import { SHOTS, launch } from './support.mjs';

const MODELS = ['steady', 'stall', 'whole_body', 'block_buffered', 'timer_flushed', 'steady', 'truncated', 'error_in_200', 'reasoning', 'steady'];

let browser, stage;

before(async () => {
  [browser, stage] = await Promise.all([launch(), Stage.open({ args: ['--timeline'] })]);
});

after(async () => {
  await browser?.close();
  await stage?.close();
});

/** Opens the page with what was asked so far, and hands it over. */
async function look(seen, options) {
  const live = await LivePage.open(browser, stage.live, options);
  await live.live();
  await seen(live, live.page);
  await live.close();
}

test('what happens is shown as it happens', () => look(async (live) => {
  await live.rows(0);
  assert.equal((await live.pixels('#graph canvas', 'steady')).length, 0);
  const asked = stage.askAll(MODELS);
  await until(async () => (Number(await live.text('#tiles .open dd')) >= 5 ? null : 'they are seen to be in flight'));
  await asked;
  await live.rows(MODELS.length);
  await until(async () => ((await live.text('#tiles .open dd')) === '0' ? null : 'none is in flight any more'));
  assert.equal(await live.text('#tiles .requests dd'), String(MODELS.length));
  assert.equal(await live.text('#tiles .failed dd'), '2');
  for (const [place, color, opacity, least] of [
    ['graph', 'steady', 1, 50], ['graph', 'stall', 1, 20], ['drip', 'quiet', 1, 200], ['drip', 'stall', 0.2, 200],
    ['heat', 'accent', 1, 10], ['waits', 'steady', 1, 20], ['flight', 'accent', 0.16, 200], ['hold', 'accent', 0.75, 20],
  ])
    await until(async () => {
      const { length } = await live.pixels(`#${place} canvas`, color, opacity);
      return length >= least ? null : `${length} pixels of ${color} in ${place}`;
    });
  const verdicts = await live.$('#verdicts button').allInnerTexts();
  assert.ok(verdicts.some((text) => /stall_no_catch_up\s+1/.test(text)), `${verdicts}`);
  const ends = await live.$('#ends button').allInnerTexts();
  assert.ok(ends.some((text) => /truncated\s+1/.test(text)) && ends.some((text) => /in_band_error\s+1/.test(text)), `${ends}`);
}));

test('a filter leaves what is wanted, and its link shows the same', async () => {
  let hash;
  await look(async (live, page) => {
    const all = async () => {
      await page.click('#filter [type=reset]');
      await live.rows(MODELS.length);
    };
    await live.rows(MODELS.length);
    await page.keyboard.press('/');
    await page.keyboard.type('stea');
    await live.rows(3);
    assert.deepEqual(new Set(await live.column('name')), new Set(['steady']));
    assert.match(await live.text('#tiles .requests'), new RegExp(`^3\\s+of ${MODELS.length} requests$`));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await live.rows(MODELS.length);
    await page.selectOption('[name=end]', 'truncated');
    await live.rows(1);
    await all();
    await page.selectOption('[name=by]', 'gapMax');
    await page.fill('[name=over]', '900');
    await live.rows(1);
    assert.deepEqual(await live.column('name'), ['stall']);
    await all();
    await page.fill('[name=path]', 'completions');
    await page.fill('[name=upstream]', '127.0.0.1');
    await live.rows(MODELS.length);
    await page.fill('[name=upstream]', 'elsewhere');
    await live.rows(0);
    await all();
    await page.click('#verdicts button:has-text("stall_no_catch_up")');
    await live.rows(1);
    hash = await page.evaluate(() => location.hash);
    assert.equal(hash, '#verdict=stall_no_catch_up');
  });
  await look((live) => live.rows(1), { hash });
});

test('rows are sorted by a column, up and down', () => look(async (live, page) => {
  await live.rows(MODELS.length);
  const waits = async () => (await live.column('figure')).map((text) => Number.parseFloat(text) * (/ s$/.test(text) ? 1000 : 1));
  await page.click('.head button:has-text("TTFT")');
  const down = await waits();
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  await page.click('.head button:has-text("TTFT")');
  const up = await waits();
  assert.ok(up[0] < down[0]);
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  await page.click('.head button:has-text("model")');
  const names = await live.column('name');
  assert.deepEqual(names, [...names].sort());
}));

test('a click on a mark opens its request, with all that is known', () => look(async (live, page) => {
  await live.rows(MODELS.length);
  const [[x, y]] = (await live.pixels('#graph canvas', 'stall')).slice(10);
  const box = await live.$('#graph canvas').boundingBox();
  await page.mouse.move(box.x + x, box.y + y);
  assert.match(await live.text('#graph .readout'), /^stall · TTFT .* · gap p99 1\.0\d s · stall_no_catch_up/);
  await page.mouse.click(box.x + x, box.y + y);
  await page.waitForSelector('#request .findings');
  const text = await live.text('#request');
  for (const part of ['stall_no_catch_up', 'No output for 1.0', 'To try', 'header wait', 'streaming', 'first token', '/v1/chat/completions', '200'])
    assert.ok(text.includes(part), `${part} in ${text}`);
  assert.match(await page.evaluate(() => location.hash), /^#request=[0-9A-Z]{26}$/);
  assert.ok((await live.pixels('#request canvas', 'ink')).length > 100, 'its chunks');
  await page.screenshot({ path: join(SHOTS, 'live-request.png') });
  assert.deepEqual(await page.evaluate(faint), []);

  await live.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.click('button:has-text("Copy JSON")');
  const id = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('request'));
  await until(async () => {
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    return copied.startsWith('{') && JSON.parse(copied).id === id ? null : `copied is ${copied.slice(0, 80)}`;
  });
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Download trace")')]);
  assert.equal(download.suggestedFilename(), `dripline-${id}.trace.json`);
  const trace = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.ok(trace.traceEvents.some((event) => event.name === 'stall'));

  const title = await live.text('#request h2');
  // the one above: of requests that began in the same millisecond a stall, which ends late, is the last
  await page.keyboard.press('ArrowLeft');
  await until(async () => ((await live.text('#request h2')) !== title ? null : 'the next one is shown'));
  // the next one is open before the dialog tells that it was closed
  await page.evaluate(() => {
    document.querySelector('#request').close();
    document.querySelector('.space .row').click();
  });
  await page.waitForSelector('#request .figures');
  assert.match(await page.evaluate(() => location.hash), /request=/);
  await closeRequest(page);
  assert.equal(await page.evaluate(() => location.hash), '');
}));

test('all of it can be reached by keys', () => look(async (live, page) => {
  await live.rows(MODELS.length);
  await page.keyboard.press('?');
  assert.ok(await live.$('#keys').isVisible());
  await page.keyboard.press('Escape');
  for (const [key, place] of [['g', 'graph'], ['l', 'drip']]) {
    await page.keyboard.press(key);
    await page.keyboard.press('ArrowRight');
    assert.match(await live.text(`#${place} .readout`), /TTFT/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#request .figures');
    await closeRequest(page);
  }
  await page.keyboard.press('t');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const chosen = await live.text('.row.chosen .name');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#request .figures');
  assert.equal(await live.text('#request h2'), chosen);
  // what had the focus is replaced each time, and keys still work
  const step = async (act) => {
    const before = await page.evaluate(() => location.hash);
    await act();
    await until(async () => ((await page.evaluate(() => location.hash)) === before ? 'another one is shown' : null));
    await page.waitForSelector('#request .figures');
  };
  await step(() => page.keyboard.press('ArrowRight'));
  await step(() => page.click('#request [aria-label="The request above"]'));
  await step(() => page.keyboard.press('ArrowRight'));
  // an address without it closes it
  await page.evaluate(() => { location.hash = '#model=stea'; });
  await page.waitForSelector('#request', { state: 'hidden' });
  await until(async () => ((await page.evaluate(() => location.hash)) === '#model=stea' ? null : 'the address stays'));
  await page.keyboard.press('Escape');
  await live.rows(MODELS.length);
  await page.focus('.head button:has-text("TTFT")');
  assert.equal(await page.evaluate(() => document.activeElement.tabIndex), 0);
  await page.keyboard.press('Enter');
  await page.waitForSelector('[aria-sort=descending]:has-text("TTFT")');
  // whoever is read the rows aloud hears the chosen one, wherever it is now
  await until(async () => ((await page.evaluate(() => {
    const id = document.querySelector('.rows').getAttribute('aria-activedescendant');
    return document.querySelectorAll(`#${id}.chosen`).length;
  })) === 1 ? null : 'the chosen row is named'));
  const outline = await page.evaluate(() => {
    document.querySelector('#pause').focus({ focusVisible: true });
    return getComputedStyle(document.activeElement).outlineStyle;
  });
  assert.equal(outline, 'solid');
}));

for (const dark of [false, true]) {
  const name = dark ? 'dark' : 'light';
  test(`${name}: a request that hangs stands out, and nothing sticks out of a phone`, async (t) => {
    const hanging = await Stage.open({ hangs: true });
    t.after(() => hanging.close());
    const live = await LivePage.open(browser, hanging.live, { dark, width: 360, height: 740 });
    await live.live();
    hanging.ask(`some-model-${'long'.repeat(40)}`);
    await live.page.waitForSelector('#running tr.hangs');
    assert.deepEqual(await live.page.evaluate(faint), []);
    assert.equal(await live.page.evaluate(() => document.documentElement.scrollWidth), 360);
    await live.page.click('#running tbody tr');
    await live.page.waitForSelector('#request .hangs');
    assert.deepEqual(await live.page.evaluate(faint), []);
    await live.page.screenshot({ path: join(SHOTS, `live-hangs-phone-${name}.png`) });
    await live.close();
  });

  test(`${name}: everything stands out`, () => look(async (live, page) => {
    await live.rows(MODELS.length);
    await page.waitForTimeout(600);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.panel')).backgroundColor), dark ? 'rgb(20, 24, 28)' : 'rgb(255, 255, 255)');
    await page.screenshot({ path: join(SHOTS, `live-${name}.png`), fullPage: true });
    assert.deepEqual(await page.evaluate(faint), []);
    // the button goes round: light, then dark
    await page.click('#theme');
    await page.click('#theme');
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.panel')).backgroundColor), 'rgb(20, 24, 28)');
    await page.reload();
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.panel')).backgroundColor), 'rgb(20, 24, 28)');
    // paper is white
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(27, 31, 35)');
  }, { dark }));
}

for (const width of [320, 390, 720, 1000, 1280]) {
  test(`${width} pixels wide: nothing sticks out`, () => look(async (live, page) => {
    await live.rows(MODELS.length);
    if (width === 390) await page.screenshot({ path: join(SHOTS, 'live-phone.png'), fullPage: true });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    assert.ok((await page.evaluate(smallest)) >= 11);
    await page.click('.space .row');
    await page.waitForSelector('#request .figures');
    assert.equal(await page.evaluate(() => document.querySelector('#request .body').scrollWidth <= document.querySelector('#request .body').clientWidth), true);
  }, { width, height: 844 }));
}
