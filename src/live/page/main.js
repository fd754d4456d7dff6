// The page. `stream` brings what happens, `Store` and `Open` keep it, and each part shows what the filter leaves of it.

import { Counts } from './counts.js';
import { $, options, setText } from './dom.js';
import { Drip } from './drip.js';
import { BY, FilterForm, SPANS, chosenOpen, fromHash, isFilter, matcher, toHash } from './filter.js';
import { Flight } from './flight.js';
import { count, shown } from './format.js';
import { Heatmap } from './heatmap.js';
import { shortcuts } from './keys.js';
import { Open } from './open.js';
import { Parts } from './parts.js';
import { RequestDialog } from './request.js';
import { RunningList } from './running.js';
import { graph, holds, waits } from './scatters.js';
import { Store } from './store.js';
import { follow } from './stream.js';
import { suggest } from './suggest.js';
import { Table } from './table.js';
import * as theme from './theme.js';
import { Tiles } from './tiles.js';
import { axis, edge } from './time.js';
import { askToken } from './token.js';
import { ENDS, VERDICTS } from './words.js';

const DRIP_EVERY_MS = matchMedia('(prefers-reduced-motion: reduce)').matches ? 1000 : 50;
const LIST_EVERY_MS = 200;
const NAMES_EVERY_MS = 2000;
// what has just ended is marked for about so long
const FRESH_MS = 3000;
// the server tells its time in whole seconds
const CLOCK_MS = 2000;
// a connection is lost when nothing came for so long: keep-alives come every 15 s, open requests four times a second
const SILENT_MS = 40_000;
const SILENT_BUSY_MS = 5000;

let store = new Store(1);
const running = new Open();
let { filter, request: wanted } = fromHash(location.hash);
let standing = { state: '', why: '' }; // of the connection
let paused = null; // the moment that is held still
let held = [];
let missed = 0; // ended while this page was away, and are no longer kept
let ahead = 0; // of this page's clock to the server's, ms

/** The server's time of day, this page's clock, and what is open. */
const moment = () => paused ?? { now: Date.now() + ahead, clock: performance.now(), running };

theme.start($('#theme'));
options($('[name=verdict]'), [['', 'all'], ...VERDICTS.map(([word]) => [word, word])]);
options($('[name=end]'), [['', 'all'], ...ENDS.map(([word]) => [word, word])]);
options($('[name=by]'), BY);
options($('[name=span]'), SPANS);

const open = (id) => dialog.open(id, running.all.get(id) ?? null);
const form = new FilterForm($('#filter'), setFilter);
const table = new Table($('#table'), open);
const dialog = new RequestDialog($('#request'), (id, step) => table.beside(id, step), (id) => {
  wanted = id;
  setHash();
});
const drip = new Drip($('#drip'), open);
const list = new RunningList($('#running'), open);
const parts = new Parts([
  new Tiles($('#tiles')),
  graph($('#graph'), open),
  new Counts($('#counts'), (name, word) => setFilter({ ...filter, [name]: filter[name] === word ? '' : word })),
  table,
  new Heatmap($('#heat')),
  waits($('#waits'), open),
  new Flight($('#flight')),
  holds($('#hold'), open),
], view);

function setFilter(next) {
  filter = Object.fromEntries(Object.entries(next).filter(([, value]) => value));
  form.show(filter);
  setHash();
  parts.want();
  drip.isDirty = true;
}

function setHash() {
  const hash = toHash(filter, wanted);
  if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname);
}

// it may be among the open ones a moment longer
const hasEnded = (id) => store.find(id) >= 0 || held.some((row) => row.id === id);

/** What the filter leaves, and the time that it spans. */
function view() {
  const { now, running: seen } = moment();
  const places = store.chosen(matcher(filter, store, now));
  const stillOpen = chosenOpen(filter, seen);
  const to = edge(now, store.lastEnd, stillOpen.length > 0 || Boolean(filter.span));
  let from = filter.span ? to - Number(filter.span) * 1000 : to;
  if (!filter.span) for (const place of places) if (store.start[place] < from) from = store.start[place];
  return { store, places, open: stillOpen, inFlight: seen.isKnown ? seen.all.size : null, missed: missed + store.gone, isFiltered: isFilter(filter), filter, now, time: axis(from, to) };
}

const takes = {
  about(next) {
    setText($('#about'), `${shown(next.instance)} → ${shown(next.upstream)}${next.label ? ` · ${shown(next.label)}` : ''}`);
    setText($('#graph .empty code'), `OPENAI_BASE_URL=http://${shown(next.listen)}/v1`);
    document.title = `${shown(next.instance)} – dripline`;
    // after a restart the requests of before stay here; only their records are gone
    if (store.keeps < next.keeps) store = store.grown(next.keeps);
  },
  ended(row) {
    if (paused) {
      held.push(row);
      if (held.length > store.keeps) held.shift();
    } else if (store.add(row)) parts.want();
    if (dialog.id === row.id && dialog.isWaiting) dialog.open(row.id);
  },
  missed(n) {
    missed += n;
  },
  open(rows) {
    running.take(rows, performance.now());
    const newest = rows.at(-1);
    if (newest) ahead = Date.parse(newest.started_at) + newest.age_ms - Date.now();
    drip.isDirty = true;
    parts.want();
  },
};

/** How the connection stands. */
function tell(state, more) {
  standing = { state, why: state === 'live' ? '' : more };
  if (state === 'live') {
    const told = Date.parse(more.headers.get('date') ?? '');
    // a clock that is right stays as it is
    ahead = Math.abs(told - Date.now()) > CLOCK_MS ? told + 500 - Date.now() : 0;
    running.take([], performance.now());
    if (wanted && (!dialog.id || dialog.isWaiting)) dialog.open(wanted);
  } else {
    running.lose();
    dialog.lose();
  }
  parts.want();
  drip.isDirty = true;
  showStanding();
}

function showStanding() {
  const { state, why } = standing;
  const isHeld = paused && state === 'live';
  const words = { live: 'live', lost: `lost: ${why}; trying again`, refused: 'a token is needed' };
  setText($('#state'), isHeld ? `paused, ${count(held.length)} new` : words[state] ?? '');
  $('#state').className = isHeld ? 'paused' : state;
}

function pause() {
  paused = paused ? null : { ...moment(), running: { ...running } };
  $('#pause').setAttribute('aria-pressed', String(Boolean(paused)));
  setText($('#pause'), paused ? 'Go on' : 'Pause');
  if (!paused) for (const row of held.splice(0)) store.add(row);
  parts.want();
  drip.isDirty = true;
  showStanding();
}

let moves = true;

/** What is done out of one loop, each so often at most. */
const turns = [
  [DRIP_EVERY_MS, () => {
    if (!drip.isDirty && (paused || !moves)) return;
    const { now, clock, running: seen } = moment();
    moves = drip.draw({ store, isWanted: matcher(filter, store, now), open: chosenOpen(filter, seen), now, clock });
  }],
  [LIST_EVERY_MS, () => {
    const { now, clock, running: seen } = moment();
    list.show(seen, clock);
    const one = running.all.get(dialog.id);
    if (one && dialog.isWaiting && !hasEnded(one.id)) dialog.tick(one, performance.now());
    if (now - store.lastEnd < FRESH_MS) parts.want();
    if (paused) showStanding();
  }],
  [NAMES_EVERY_MS, () => {
    suggest(store);
    // what was in the span is no longer, although nothing happens
    if (filter.span && !paused) parts.want();
  }],
].map(([every, act]) => ({ every, act, at: -Infinity }));

function frame() {
  requestAnimationFrame(frame);
  const begun = performance.now();
  for (const turn of turns) {
    if (begun - turn.at < turn.every) continue;
    turn.at = begun;
    turn.act();
  }
  parts.work(begun);
}

$('#pause').addEventListener('click', pause);
$('#help').addEventListener('click', () => $('#keys').showModal());
addEventListener('hashchange', () => {
  const named = fromHash(location.hash);
  if (named.request && named.request !== dialog.id) open(named.request);
  else if (!named.request && dialog.id) dialog.close();
  setFilter(named.filter);
});
shortcuts({
  '/': () => $('[name=model]').focus(),
  '?': () => $('#keys').showModal(),
  Escape: () => setFilter({}),
  p: pause,
  d: () => $('#theme').click(),
  g: () => $('#graph .plot').focus(),
  l: () => $('#drip .plot').focus(),
  t: () => table.focus(),
});
form.show(filter);
requestAnimationFrame(frame);
follow({
  take: (name, value) => takes[name]?.(value),
  tell,
  refused: askToken,
  patience: () => (running.all.size ? SILENT_BUSY_MS : SILENT_MS),
});
