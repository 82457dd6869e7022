// The frame of the operator interface: session, account, mode and navigation. Each page is a separate module, loaded
// when it is opened.
//
// Invariant: the current mode, live or test, is always visible.

import { ApiError, hooks, operator, problemNote } from '../shared/api.js';
import { fill, h, currentPlace, router, to } from '../shared/dom.js';
import { AWAY, loadModule, noteRead, startLive, stopLive } from './live.js';
import { navigation, pages } from './navigation.js';
import { searchBox, showSearched } from './search.js';
import { signIn } from './sign_in.js';

/**
 * @typedef {import("openapi").components["schemas"]} Schemas
 * @typedef {"live" | "test"} Mode
 * @typedef {{
 *   user: Schemas["Session"]["user"], isOperator: boolean, account: Schemas["AccountSettings"] | null,
 *   accounts: Schemas["AccountSettings"][], mode: Mode, parts: string[], query: URLSearchParams,
 *   path: (rest: string) => string, reload: () => void, refresh: () => Promise<void>,
 * }} Context passed to a page: `path` prefixes the account's operations, `parts` are the path segments after the page's
 * name
 * @typedef {(context: Context) => Promise<Element>} Show
 * @typedef {import("./navigation.js").Page} Page
 */

const logo = import.meta.resolve('../shared/coffer.svg');

/** @type {{ user: Schemas["Session"]["user"] | null, accounts: Schemas["AccountSettings"][], shown: number }} */
const state = { user: null, accounts: [], shown: 0 };

/**
 * Returns a choice made in this tab, or the latest choice of any tab in a new tab. Other tabs do not change it later.
 * @param {string} name @param {string} [value] new choice to store
 */
function storedChoice(name, value) {
  const key = `coffer.${name}`;
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    const chosen = value ?? sessionStorage.getItem(key) ?? localStorage.getItem(key);
    if (chosen !== null) sessionStorage.setItem(key, chosen);
    return chosen;
  } catch {
    return value ?? null;
  }
}

/** Returns the current account. */
function account() {
  const wanted = currentPlace().query.get('account') ?? storedChoice('account');
  return state.accounts.find(({ id }) => id === wanted) ?? state.accounts[0] ?? null;
}

/** Returns the current mode: the user's choice, by default live, or test if the account is not active yet. */
function mode() {
  const wanted = currentPlace().query.get('mode') ?? storedChoice('mode');
  if (wanted === 'live' || wanted === 'test') return wanted;
  return account()?.status === 'active' ? 'live' : 'test';
}

/**
 * Switches to another account or mode, and opens the first part of the page.
 * @param {string} name
 * @param {string} value
 */
function choose(name, value) {
  storedChoice(name, value);
  const { path } = currentPlace();
  const page = path.split('/')[1] ?? '';
  const next = to(`/${page}`);
  if (location.hash === next) show();
  else location.hash = next;
}

async function signOut() {
  hooks.email = null;
  await operator('DELETE', 'session').catch(() => null);
  signedOut();
}

function signedOut() {
  state.user = null;
  hooks.email = null;
  stopLive();
  state.shown += 1;
  document.querySelectorAll('dialog').forEach((dialog) => dialog.close());
  document.title = 'Sign in · Coffer';
  fill(document.body, signIn(logo, start));
  document.querySelector('input')?.focus();
}

/** Reads the session and its accounts. */
async function read() {
  const session = await operator('GET', 'session');
  state.user = session.user;
  hooks.email = session.user.email;
  startLive({ shown: placeShown, read: readAgain, again: show });
  state.accounts =
    session.user.role === 'operator'
      ? (await operator('GET', 'accounts')).data
      : [await operator('GET', `accounts/${session.user.account}`)];
}

/** Reads the session and builds the whole interface. If reading fails, the page shows the error. */
async function start() {
  try {
    await read();
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 401) signedOut();
    else if (isUnreachable(error)) {
      fill(document.body, h('main', { class: 'alone' }, h('h1', null, 'Coffer'), h('p', { role: 'status' }, AWAY)));
      setTimeout(start, 2000);
    } else fill(document.body, h('main', { class: 'alone' }, h('h1', null, 'Coffer'), problemNote(error)));
    return;
  }
  frame();
  await show();
}

/** Builds the frame around every page. */
function frame() {
  const user = state.user;
  if (!user) return;
  // The page stays until the new one is rendered, and messages stay for their full time.
  const said = document.querySelector('body > .toasts');
  const content = document.getElementById('content') ?? h('main', { class: 'content', id: 'content', tabindex: '-1' });
  const side = h('nav', { class: 'side', id: 'side', 'aria-label': 'Pages' });
  const menu = h(
    'button',
    {
      type: 'button',
      class: 'menu small',
      'aria-expanded': 'false',
      'aria-controls': 'side',
      onclick: () => menu.setAttribute('aria-expanded', String(side.classList.toggle('open'))),
    },
    'Menu',
  );
  const accounts =
    state.accounts.length > 1
      ? h(
          'select',
          { id: 'account', 'aria-label': 'Account', onchange: pickAccount },
          state.accounts.map(({ id, name }) => h('option', { value: id }, name)),
        )
      : h('span', { id: 'account' }, state.accounts[0]?.name ?? 'No account yet');
  function pickAccount(/** @type {Event} */ event) {
    if (event.target instanceof HTMLSelectElement) choose('account', event.target.value);
  }
  const modes = h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'Mode' },
    ['live', 'test'].map((one) =>
      h(
        'button',
        { type: 'button', 'data-mode': one, onclick: () => choose('mode', one) },
        one === 'live' ? 'Live' : 'Test',
      ),
    ),
  );
  fill(
    document.body,
    h('a', { class: 'skip', href: '#content', onclick: skip }, 'Skip to content'),
    h(
      'header',
      { class: 'top' },
      h('a', { class: 'brand', href: '#/' }, h('img', { src: logo, alt: '' }), 'Coffer'),
      menu,
      searchBox(search),
      accounts,
      modes,
      h('a', { class: 'button small own', href: '#/me' }, user.email),
      h('button', { type: 'button', class: 'small own', onclick: signOut }, 'Sign out'),
      h('p', { class: 'test-band', id: 'test-band', hidden: true }),
    ),
    h('div', { class: 'shell' }, side, content),
    said,
  );
  function skip(/** @type {Event} */ event) {
    event.preventDefault();
    document.getElementById('content')?.focus();
  }
}

/** Returns true if the user may open this page. @param {Page} page */
function isAllowed(page) {
  if (page.for === 'operators') return state.user?.role === 'operator';
  return page.for !== 'account' || account() !== null;
}

/**
 * Searches invoices. A search that was made already is made again.
 * @param {string} text
 */
function search(text) {
  const next = to('/invoices', { text });
  if (location.hash === next) show();
  else location.hash = next;
}

/** Fills the navigation and shows the current account and mode. @param {Page | undefined} now */
function updateNavigation(now) {
  const side = document.getElementById('side');
  if (!side) return;
  side.classList.remove('open');
  document.querySelector('.menu')?.setAttribute('aria-expanded', 'false');
  fill(side, navigation(now, isAllowed));
  const find = document.getElementById('search')?.closest('form');
  if (find) find.hidden = account() === null;
  const select = document.getElementById('account');
  if (select instanceof HTMLSelectElement) select.value = account()?.id ?? '';
  for (const button of document.querySelectorAll('[data-mode]')) {
    button.setAttribute('aria-pressed', String(button.getAttribute('data-mode') === mode()));
  }
  const band = document.getElementById('test-band');
  if (band) {
    const isSandbox = document.documentElement.hasAttribute('data-sandbox');
    const isTest = mode() === 'test';
    band.hidden = !isTest && !isSandbox;
    band.textContent = isTest
      ? 'Test mode: nothing here is real money.'
      : 'Sandbox: live mode is simulated too. Nothing here is real money.';
  }
}

/**
 * Shows the page of the current place. With `again`, the old content stays visible until the new content is read.
 * @param {{ again?: boolean }} [options]
 */
async function show({ again = false } = {}) {
  if (!state.user) return;
  const { path, query } = currentPlace();
  for (const name of ['account', 'mode']) {
    const value = query.get(name);
    if (value) storedChoice(name, value);
  }
  const [name = '', ...parts] = path.split('/').slice(1);
  const page = pages.find((one) => one.name === name && isAllowed(one));
  updateNavigation(page);
  if (!again) showSearched(page?.name === 'invoices' ? query.get('text') : null);
  const content = document.getElementById('content');
  if (!content) return;
  state.shown += 1;
  const turn = state.shown;
  noteRead();
  const focused = document.activeElement;
  content.setAttribute('aria-busy', 'true');
  const loading = () => fill(content, h('p', { class: 'loading', role: 'status' }, 'Loading…'));
  const waiting = again ? undefined : setTimeout(loading, 300);
  /** @type {Element} */
  let shown;
  try {
    shown = page ? await (await loadModule(page.load)).show(context(parts, query)) : missingPage();
  } catch (error) {
    // The band says that the server is away. The page is shown once it is back.
    const isUnread = isUnreachable(error);
    shown = h(
      'div',
      { class: 'stack', 'data-unread': isUnread },
      h('h1', null, page?.text ?? 'Coffer'),
      isUnread ? null : problemNote(error),
      isUnread ? null : h('div', null, h('button', { type: 'button', onclick: () => show() }, 'Try again')),
    );
  } finally {
    clearTimeout(waiting);
  }
  if (turn !== state.shown) return;
  fill(content, ...nodesOf(shown));
  content.removeAttribute('aria-busy');
  content.setAttribute('data-place', path);
  const heading = content.querySelector('h1');
  document.title = `${heading?.textContent ?? 'Coffer'} · Coffer`;
  if (turn > 1) {
    scrollTo(0, 0);
    // The focus stays if the user moved it while the page loaded.
    if ([focused, document.body].includes(document.activeElement)) content.focus();
  }
}

/** Creates the nodes of the page that is shown once more. Returns null if the user has left it. */
async function readAgain() {
  const { path, query } = currentPlace();
  const [name = '', ...parts] = path.split('/').slice(1);
  const page = pages.find((one) => one.name === name && isAllowed(one));
  const turn = state.shown;
  if (!page || document.querySelector('#content[aria-busy]')) return null;
  const shown = await (await page.load()).show(context(parts, query));
  return turn === state.shown ? nodesOf(shown) : null;
}

/** Returns what the tab shows, for live updates. */
function placeShown() {
  const { path, query } = currentPlace();
  const [page = '', id] = path.split('/').slice(1);
  return { page, id, account: account()?.id ?? null, mode: mode(), query };
}

/** Returns the nodes of a page. @param {Element} shown */
function nodesOf(shown) {
  return shown instanceof HTMLDivElement && shown.classList.contains('page') ? [...shown.childNodes] : [shown];
}

/** Returns true if an error means that no response came. @param {unknown} error */
function isUnreachable(error) {
  return error instanceof ApiError && error.status === 0;
}

function missingPage() {
  return h(
    'div',
    { class: 'page' },
    h('h1', null, 'Page not found'),
    h('p', null, 'No page has this address, or you may not open it. ', h('a', { href: '#/' }, 'Open Home'), '.'),
  );
}

/** @param {string[]} parts @param {URLSearchParams} query @returns {Context} */
function context(parts, query) {
  const user = state.user;
  if (!user) throw new Error('Nobody is signed in.');
  // A page's actions apply to the account that the page shows.
  const shown = account();
  return {
    user,
    isOperator: user.role === 'operator',
    account: shown,
    accounts: state.accounts,
    mode: mode(),
    parts: parts.map(decodeURIComponent),
    query,
    path: (rest) => `accounts/${shown?.id}/${rest}`,
    reload: () => show({ again: true }),
    refresh: start,
  };
}

hooks.signedOut = signedOut;
document.querySelector('noscript')?.remove();
router(() => {
  if (state.user) show();
});
start();
