// Which line of the drip each request is on: the lowest that is free when it comes, and it stays there.

/** A line is free again so long after the end of a request: its end is to be seen. */
const BREATH_MS = 400;

export class Lanes {
  #lanes = new Map();

  /** Lines that are in use now. */
  used = 0;

  /** The line of each of `spans` (`id`, `from`, `to`; by `from`), -1 where all of `most` are taken. */
  place(spans, most) {
    const until = [];
    const lanes = new Map();
    const take = ({ id, to }, lane) => {
      lanes.set(id, lane);
      until[lane] = Math.max(until[lane] ?? -Infinity, to + BREATH_MS);
    };
    const late = [];
    for (const span of spans) {
      const lane = this.#lanes.get(span.id) ?? -1;
      if (lane >= 0 && lane < most) take(span, lane);
      else late.push(span);
    }
    for (const span of late) {
      let lane = 0;
      while (lane < most && (until[lane] ?? -Infinity) > span.from) lane += 1;
      if (lane < most) take(span, lane);
      else lanes.set(span.id, -1);
    }
    this.#lanes = lanes;
    this.used = until.length;
    return lanes;
  }
}
