// What the browser tests stand on: a log that the real binary wrote, the pages of it, and Debian's Chromium.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../..');
const BINARY = resolve(ROOT, process.env.DRIPLINE_BIN ?? 'target/debug/dripline');
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DRIPLINE_')));
const READY_WITHIN_MS = 30_000;

/** Pictures of what was tested, to be looked at; not in git. */
export const SHOTS = join(ROOT, 'tests/browser/shots');

/** Runs `dripline` to its end, which must be a good one, and returns what it printed. */
export function dripline(...args) {
  const ran = spawnSync(BINARY, args, { env: ENV, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`dripline ${args.join(' ')}: ${ran.error ?? ran.stderr}`);
  return ran.stdout;
}

/** `dripline` that stays up: `url` is where it listens, `live` where its page is. */
export class Server {
  static async start(...args) {
    const self = new Server();
    let output = '';
    self.child = spawn(BINARY, args, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
    self.ended = once(self.child, 'close');
    for (const stream of [self.child.stdout, self.child.stderr]) stream.on('data', (bytes) => { output += bytes; });
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(self.url = output.match(/(?:server on|listening on)\s+(http:\/\/[\d.]+:\d+)/)?.[1]) || (args[0] === 'proxy' && !output.includes('Ctrl-C'))) {
      if (self.child.exitCode !== null || performance.now() > deadline) throw new Error(`dripline ${args.join(' ')}: ${output}`);
      await sleep(20);
    }
    self.live = output.match(/live\s+(http:\/\/[\d.]+:\d+)/)?.[1];
    return self;
  }

  async stop() {
    if (this.child.exitCode === null) this.child.kill('SIGTERM');
    await this.ended;
  }
}

async function ask(url, model) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] });
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    await answer.text();
  } catch {
    // a stream that is cut in the middle, as some of them are
  }
}

// Waves of requests to the simulated server's scenarios: few, then many at once, after a pause, so that some are cold.
const WAVES = [
  ['steady', 'stall'],
  ['steady', 'steady', 'whole_body', 'block_buffered', 'timer_flushed', 'slow_first_token', 'steady', 'reasoning'],
  ['steady', 'truncated', 'error_in_200', 'steady', 'stall', 'gzip_unflushed', 'tool_call'],
];
const COLD_AFTER_MS = 1000;

// Names that would be markup, steer a terminal, or run on and on.
const HOSTILE = [
  '</style><img src="http://127.0.0.1:9/x" onerror="document.title=1"><script>console.log("ran")</script>',
  '\u001b[2J\u202e"\'&amp;<b>',
  'm'.repeat(5000),
];

/** A folder with the log of the proxy in front of the simulated server, and some records with hostile names. */
export class Log {
  static async write() {
    const self = new Log();
    self.folder = mkdtempSync(join(tmpdir(), 'dripline-browser-'));
    self.path = join(self.folder, 'dripline.jsonl');
    const server = await Server.start('simulate', '--listen', '127.0.0.1:0');
    const proxy = await Server.start('proxy', '--upstream', server.url, '--listen', '127.0.0.1:0', '--log', self.path,
      '--timeline', '--cold-after', `${COLD_AFTER_MS}ms`);
    for (const wave of WAVES) {
      await Promise.all(wave.map((model) => ask(proxy.url, model)));
      await sleep(COLD_AFTER_MS + 200);
    }
    await proxy.stop();
    await server.stop();
    for (const [i, model] of HOSTILE.entries()) {
      const record = structuredClone(self.records()[i]);
      record.id = `hostile-${i}`;
      record.request.model = model;
      record.verdict.findings = [{ code: 'constant_latency', where: 'upstream', at_ms: null, sentence: model, hint: model }];
      appendFileSync(self.path, `${JSON.stringify(record)}\n`);
    }
    return self;
  }

  records() {
    return readFileSync(this.path, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  /** Streams that came whole: the ones that pictures are of. */
  measured() {
    return this.records().filter((record) => record.end === 'complete' && record.verdict && record.ttft_ms !== null);
  }

  /** Writes a form of the report beside the log, and returns its path. */
  report(form, ...args) {
    const path = join(this.folder, `report.${form}`);
    const told = dripline('report', this.path, `--${form}`, path, ...args);
    if (!/^\S+report\.\w+: \d+ records, [\d.]+ KiB\n$/.test(told)) throw new Error(told);
    return path;
  }

  remove() { rmSync(this.folder, { recursive: true }); }
}

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Debian's Chromium. */
export async function launch() {
  mkdirSync(SHOTS, { recursive: true });
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS });
}

/** Opens a file without a network. `heard` collects what the page says and asks for, which should be itself alone. */
export async function open(browser, path, { width = 1280, height = 900, dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    offline: true,
  });
  const page = await context.newPage();
  const heard = [];
  page.on('console', (message) => heard.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => heard.push(`error: ${error}`));
  page.on('request', (request) => heard.push(request.url()));
  await page.goto(`file://${path}`);
  return { page, heard, close: () => context.close() };
}
