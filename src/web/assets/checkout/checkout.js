// Improves the checkout page: live updates, countdown, forms without a reload, copy buttons, a search for coins, and
// printing.
//
// Invariant: every text and amount comes from the server. An update replaces the content with a new version from the
// server.

/** Delay before the page repeats a failed request, in milliseconds. */
const RETRY_MS = 5_000;
/** Longest wait for an answer, in milliseconds. After that the server counts as away. */
const ANSWER_MS = 15_000;
/** Duration of the confirmation of a copy button, in milliseconds. */
const COPIED_MS = 2_500;

/** @param {string} id */
const byId = (id) => document.getElementById(id);
/** Returns the part of the page that may change. @param {Document} page */
const contentOf = (page) => page.getElementById('checkout');
/** Announces a text to screen readers once. @param {string} text */
function announce(text) {
  const said = byId('said');
  if (said) said.textContent = text;
}

/** Returns a page's content without the parts that differ in each response. @param {Element} content */
function stableHtml(content) {
  const copy = /** @type {Element} */ (content.cloneNode(true));
  for (const left of copy.querySelectorAll('[data-seconds-left]')) left.remove();
  for (const found of copy.querySelectorAll('[hidden]')) found.removeAttribute('hidden');
  for (const found of copy.querySelectorAll('details[open]')) found.removeAttribute('open');
  for (const found of copy.querySelectorAll('.done')) found.classList.remove('done');
  for (const found of copy.querySelectorAll('[tabindex]')) found.removeAttribute('tabindex');
  for (const button of copy.querySelectorAll('[data-copy]')) button.textContent = '';
  return copy.innerHTML;
}

// Countdown.

/** Deadline on this page's clock, in milliseconds. Null if no countdown runs. */
let endsAt = /** @type {number | null} */ (null);
let secondsShown = -1;

function readClock() {
  const left = document.querySelector('[data-seconds-left]');
  if (!(left instanceof HTMLElement)) {
    endsAt = null;
    return;
  }
  endsAt = performance.now() + Number(left.dataset.secondsLeft) * 1000;
  secondsShown = Number(left.dataset.secondsLeft);
}

/** Formats seconds as a clock does. @param {number} seconds */
function clock(seconds) {
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = two(seconds % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

function tick() {
  const left = document.querySelector('[data-seconds-left]');
  if (endsAt === null || !(left instanceof HTMLElement)) return;
  const seconds = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
  if (seconds === secondsShown) return;
  const passed = (/** @type {number} */ mark) => secondsShown > mark && seconds <= mark;
  const text = passed(0) ? left.dataset.none : passed(60) ? left.dataset.one : passed(300) ? left.dataset.five : '';
  secondsShown = seconds;
  left.textContent = (left.dataset.text ?? '{time}').replace('{time}', clock(seconds));
  if (text) announce(text);
  if (seconds === 0) refresh();
}

// Updates.

/** @type {EventSource | null} */
let stream = null;
let timer = 0;
let isAsking = false;
let isAskedAgain = false;

/** Requests this page and shows it if it has changed. */
async function refresh() {
  if (isAsking) {
    isAskedAgain = true;
    return;
  }
  isAsking = true;
  let wait = null;
  try {
    const answer = await request(location.href);
    if (answer.ok) show(await readPage(answer));
    showConnection(answer.status < 500);
    if (answer.status >= 500) wait = RETRY_MS;
  } catch {
    showConnection(false);
    wait = RETRY_MS;
  }
  isAsking = false;
  if (isAskedAgain) {
    isAskedAgain = false;
    refresh();
  } else {
    schedule(wait);
  }
}

/** @param {string} address @param {RequestInit} [options] */
function request(address, options) {
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(address, { cache: 'no-store', credentials: 'same-origin', signal, ...options });
}

/** @param {Response} answer */
const readPage = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');

/**
 * Submits a form and shows the page of the answer. If the server is away, this page stays. A browser's own error page
 * would not recover by itself.
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
async function submit(form, button) {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  const body = new URLSearchParams([[button.name, button.value]]);
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  try {
    const answer = await request(form.action, { method: 'POST', body });
    const isRefused = !answer.ok && answer.headers.has('x-request-id');
    if (isRefused) {
      // The answer is a page of its own, which the browser gets again. A refused form has changed nothing.
      form.dataset.native = '';
      form.requestSubmit(button);
      return;
    }
    if (answer.ok) show(await readPage(answer));
    showConnection(answer.ok);
    schedule(answer.ok ? null : RETRY_MS);
  } catch {
    showConnection(false);
    schedule(RETRY_MS);
  }
  form.ariaBusy = null;
}

/** Shows a quiet note while there is no connection. @param {boolean} is */
function showConnection(is) {
  const note = byId('offline');
  const text = is ? '' : (note?.dataset.text ?? '');
  if (note && note.textContent !== text) note.textContent = text;
}

/** Schedules the next request, by default at the server's interval. @param {number | null} [wait] */
function schedule(wait) {
  clearTimeout(timer);
  const { pollSeconds, events } = contentOf(document)?.dataset ?? {};
  // A hidden page without an event stream is settled. It requests nothing until it is shown.
  if (!pollSeconds || (!events && document.visibilityState === 'hidden')) return;
  timer = setTimeout(refresh, wait ?? Number(pollSeconds) * 1000);
}

/** Listens to the event stream while the page may change. */
function listen() {
  const address = contentOf(document)?.dataset.events;
  // A browser allows few connections to a host, so a hidden page keeps none.
  if (!address || document.visibilityState === 'hidden') {
    stream?.close();
    stream = null;
  } else if (!stream) {
    stream = new EventSource(address);
    stream.addEventListener('invoice', refresh);
    stream.addEventListener('open', () => showConnection(true));
    // The stream reconnects by itself and replays missed events. A request tells whether there is a connection.
    stream.addEventListener('error', () => schedule(RETRY_MS * Math.random()));
  }
}

/** Returns the text that is read to the customer when it changes. @param {HTMLElement} content */
function announcement(content) {
  const told = [...content.querySelectorAll('h1, .message, .problem')].map((one) => one.textContent?.trim());
  return [content.dataset.state, ...told].join();
}

/** Shows the content of a new version of the page. @param {Document} page */
function show(page) {
  const [now, next] = [contentOf(document), contentOf(page)];
  if (!now || !next) return;
  const isOther = announcement(now) !== announcement(next);
  if (!isOther && stableHtml(now) === stableHtml(next)) {
    const [left, fresh] = [now, next].map((content) => content.querySelector('[data-seconds-left]'));
    if (left instanceof HTMLElement && fresh instanceof HTMLElement)
      left.dataset.secondsLeft = fresh.dataset.secondsLeft;
    readClock();
    return;
  }
  const kept = isOther ? null : rememberChanges(now);
  const trial = document.querySelector('.trial');
  const freshTrial = page.querySelector('.trial');
  document.title = page.title;
  for (const name of ['state', 'pollSeconds', 'events']) {
    const value = next.dataset[name];
    if (value === undefined) delete now.dataset[name];
    else now.dataset[name] = value;
  }
  now.replaceChildren(...next.childNodes);
  trial?.remove();
  if (freshTrial) byId('offline')?.after(freshTrial);
  showScriptedControls();
  if (kept) {
    kept();
    const count = [...now.querySelectorAll('.count, .status .waits')].map((one) => one.textContent?.trim()).join(' ');
    if (count) announce(count);
  } else {
    const heading = now.querySelector('h1');
    // In an embedded checkout the focus stays in the shop's page.
    if (window.top === window || document.hasFocus()) focus(heading);
    const text = [heading, now.querySelector('.message, .problem')].map((one) => one?.textContent?.trim() ?? '');
    announce(text.filter(Boolean).join('. '));
  }
  listen();
}

/** Moves the focus to an element, even to a heading. @param {Element | null} element */
function focus(element) {
  if (element?.tagName === 'H1') element.setAttribute('tabindex', '-1');
  if (element instanceof HTMLElement) element.focus();
}

/** Remembers the customer's changes to the page. The returned function restores them. @param {Element} content */
function rememberChanges(content) {
  const focused = document.activeElement;
  const path = focused && content.contains(focused) ? selector(focused) : null;
  const sought = content.querySelector('#find');
  const text = sought instanceof HTMLInputElement ? sought.value : '';
  const open = [...content.querySelectorAll('details[open]')].map((one) => one.id);
  return () => {
    for (const id of open) byId(id)?.setAttribute('open', '');
    const find = byId('find');
    if (find instanceof HTMLInputElement && text) {
      find.value = text;
      filter(find);
    }
    if (path) focus(content.querySelector(path));
  };
}

/** Returns a selector for the same element in new content. @param {Element} element */
function selector(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element instanceof HTMLButtonElement && element.value) return `button[value="${CSS.escape(element.value)}"]`;
  if (element instanceof HTMLElement && element.dataset.copy)
    return `[data-copy="${CSS.escape(element.dataset.copy)}"]`;
  if (element.tagName === 'SUMMARY' && element.parentElement) return `#${element.parentElement.id} > summary`;
  if (element.tagName === 'A') return `a[href="${CSS.escape(element.getAttribute('href') ?? '')}"]`;
  return element.tagName === 'H1' ? 'h1' : null;
}

// Copy buttons.

/** @param {HTMLElement} button */
async function copy(button) {
  const field = byId(button.dataset.copy ?? '');
  const text = field?.dataset.exact;
  if (!field || !text) return;
  if (!(await copyText(text, field))) {
    announce(button.dataset.failed ?? '');
    return;
  }
  const before = button.textContent;
  const done = button.dataset.done ?? '';
  if (!button.classList.contains('done')) {
    button.classList.add('done');
    button.textContent = done;
    setTimeout(() => {
      button.classList.remove('done');
      button.textContent = before;
    }, COPIED_MS);
  }
  announce(`${done}: ${text}`);
}

/**
 * Copies a text, or selects the field if copying fails. Returns true if copied.
 * @param {string} text
 * @param {HTMLElement} field
 */
async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API is forbidden, or missing without https. The older method needs a selection.
    getSelection()?.selectAllChildren(field);
    return document.execCommand('copy');
  }
}

// Search for coins.

/** @param {HTMLInputElement} find */
function filter(find) {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const form = find.closest('form');
  let found = 0;
  for (const item of form?.querySelectorAll('li') ?? []) {
    if (item.dataset.find === undefined) continue;
    const name = item.dataset.find.toLowerCase();
    item.hidden = !words.every((word) => name.includes(word));
    if (!item.hidden) found += 1;
  }
  // A coin on several networks opens if one of them is found.
  for (const group of form?.querySelectorAll('details') ?? []) {
    const isFound = group.querySelector('li:not([hidden])') !== null;
    group.open = isFound && words.length > 0;
    if (group.parentElement) group.parentElement.hidden = !isFound;
  }
  const none = form?.querySelector('.none');
  if (!(none instanceof HTMLElement)) return;
  if (found === 0 && none.hidden) announce(none.textContent ?? '');
  none.hidden = found > 0;
}

/** Shows the controls that need this script. */
function showScriptedControls() {
  for (const hidden of document.querySelectorAll('.copy, .search, .print')) hidden.removeAttribute('hidden');
  readClock();
}

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-copy], .print') : null;
  if (!(button instanceof HTMLElement)) return;
  if (button.dataset.copy) copy(button);
  else print();
});
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !(event.submitter instanceof HTMLButtonElement)) return;
  if (form.dataset.native !== undefined) return;
  event.preventDefault();
  submit(form, event.submitter);
});
document.addEventListener('input', (event) => {
  if (event.target instanceof HTMLInputElement && event.target.id === 'find') filter(event.target);
});
document.addEventListener('keydown', (event) => {
  // Enter in the search field must not choose a coin by accident.
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.id === 'find')
    event.preventDefault();
});
// A selected amount is copied in the format that wallets read, not in the language's format.
document.addEventListener('copy', (event) => {
  const node = getSelection()?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const field = element?.closest('[data-exact]');
  if (!(field instanceof HTMLElement) || getSelection()?.toString().trim() !== field.textContent?.trim()) return;
  event.clipboardData?.setData('text/plain', field.dataset.exact ?? '');
  event.preventDefault();
});
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && contentOf(document)) refresh();
  listen();
});
// A page that the browser restores from its cache shows an old state.
addEventListener('pageshow', (event) => {
  if (event.persisted) refresh();
});
addEventListener('online', () => refresh());
addEventListener('offline', () => showConnection(false));

showScriptedControls();
listen();
schedule();
setInterval(tick, 250);
