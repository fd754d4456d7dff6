// The parts that show what has ended: drawn one after the other, a little in each frame, so that nothing holds up the next.

// Shown anew so often at most: the machine may be the one that is measured.
const EVERY_MS = 300;
// After a view that takes long comes a rest of so many times that.
const REST = 8;
const FRAME_MS = 10;

export class Parts {
  #parts;
  #view;
  #isWanted = true;
  #waiting = [];
  #current = null;
  #at = -Infinity;
  #took = 0;

  /** Each of `parts` shows what `view()` returns. */
  constructor(parts, view) {
    this.#parts = parts;
    this.#view = view;
  }

  /** Something has changed. */
  want() {
    this.#isWanted = true;
  }

  /** Does what there is time for in a frame that began then. */
  work(begun) {
    if (!this.#waiting.length && this.#isWanted && begun - this.#at > Math.max(EVERY_MS, REST * this.#took)) {
      [this.#at, this.#took, this.#isWanted] = [begun, 0, false];
      this.#current = this.#view();
      this.#waiting = [...this.#parts];
    }
    const from = performance.now();
    while (this.#waiting.length && performance.now() - begun < FRAME_MS) this.#waiting.shift().show(this.#current);
    this.#took += performance.now() - from;
  }
}
