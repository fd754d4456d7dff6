// What the Node tests start: llmock (the Python part of ./requirements.txt) and dripline, each on a free port.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import OpenAI from 'openai';

// Planted in every request; `Proxy.finish` looks for them in everything that dripline wrote.
export const API_KEY = 'sk-planted-9d20b6c4';
export const SECRET_WORD = 'xylograph';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../..');
const READY_WITHIN_MS = 30_000;
const CHUNK_DELAY_MS = 25;
export const QUICK_CHUNK_DELAY_MS = 12; // where a test asks for many streams and little of their pace

export const client = (url) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: API_KEY, maxRetries: 0, timeout: READY_WITHIN_MS });

/** Asks `condition` again and again until it gives something true, and returns that. */
export async function until(condition, withinMs, what) {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    const found = await condition();
    if (found) return found;
    await sleep(20);
  }
  throw new Error(`${what()}: not within ${withinMs} ms`);
}

class Process {
  static async start(program, args, ready) {
    if (!existsSync(program)) throw new Error(`missing: ${program} (\`make setup build\`)`);
    const self = new Process();
    self.output = '';
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DRIPLINE_')));
    self.child = spawn(program, args.map(String), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    self.ended = once(self.child, 'close');
    for (const stream of [self.child.stdout, self.child.stderr])
      stream.on('data', (bytes) => { self.output += bytes; });
    self.ready = await until(
      () => self.output.match(ready) ?? (self.child.exitCode !== null && Promise.reject(new Error(self.output))),
      READY_WITHIN_MS,
      () => `${program} to be ready: ${self.output}`,
    );
    return self;
  }

  /** Asks it to end, waits, and returns its exit code. */
  async stop() {
    if (this.child.exitCode === null) this.child.kill('SIGTERM');
    const [code] = await this.ended;
    return code;
  }
}

/** The PyPI package `llmock`: an OpenAI-style server that echoes the prompt, one word per event. */
export class Llmock {
  static command = ['llmock', 'serve', '--port', 0, '--response-style', 'echo', '--stream-chunk-delay-ms', CHUNK_DELAY_MS];

  static async start() {
    const self = new this();
    const [program, ...args] = this.command;
    self.process = await Process.start(
      join(ROOT, '.venv/bin', program), args, /running on http:\/\/127\.0\.0\.1:(\d+)/);
    self.url = `http://127.0.0.1:${self.process.ready[1]}`;
    return self;
  }

  /** Scripts the requests that name `model`; each test uses a name of its own. */
  async script(model, behavior) {
    const body = JSON.stringify({ behaviors: [{ ...behavior, match: { model }, times: null }] });
    const answer = await fetch(`${this.url}/_llmock/scenario`, { method: 'POST', body });
    if (!answer.ok) throw new Error(await answer.text());
  }

  stop() { return this.process.stop(); }
}

/** The same with what `altered.py` adds: compressed answers and errors inside a stream. */
export class AlteredLlmock extends Llmock {
  static command = ['python', join(ROOT, 'tests/peers/altered.py'), QUICK_CHUNK_DELAY_MS];
}

/** `dripline proxy` in front of the server at `upstream`. */
export class Proxy {
  static async start(upstream, ...options) {
    const self = new Proxy();
    self.folder = mkdtempSync(join(tmpdir(), 'dripline-peers-'));
    self.log = join(self.folder, 'dripline.jsonl');
    self.process = await Process.start(
      resolve(ROOT, process.env.DRIPLINE_BIN ?? 'target/debug/dripline'),
      ['proxy', '--upstream', upstream, '--listen', '127.0.0.1:0', '--admin', 'off', '--log', self.log, ...options],
      /listening on +http:\/\/127\.0\.0\.1:(\d+)/,
    );
    self.url = `http://127.0.0.1:${self.process.ready[1]}`;
    return self;
  }

  records() {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
  }

  waitForRecords(n) {
    return until(() => this.records().length >= n && this.records(), 5000, () => `${n} records`);
  }

  /** Ends the proxy the polite way and returns all that it recorded: an ended proxy owes no record. */
  async finish() {
    const code = await this.process.stop();
    if (code !== 0) throw new Error(`SIGTERM must end in exit code 0, not ${code}\n${this.process.output}`);
    const records = this.records();
    const written = this.process.output + readFileSync(this.log, 'utf8');
    for (const secret of [API_KEY, SECRET_WORD])
      if (written.includes(secret)) throw new Error(`${secret} was written by dripline`);
    return records;
  }

  async stop() {
    await this.process.stop();
    rmSync(this.folder, { recursive: true });
  }
}

/** Runs `use` with a proxy in front of `upstream`, which is stopped whatever happens. */
export async function withProxy(upstream, use, ...options) {
  const proxy = await Proxy.start(upstream, ...options);
  try {
    await use(proxy);
  } finally {
    await proxy.stop();
  }
}
