// All that is known of one request, in words and tables.

import { attr, el } from './dom.js';
import { bytes, count, duration, micros, shown } from './format.js';
import { icon } from './marks.js';
import { timeOfDay } from './steps.js';
import { ENDS, VERDICTS, endOf, verdictOf } from './words.js';
import { marks, waterfall } from './waterfall.js';

const LONG = 2000;
const CHUNKS = 'A tick for each chunk as it arrived, its height the events in it; the first token is marked, stalls are shaded.';

const section = (title, ...children) => el('section', '', el('h3', '', title), ...children);

const text = (value) => (value === null ? null : shown(String(value)));

/** Pairs of a name and a value; those without a value are left out. */
function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '–');
  return el('dl', 'facts', ...known.map(([name, value]) => el('div', '', el('dt', '', name), el('dd', '', value))));
}

function table(heads, rows) {
  const line = (cells, name) => el('tr', '', ...cells.map((words, i) => (i === 0 ? el('th', '', words) : el(name, 'figure', words))));
  const body = el('tbody', '', ...rows.map((row) => line(row, 'td')));
  return el('div', 'scroll', el('table', '', el('thead', '', line(heads, 'th')), body));
}

/** What was seen, in the words of the record. */
function verdict(record) {
  const end = endOf(record.end);
  const ended = el('p', 'ended', el('strong', '', record.end), ` – ${ENDS[end]?.[1] ?? ''}`);
  const found = record.verdict;
  const place = verdictOf(found?.timing);
  const badge = el('p', 'badge', icon(place, record.load.cold), el('strong', '', VERDICTS[place][0]),
    el('span', 'quiet', [found?.where, found && `confidence ${found.confidence.toFixed(2)}`, record.load.cold && 'cold'].filter(Boolean).join(' · ')));
  const means = el('p', 'quiet', VERDICTS[place][3]);
  const findings = (found?.findings ?? []).map((finding) => el('li', '',
    el('p', 'code', finding.code, el('span', 'quiet', ` · ${finding.where}${finding.at_ms === null ? '' : ` · at ${duration(finding.at_ms)}`}`)),
    el('p', '', shown(finding.sentence, LONG)),
    finding.hint ? el('p', 'hint', el('span', 'try', 'To try'), ` ${shown(finding.hint, LONG)}`) : null));
  const summary = found?.summary && !found.findings.some((finding) => finding.sentence === found.summary) ? el('p', 'summary', shown(found.summary, LONG)) : null;
  const error = record.error && facts([['error', text(record.error.kind)], ['the server’s type of it', text(record.error.type)]]);
  return section('Verdict', badge, means, summary, findings.length ? el('ul', 'findings', ...findings) : null, ended, error);
}

function gaps({ gaps: kinds }) {
  const rows = [['token events', kinds.token], ['events', kinds.event], ['chunks', kinds.chunk]].filter(([, gap]) => gap.n > 0);
  const cells = ([name, gap]) => [name, count(gap.n), ...[gap.mean_ms, gap.p50_ms, gap.p90_ms, gap.p99_ms, gap.max_ms, gap.max_at_ms].map(duration)];
  return rows.length ? section('Gaps', table(['between', 'n', 'mean', 'p50', 'p90', 'p99', 'max', 'ended at'], rows.map(cells))) : null;
}

function stalls(record) {
  const cells = (stall) => [duration(stall.gap_ms), duration(stall.at_ms), count(stall.after_token), count(stall.catch_up_events)];
  return record.stalls.length ? section('Stalls', table(['gap', 'ended at', 'after token event', 'catch-up events'], record.stalls.map(cells))) : null;
}

function marksOf(record) {
  const rows = marks(record).filter(({ at }) => at !== null);
  return section('Marks', table(['mark', 'after the start'], rows.map(({ words, at }) => [words, duration(at)])));
}

function counted(record) {
  const { counts, coalescing, tokens, rates } = record;
  const perS = (rate) => (rate === null ? null : rate.toFixed(1));
  return section('Counts', facts([
    ['chunks', count(counts.chunks)], ['events', count(counts.events)], ['token events', count(counts.token_events)], ['keep-alives', count(counts.keepalives)],
    ['bytes', bytes(counts.bytes)], ['characters', count(counts.chars)], ['events in a chunk, at most', count(coalescing.events_per_chunk_max)],
    ['events cut over chunks', count(coalescing.events_split_over_chunks)], ['prompt tokens', count(tokens.prompt)], ['completion tokens', count(tokens.completion)],
    ['reasoning tokens', count(tokens.reasoning)], ['cached tokens', count(tokens.cached)],
    ['chunks per s', perS(rates.chunks_per_s_after_first)], ['tokens per s', perS(rates.tokens_per_s_after_first)],
  ]));
}

function around(record) {
  const { upstream, response, hold, load, server_says: says } = record;
  return section('Around it', facts([
    ['id', record.id], ['started', shown(record.started_at)], ['instance', text(record.instance)], ['label', text(record.label)], ['api', text(record.api)],
    ['upstream', `${shown(upstream.name)}${upstream.addr && upstream.addr !== upstream.name ? ` (${shown(upstream.addr)})` : ''}`],
    ['connection', upstream.reused ? 'reused' : 'new'], ['server', text(response.server)], ['content type', text(response.content_type)],
    ['content encoding', text(response.content_encoding)], ['framing', text(response.framing)], ['model that answered', text(response.model)],
    ['own hold p50', micros(hold.p50_us)], ['own hold p99', micros(hold.p99_us)], ['own hold max', micros(hold.max_us)],
    ['client’s socket full for', hold.blocked_ms ? duration(hold.blocked_ms) : null], ['others in flight', count(load.in_flight)],
    ['idle before', duration(load.idle_before_ms)],
    ['arrival times by', text(record.stamps)], ['flags', record.flags.length ? record.flags.join(', ') : null], ['no TTFT, since', text(record.ttft_null)],
    ...Object.entries(says).map(([name, ms]) => [`server says: ${name.replace('_ms', '').replaceAll('_', ' ')}`, duration(ms)]),
  ]));
}

/** The sections of one request; `picture` is the canvas of its chunks. */
export function sections({ record, phases }, picture) {
  return [
    section('Chunks', el('p', 'quiet', CHUNKS), el('div', 'chunks', picture)),
    verdict(record),
    phases.length ? section('Phases', waterfall(phases)) : null,
    stalls(record), gaps(record),
    el('div', 'columns', marksOf(record), counted(record)),
    around(record),
    json(record),
  ].filter(Boolean);
}

function json(record) {
  const details = el('details', 'json', el('summary', '', 'The record as JSON'));
  // made when it is wanted: a record with a timeline is long
  details.addEventListener('toggle', () => {
    if (details.open && !details.querySelector('pre')) details.append(attr(el('pre', '', JSON.stringify(record, null, 2)), { tabindex: 0 }));
  });
  return details;
}

/** What stands on top: which request it is, and how it stands. */
export function title({ model, method, path, started_at: started }, state) {
  const name = attr(el('span', '', shown(model ?? '(no model)')), { id: 'request-title' });
  const more = method ? `${method} ${shown(path, 200)} · ${state} · ${timeOfDay(Date.parse(started), 100)}` : state;
  return el('div', 'title', el('h2', '', name), el('p', 'quiet', more));
}

/** The few figures that come first. */
export function figures(record) {
  const pairs = [['TTFT', duration(record.ttft_ms)], ['gap p50', duration(record.gaps.token.p50_ms)], ['gap p99', duration(record.gaps.token.p99_ms)],
    ['gap max', duration(record.gaps.token.max_ms)], ['total', duration(record.at.end_ms)], ['own hold p99', micros(record.hold.p99_us)]];
  return el('dl', 'figures', ...pairs.map(([name, value]) => el('div', '', el('dd', '', value), el('dt', '', name))));
}
