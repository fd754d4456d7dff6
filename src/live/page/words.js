// The record's words: how each verdict is drawn and what it means, and what each end means. Shapes, colours and meanings are
// those of the report's pictures; tests/page.rs keeps them equal.

/** In the order of the record: word, colour, outline around 0, 0, what was seen. */
export const VERDICTS = [
  ['steady', 'steady', 'M-3.7 0a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0-7.4 0z', 'even gaps; a first wait of less than 2 s does not count against it'],
  ['irregular', 'irregular', 'M0 -5l1.5 3.5 3.5 1.5-3.5 1.5-1.5 3.5-1.5-3.5-3.5-1.5 3.5-1.5z', 'uneven, and no rule fits: the honest default'],
  ['whole_body_burst', 'lumps', 'M-2 -5h4v10h-4z', 'everything at once at the end: something gathered the whole answer'],
  ['block_burst', 'lumps', 'M-3.5 -3.5h7v7h-7z', 'groups of constant size: a buffer fills, and then lets go'],
  ['tick_burst', 'lumps', 'M-4.5 -5h9l-9 10h9z', 'groups at a constant period: a timer lets go of what has come since'],
  ['count_burst', 'lumps', 'M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z', 'groups of a constant number of events: a guard or a batcher counts them'],
  ['transport_coalesced', 'lumps', 'M0 -5l5 5-5 5-5-5z', 'groups with nothing constant, or too few to tell: merged before dripline'],
  ['stall_no_catch_up', 'stall', 'M0 -5l5 8.6h-10z', 'a pause, then the usual pace: work stopped, nothing was held'],
  ['stall_with_catch_up', 'stall', 'M-5 -3.6h10l-5 8.6z', 'a pause, then a lump of what was missing: bytes were held'],
  ['producer_batched', 'lumps', 'M-5 -4.5v9l10-9v9z', 'one event with all the text, or one per tool call: the server gathered it'],
  ['late_header', 'late', 'M-3.8 -5h2.6v10h-2.6zm5 0h2.6v10h-2.6z', 'over 2 s until the header, then steady: cold start, queue, or a hop that holds the header'],
  ['late_first_token', 'late', 'M-3.6 -5l8.6 5-8.6 5z', 'header early, over 2 s until the first output, then steady: queue or a long prompt'],
  ['late_tail', 'late', 'M3.6 -5v10l-8.6-5z', 'all text there, and the end comes a second or more later'],
  ['downstream_backpressure', 'client', 'M-4.5 -2.5l2-2 2.5 2.5 2.5-2.5 2 2-2.5 2.5 2.5 2.5-2 2-2.5-2.5-2.5 2.5-2-2 2.5-2.5z', 'the client did not take what was ready: its socket was full, or the send buffer took all and nothing was acknowledged'],
  ['unmeasurable', 'unmeasurable', 'M-5 -1.6h10v3.2h-10z', 'cannot be told, and the summary says why'],
  ['none', 'none', 'M-2.5 -2.5h5v5h-5z', 'no stream to judge: a plain reply, an error, no answer'],
];

/** Stands for a request without a verdict. */
const NO_VERDICT = VERDICTS.length - 1;

/** In the order of the record: word, what happened. */
export const ENDS = [
  ['refused', 'dripline’s own answer: a bad request'],
  ['upstream_unreachable', 'no connection: name, address or TLS'],
  ['upstream_timeout', 'a limit that you set'],
  ['upstream_invalid', 'not HTTP, or broken framing'],
  ['in_band_error', 'an error object inside a response with a good status'],
  ['complete', 'whole'],
  ['proxy_stopped', 'cut by dripline’s shutdown'],
  ['client_gone', 'the client left'],
  ['http_error', 'status 400 or higher'],
  ['upstream_reset', 'cut by the upstream’s reset'],
  ['truncated', 'cut by the upstream’s FIN, or within an event'],
  ['upgraded', 'another protocol from then on (WebSocket)'],
  ['not_a_stream', 'a stream was asked for, one whole reply came'],
  ['empty_stream', 'an event stream without an event'],
  ['ended_without_done', 'a clean end of HTTP without the API’s'],
];

/** Ends that are no failure, as in the report. */
const GOOD = new Set(['complete', 'upgraded', 'not_a_stream', 'client_gone', 'proxy_stopped']);

const places = (list) => new Map(list.map(([word], place) => [word, place]));
const VERDICT = places(VERDICTS);
const END = places(ENDS);

/** Place of a word; a word that is not known (of a newer dripline) has none. */
export const verdictOf = (word) => VERDICT.get(word ?? 'none') ?? NO_VERDICT;
export const endOf = (word) => END.get(word) ?? 255;

export const isFailure = (end) => end < ENDS.length && !GOOD.has(ENDS[end][0]);
export const endWord = (end) => ENDS[end]?.[0] ?? 'unknown';
