// The README's picture of the page: `dripline demo --keep`, some more requests to it, and the page while they run.
//
//   node tests/browser/screenshot.mjs BINARY FILE

import { spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { LivePage } from './live.mjs';
import { launch } from './support.mjs';

const [binary, file] = process.argv.slice(2);
const WIDTH = 1360;
const READY_WITHIN_MS = 60_000;
const MOST_BYTES = 200_000;
// Waves of requests, each so long after the one before: as an afternoon goes, only faster.
const WAVES = [
  [0, ['steady', 'steady', 'reasoning', 'stall', 'block_buffered']],
  [1300, ['steady', 'timer_flushed', 'slow_first_token', 'steady']],
  [1300, ['whole_body', 'steady', 'stall', 'reasoning', 'steady']],
  [1500, ['steady', 'timer_flushed', 'steady', 'truncated', 'steady']],
  [1400, ['stall', 'steady', 'block_buffered', 'slow_first_token', 'reasoning', 'steady']],
];
// Late enough that the last stall is on.
const THEN_MS = 650;

const demo = spawn(binary, ['demo', '--keep'], { stdio: ['ignore', 'pipe', 'inherit'] });
let told = '';
demo.stdout.on('data', (bytes) => { told += bytes; });
const deadline = performance.now() + READY_WITHIN_MS;
while (!told.includes('Still up')) {
  if (demo.exitCode !== null || performance.now() > deadline) throw new Error(`the demo is not up: ${told}`);
  await sleep(50);
}
await sleep(100);
const live = told.match(/see it live at (http:\/\/[\d.]+:\d+)/)[1];
const proxy = told.match(/OPENAI_BASE_URL=(http:\/\/[\d.]+:\d+\/v1)/)[1];
const ask = (model) => fetch(`${proxy}/chat/completions`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
}).then((answer) => answer.text()).catch(() => {});

const browser = await launch();
const page = await LivePage.open(browser, live, { width: WIDTH, height: 1200 });
await page.live();
for (const [wait, models] of WAVES) {
  await sleep(wait);
  for (const model of models) {
    ask(model);
    await sleep(90);
  }
}
await page.page.selectOption('#window', '10');
await sleep(THEN_MS);
mkdirSync(dirname(file), { recursive: true });
const { y, height } = await page.$('#drip').boundingBox();
await page.page.screenshot({ path: file, clip: { x: 0, y: 0, width: WIDTH, height: Math.ceil(y + height) + 14 } });
await page.close();
await browser.close();
demo.kill('SIGTERM');
const { size } = statSync(file);
if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, over ${MOST_BYTES}`);
console.log(`${file}: ${Math.round(size / 1000)} kB`);
