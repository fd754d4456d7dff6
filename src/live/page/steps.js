// Round lengths of time, for the axes of all pictures.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 4, 8, 12].map((n) => n * HOUR),
];

/** The shortest of them, ms, of which at most `most` fill `length`; whole days where none does. */
export const stepFor = (length, most) => STEPS.find((step) => length / step <= most) ?? Math.ceil(length / DAY / most) * DAY;

/** The round times of day here that lie between two, ms of the epoch. */
export function timesOfDay(from, to, step) {
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const times = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) times.push(at);
  return times;
}

/** The time of day here, as exact as that step wants it. */
export function timeOfDay(at, step = SECOND) {
  const date = new Date(at);
  const two = (n) => String(n).padStart(2, '0');
  if (step >= DAY) return `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step >= MINUTE) return minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return step < SECOND ? `${seconds}.${Math.floor(date.getMilliseconds() / 100)}` : seconds;
}
