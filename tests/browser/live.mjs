// What the tests of the live page stand on: a real proxy in front of the simulated server, and its page in Chromium.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server } from './support.mjs';

// Tokens at 20 ms, then a pause that outlasts every test.
const HANGS = 'steps = [{ wait = "80ms" }, { write = "role" }, { write = "word", times = 20, every = "20ms" }, { wait = "600s" }, { write = "done" }]';
// Over at once, for many.
const QUICK = 'steps = [{ wait = "1ms..30ms" }, { write = "role" }, { write = "word", times = 12, every = "1ms..2ms" }, { each = ["finish", "usage", "done"] }]';

export const PATIENCE_MS = 20_000;

/** Seconds of a duration as the page writes it. */
export const seconds = (text) => Number.parseFloat(text) * (/ ms$/.test(text) ? 0.001 : 1);

/** Closes the request that is open: its dialog leaves the address a task later. */
export async function closeRequest(page) {
  await page.keyboard.press('Escape');
  await until(async () => (/request=/.test(await page.evaluate(() => location.hash)) ? 'the address names it still' : null));
}

/** Asks until it is so; `look` returns what is wrong, or nothing. */
export async function until(look, patience = PATIENCE_MS) {
  const deadline = performance.now() + patience;
  for (;;) {
    const wrong = await look();
    if (wrong == null) return; // an empty text is what is wrong, too
    if (performance.now() > deadline) assert.fail(wrong);
    await sleep(50);
  }
}

/** Simulated server and proxy. */
export class Stage {
  static async open({ hangs = false, script: text = hangs ? HANGS : QUICK, args = [] } = {}) {
    const self = new Stage();
    self.folder = mkdtempSync(join(tmpdir(), 'dripline-live-'));
    const script = join(self.folder, 'script.toml');
    writeFileSync(script, text);
    self.server = await Server.start('simulate', '--listen', '127.0.0.1:0', '--scenario', script);
    self.args = args;
    self.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    await self.start('127.0.0.1:0', '127.0.0.1:0');
    return self;
  }

  async start(listen, admin) {
    this.proxy = await Server.start('proxy', '--upstream', this.server.url, '--listen', listen, '--admin', admin, '--log', 'off', '--quiet',
      '--instance', 'browser', '--drain', '1s', ...this.args);
    this.live = this.proxy.live;
  }

  /** The proxy ends, and another begins in its place. */
  async restart(meanwhile) {
    const [listen, admin] = [this.proxy.url, this.proxy.live].map((url) => new URL(url).host);
    await this.proxy.stop();
    await meanwhile?.();
    this.agent.destroy();
    await this.start(listen, admin);
  }

  /** One request, read to its end. */
  ask(model, path = '/v1/chat/completions') {
    return new Promise((done) => {
      const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] });
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      const request = http.request(this.proxy.url + path, { method: 'POST', agent: this.agent, headers }, (answer) => {
        answer.resume().on('end', done).on('error', done).on('close', done);
      });
      // streams that are cut in the middle are among them
      request.on('error', done);
      request.end(body);
      this.last = request;
    });
  }

  askAll(models) {
    return Promise.all(models.map((model) => this.ask(model)));
  }

  async many(n, model) {
    let i = 0;
    const worker = async () => {
      while (i < n) await this.ask(model(i++));
    };
    await Promise.all(Array.from({ length: 48 }, worker));
  }

  async close() {
    this.agent.destroy();
    await this.proxy.stop();
    await this.server.stop();
    rmSync(this.folder, { recursive: true });
  }
}

/** A way to the page on which bytes can be held up, as on a network that is gone but has not said so. */
export class Wire {
  #pairs = new Set();
  #isPaused = false;

  static async to(url) {
    const self = new Wire();
    const { hostname, port } = new URL(url);
    self.server = net.createServer((here) => {
      const there = net.connect(port, hostname);
      for (const [from, to] of [[here, there], [there, here]]) {
        from.on('data', (bytes) => to.write(bytes)).on('error', () => {}).on('close', () => to.destroy());
        self.#pairs.add(from);
        if (self.#isPaused) from.pause();
      }
    });
    await once(self.server.listen(0, '127.0.0.1'), 'listening');
    self.url = `http://127.0.0.1:${self.server.address().port}`;
    return self;
  }

  pause() {
    this.#isPaused = true;
    for (const socket of this.#pairs) socket.pause();
  }

  resume() {
    this.#isPaused = false;
    for (const socket of this.#pairs) socket.resume();
  }

  close() {
    for (const socket of this.#pairs) socket.destroy();
    this.server.close();
  }
}

/** The page in a browser of its own. `heard` is what it says and what it asks for elsewhere: nothing, if all is well. */
export class LivePage {
  static async open(browser, live, { width = 1440, height = 900, dark = false, hash = '', context, isRefusalFine = false } = {}) {
    const self = new LivePage();
    self.context = context ?? await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true });
    self.page = await self.context.newPage();
    self.heard = [];
    self.asked = [];
    // the browser itself tells of answers that are errors, and of connections that fail
    const isFine = (text) => self.isLossFine && /ERR_(CONNECTION|INCOMPLETE|EMPTY|INTERNET)/.test(text) || isRefusalFine && text.includes('status of 401');
    self.page.on('console', (message) => { if (!isFine(message.text())) self.heard.push(`console: ${message.text()}`); });
    self.page.on('pageerror', (error) => self.heard.push(`error: ${error.stack}`));
    self.page.on('request', (request) => {
      self.asked.push(request.url());
      if (!request.url().startsWith(`${live}/`) && !request.url().startsWith('blob:')) self.heard.push(request.url());
    });
    await self.page.goto(`${live}/${hash}`);
    return self;
  }

  $(selector) { return this.page.locator(selector); }

  text(selector) { return this.page.locator(selector).first().innerText(); }

  live() { return until(async () => ((await this.text('#state')) === 'live' ? null : `it is ${await this.text('#state')}`)); }

  /** Waits until so many requests are in the table. */
  rows(n) {
    return until(async () => {
      const told = await this.text('#row-count');
      return told.split(/[;\s]/)[0] === (n ? n.toLocaleString('en-US') : 'none') ? null : `${told} instead of ${n}`;
    });
  }

  /** Texts of the rows that are seen: the cells of one column. */
  column(name) {
    return this.page.evaluate((kind) => [...document.querySelectorAll('.space .row:not([hidden])')]
      .sort((a, b) => a.dataset.index - b.dataset.index).map((row) => row.querySelector(`.${kind}`).textContent), name);
  }

  /** Places of the canvas that have that colour of the style, with about that opacity. */
  pixels(canvas, color, opacity = 1) {
    return this.page.evaluate(([selector, name, wanted]) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = `var(--${name})`;
      const rgb = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
      probe.remove();
      const canvas = document.querySelector(selector);
      const { width, height } = canvas;
      const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, width, height);
      // where it lets something through a colour is kept less exactly
      const off = 4 / wanted;
      const places = [];
      for (let i = 0; i < data.length; i += 4)
        if (Math.abs(data[i + 3] - 255 * wanted) < 4 && rgb.every((value, channel) => Math.abs(data[i + channel] - value) <= off))
          places.push([(i / 4) % width, Math.floor(i / 4 / width)]);
      return places;
    }, [canvas, color, opacity]);
  }

  async close() {
    assert.deepEqual(this.heard, []);
    await this.context.close();
  }
}
