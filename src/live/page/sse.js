// Server-sent events out of text that comes in any pieces (WHATWG HTML §9.2.6). `EventSource` cannot send a token.

/** Gives each event to `take` as name and data. */
export class Parser {
  #take;
  #rest = '';
  #name = '';
  #data = [];
  #nextId = null;
  /** The id of the last whole event, which a new connection goes on after. */
  id = null;

  constructor(take) {
    this.#take = take;
  }

  feed(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  #line(line) {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#nextId = value;
    // the rest is comments and fields that mean nothing here
  }

  /** Half an event at the end of a connection is none. */
  reset() {
    this.#rest = this.#name = '';
    this.#data = [];
    this.#nextId = this.id;
  }

  #dispatch() {
    this.id = this.#nextId;
    const [name, data] = [this.#name, this.#data.join('\n')];
    const isEvent = this.#data.length > 0;
    this.#name = '';
    this.#data = [];
    if (isEvent) this.#take(name || 'message', data);
  }
}
