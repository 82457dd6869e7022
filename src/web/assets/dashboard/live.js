// Live pages: one stream of changes for all visible tabs of a browser, and the band that says that the server is away.
//
// Invariant: an update does not move the focus or the scroll position, and waits for dialogs and for forms that the user
// has filled.

import { ApiError, hooks, operator } from '../shared/api.js';
import { fill, h, root } from '../shared/dom.js';
import { refreshLists } from './list.js';
import { isUserBusy, replaceContent } from './replace.js';

/** @typedef {import("openapi").components["schemas"]["Changes"]} Changes */
/**
 * @typedef {{ page: string, id?: string, account: string | null, mode: string, query: URLSearchParams }} Shown what the tab
 * shows
 */
/**
 * @typedef {{ shown: () => Shown, read: () => Promise<readonly Node[] | null>, again: () => void }} Options `read` creates
 * the present page anew, and returns null if the user has left it; `again` shows a page that could not be read
 */
/**
 * @typedef {{ id?: string | null, changes?: Changes, isAway?: boolean, isNew?: boolean, isLost?: boolean, isBack?: boolean }}
 * Message between tabs
 */

/** Kinds of objects that a page shows. @type {Record<string, string[]>} */
const kinds = {
  '': ['invoices', 'transfers', 'deliveries', 'deposits', 'unmatched'],
  invoices: ['invoices', 'transfers'],
  customers: ['deposits'],
  unmatched: ['unmatched'],
  payouts: ['transfers'],
  refunds: ['transfers'],
  ledger: ['invoices', 'transfers', 'deposits'],
  deliveries: ['deliveries'],
  events: ['invoices', 'transfers', 'deposits'],
};

/** Pages that are lists unless they show one object. A list reads its new rows itself. */
const lists = ['invoices', 'unmatched', 'customers', 'payouts', 'refunds', 'deliveries', 'events'];

/** Milliseconds after which a page with ages is read again. @type {Record<string, number>} */
const intervals = { '': 30_000, chains: 10_000 };

/** Minimum time between two updates, in milliseconds. */
const UPDATE_MS = 1000;
/** Longest silence of a stream. The server writes at least every 15 seconds. */
const SILENCE_MS = 40_000;
/** Longest pause between two attempts to connect. */
const RETRY_MS_MAX = 5000;

/** Text of the band while there is no connection. */
export const AWAY = 'No connection to the server. This page updates by itself when it is back.';

/** Version of the files of this page. */
const version = new URL(import.meta.url).pathname.split('/').at(-3) ?? '';
/** Name of the lock and of the channel that the tabs share. */
const shared = `coffer-changes ${root.pathname}`;

/** @type {Options | null} null while nobody is signed in */
let options = null;
/** Id of the last event. @type {string | null} */
let last = null;
/** Ends the stream of this tab. @type {AbortController | null} */
let joined = null;
/** Ends only the present connection, so that another begins. @type {AbortController | null} */
let connection = null;
/** @type {BroadcastChannel | null} */
let channel = null;
/** Number of attempts to connect since the last byte of a stream. */
let failures = 0;
let isAway = false;
let isOver = false;
/** Whether something has changed since the page was read. */
let isStale = false;
/** Whether the page was read before the first event, so that a change may be missing. */
let isEarly = false;
let isUpdating = false;
/** Whether the document is being left, so that its requests are aborted. */
let isLeaving = false;
let updatedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {ReturnType<typeof setInterval> | undefined} */
let pulse;

/** Begins to update the pages. @param {Options} given */
export function startLive(given) {
  options = given;
  if (isOver) rejoin();
  else if (isVisible() && !joined) void join();
}

/** Ends the updates, because the user has signed out. */
export function stopLive() {
  options = null;
  last = null;
  clearInterval(pulse);
  leave();
  setAway(false);
}

/** Notes that a page is read. Call it before the page's requests. */
export function noteRead() {
  isStale = false;
  updatedAt = Date.now();
  if (last === null) isEarly = true;
  clearInterval(pulse);
  const every = intervals[options?.shown().page ?? ''];
  if (every) pulse = setInterval(requestUpdate, every);
  drawBand();
}

/**
 * Loads the module of a page. A server that was upgraded has other files: then the whole page is loaded again.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 */
export async function loadModule(load) {
  try {
    return await load();
  } catch {
    if (isLeaving) return new Promise(() => {});
    const isThere = await fetch(new URL('livez', root), { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isThere) hooks.unreachable();
    // Loading the page again for the same module within ten seconds would not help.
    if (!isThere || !reloadOnce('module', Math.floor(Date.now() / 10_000).toString())) throw new ApiError(0, {});
    return new Promise(() => {});
  }
}

/**
 * Loads the whole page again, once for each value. Returns false if it was loaded for this value before.
 * @param {string} reason
 * @param {string} value
 */
function reloadOnce(reason, value) {
  const key = `coffer.reloaded.${reason}`;
  try {
    if (sessionStorage.getItem(key) === value) return false;
    sessionStorage.setItem(key, value);
  } catch {
    return false;
  }
  location.reload();
  return true;
}

addEventListener('beforeunload', () => {
  isLeaving = true;
  // The user may stay, for example after a download.
  setTimeout(() => (isLeaving = false), 3000);
});

function isVisible() {
  return document.visibilityState === 'visible';
}

document.addEventListener('visibilitychange', () => {
  if (!options) return;
  if (isVisible()) rejoin();
  else leave();
});

hooks.unreachable = () => {
  if (!options || isLeaving) return;
  // The tab with the stream connects again, and says when the server is back.
  if (connection) reconnect();
  else {
    setAway(true);
    channel?.postMessage({ isLost: true });
  }
};

hooks.signedInAgain = () => {
  channel?.postMessage({ isBack: true });
  if (isOver) rejoin();
};

/** Begins the stream again, for example after the user has signed in again. */
function rejoin() {
  if (!options) return;
  isOver = false;
  drawBand();
  leave();
  if (isVisible()) void join();
  if (isStale) schedule();
}

function reconnect() {
  tellAway(true);
  connection?.abort();
}

/** Takes part in the shared stream. Of all visible tabs, the one with the lock holds it and tells the others. */
async function join() {
  const own = new AbortController();
  const { signal } = own;
  joined = own;
  if (!('locks' in navigator)) return hold(signal);
  channel = new BroadcastChannel(shared);
  channel.onmessage = ({ data }) => hear(/** @type {Message} */ (data));
  channel.postMessage({ isNew: true });
  try {
    await navigator.locks.request(shared, { signal }, () => hold(signal));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function leave() {
  joined?.abort();
  channel?.close();
  joined = connection = channel = null;
}

/** Handles a message of another tab. @param {Message} message */
function hear(message) {
  if (message.isNew && connection) channel?.postMessage({ id: last, isAway });
  if (message.isLost && connection) reconnect();
  if (message.isBack && isOver) rejoin();
  if (message.isAway !== undefined) setAway(message.isAway);
  if (message.changes) apply(message.changes, message.id ?? null);
  else if (message.id) {
    // The state of the stream, for a tab that has just joined.
    if (isEarly || (last !== null && last !== message.id)) requestUpdate();
    isEarly = false;
    last = message.id;
  }
}

/** Holds the stream, and connects again after each failure. @param {AbortSignal} signal */
async function hold(signal) {
  failures = 0;
  while (!signal.aborted && !isOver) {
    const own = new AbortController();
    connection = own;
    const stop = () => own.abort();
    signal.addEventListener('abort', stop);
    try {
      await receive(own.signal);
    } catch {
      // The reason does not matter: the next attempt shows whether the server is there.
    }
    signal.removeEventListener('abort', stop);
    own.abort();
    if (signal.aborted || isOver) break;
    failures += 1;
    // The first attempt after the end of a stream may find the server again, for example after its restart.
    if (failures > 1) tellAway(true);
    await pause(Math.min(RETRY_MS_MAX, 250 * 2 ** failures), signal);
  }
  if (!signal.aborted) connection = null;
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((done) => {
    const end = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(end);
      done();
    });
  });
}

/** Receives one stream until its end. @param {AbortSignal} signal */
async function receive(signal) {
  const url = new URL('dashboard/api/changes', root);
  if (last !== null) url.searchParams.set('since', last);
  const answer = await fetch(url, { signal, cache: 'no-store', headers: { Accept: 'text/event-stream' } });
  if (answer.status === 401) {
    isOver = true;
    tellAway(false);
    drawBand();
    return;
  }
  if (!answer.ok || !answer.body) return;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; ; ) {
    const silence = setTimeout(() => reader.cancel(), SILENCE_MS);
    const { done, value } = await reader.read();
    clearTimeout(silence);
    if (done) return;
    failures = 0;
    if (isAway) tellAway(false);
    const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event.match(/^data: (.*)$/m)?.[1];
      if (!data) continue;
      const changes = /** @type {Changes} */ (JSON.parse(data));
      const id = event.match(/^id: (.*)$/m)?.[1] ?? null;
      channel?.postMessage({ id, changes });
      apply(changes, id);
    }
  }
}

/** Applies an event. @param {Changes} changes @param {string | null} id */
function apply(changes, id) {
  last = id;
  if (changes.version !== version && !isUserBusy() && reloadOnce('version', changes.version)) return;
  if (isEarly || changes.everything || changes.changed.some(isShown)) requestUpdate();
  isEarly = false;
}

/** Returns true if a change concerns the page. @param {Changes["changed"][number]} change */
function isShown(change) {
  if (!options) return false;
  const { page, account, mode, query } = options.shown();
  const own = kinds[page] ?? [];
  if (!change.kinds.some((kind) => own.includes(kind)) || change.mode !== mode) return false;
  const isOfAll = page === '' || query.get('whose') === 'all';
  return isOfAll || change.account === null || change.account === account;
}

function requestUpdate() {
  const page = options?.shown().page ?? '';
  // Other pages have forms, or show a secret once.
  if (!(page in kinds || page in intervals)) return;
  isStale = true;
  schedule();
}

function schedule() {
  if (!isVisible() || !options) return;
  clearTimeout(timer);
  timer = setTimeout(update, Math.max(0, updatedAt + UPDATE_MS - Date.now()));
}

/** Updates the page, or waits while the user is busy. */
async function update() {
  if (!options || !isStale || !isVisible() || isAway || isUpdating) return;
  const content = document.getElementById('content');
  updatedAt = Date.now();
  if (!content || isUserBusy()) return schedule();
  isStale = false;
  isUpdating = true;
  const { page, id } = options.shown();
  try {
    // The ledger has balances above its list, which stay as they are while older rows are shown.
    if ((lists.includes(page) && !id) || content.querySelector('[data-extended]')) await refreshLists();
    else {
      const nodes = await options.read();
      if (nodes && isUserBusy()) isStale = true;
      else if (nodes) replaceContent(content, nodes);
    }
    updatedAt = Date.now();
  } catch (error) {
    // A busy server is asked again later, and not by all tabs at once.
    isStale = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
    updatedAt = Date.now() + 2000 * Math.random();
  } finally {
    isUpdating = false;
  }
  if (isStale) schedule();
}

/** Changes the state of the connection in all tabs. @param {boolean} is */
function tellAway(is) {
  channel?.postMessage({ isAway: is });
  setAway(is);
}

/** @param {boolean} is */
function setAway(is) {
  if (is === isAway) return;
  isAway = is;
  drawBand();
  if (is || !options) return;
  if (document.querySelector('#content [data-unread]')) options.again();
  else if (isStale) schedule();
}

/** Shows the one message about the connection or the session. */
function drawBand() {
  let band = document.getElementById('connection');
  const top = document.querySelector('.top');
  if (!band?.isConnected) {
    if (!top) return;
    band = h('div', { id: 'connection', class: 'band', role: 'status', hidden: true });
    top.insertBefore(band, document.getElementById('test-band'));
  }
  const state = isAway ? 'away' : isOver ? 'over' : '';
  if (band.dataset.state === state) return;
  band.dataset.state = state;
  band.hidden = state === '';
  if (state === 'away') fill(band, AWAY);
  else if (state === 'over') {
    // Any request asks for the password.
    const signIn = () => void operator('GET', 'session').catch(() => {});
    const button = h('button', { type: 'button', class: 'small', onclick: signIn }, 'Sign in again');
    fill(band, 'Your session has ended. ', button);
  } else fill(band);
}
