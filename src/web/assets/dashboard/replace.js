// Replaces the content of a page while a user reads it.
//
// Invariant: focus, scroll position, opened details and the text in a search form stay.

import { fill } from '../shared/dom.js';

/** Time for which a selected text delays updates, in milliseconds. A forgotten selection must not stop them. */
const SELECTION_MS = 15_000;

/** Fields outside search forms that the user has changed. @type {Set<Element>} */
const edited = new Set();
let selectedAt = 0;
let isPressing = false;

document.addEventListener('input', ({ target }) => {
  if (target instanceof Element && !target.closest('form[role="search"]')) edited.add(target);
});
document.addEventListener('selectionchange', () => {
  selectedAt = Date.now();
});
for (const [name, is] of /** @type {const} */ ([['pointerdown', true], ['pointerup', false], ['pointercancel', false]])) {
  document.addEventListener(name, () => (isPressing = is), true);
}

/**
 * Returns true if an update would disturb the user: a dialog is open, a form is filled, a button is pressed or works, an
 * error is shown, or a text was just selected.
 */
export function isUserBusy() {
  const content = document.getElementById('content');
  if (document.querySelector('dialog[open]') || !content || content.hasAttribute('aria-busy') || isPressing) return true;
  for (const field of edited) if (!content.contains(field)) edited.delete(field);
  if (edited.size > 0 || content.querySelector('[aria-busy="true"], [role="alert"]:not([hidden])')) return true;
  const selection = getSelection();
  const isSelecting = selection && !selection.isCollapsed && content.contains(selection.anchorNode);
  return Boolean(isSelecting && Date.now() - selectedAt < SELECTION_MS);
}

/** Returns the HTML of nodes without the numbers of fields and the texts of relative times, which differ each time. @param {readonly Node[]} nodes */
function htmlOf(nodes) {
  const html = nodes.map((node) => (node instanceof Element ? node.outerHTML : (node.textContent ?? '')));
  return html.join('').replace(/"(field|dialog)-[^" ]*|(<time[^>]*>)[^<]*/g, '$2');
}

/** Returns a text that finds an element again in the new content, in the same row. @param {Element} element */
function keyOf(element) {
  const id = element.id.startsWith('field-') ? '' : element.id;
  const names = ['href', 'name', 'aria-label'].map((name) => element.getAttribute(name) ?? '');
  const text = element.matches('input, select, textarea') ? '' : element.textContent;
  const row = element.closest('tr, li');
  const link = row?.querySelector('a[href]')?.getAttribute('href') ?? row?.textContent ?? '';
  return [id, ...names, text, link].join('\n');
}

/** Returns the elements with a tag and a key. @param {Element} content @param {string} tag @param {string} key */
function withKey(content, tag, key) {
  return [...content.querySelectorAll(tag)].filter((element) => keyOf(element) === key);
}

/** @param {Element} element */
const summaryOf = (element) => element.querySelector('summary') ?? element;

/**
 * Replaces the content.
 * @param {HTMLElement} content
 * @param {readonly Node[]} nodes
 */
export function replaceContent(content, nodes) {
  if (htmlOf([...content.childNodes]) === htmlOf(nodes)) return;
  const { scrollX, scrollY } = window;
  const focused = content.contains(document.activeElement) ? document.activeElement : null;
  const place = focused && focused !== content ? placeOf(content, focused) : null;
  const selection = focused instanceof HTMLInputElement ? [focused.selectionStart, focused.selectionEnd] : null;
  const opened = [...content.querySelectorAll('details[open]')].map((one) => placeOf(content, summaryOf(one)));
  const typed = [...content.querySelectorAll('form[role="search"] [name]')].map(
    (field) => /** @type {const} */ ([placeOf(content, field), /** @type {HTMLInputElement} */ (field).value]),
  );
  const scrolled = [...content.querySelectorAll('pre, .table')]
    .filter((one) => one.scrollLeft !== 0 || one.scrollTop !== 0)
    .map((one) => /** @type {const} */ ([placeOf(content, one), one.scrollLeft, one.scrollTop]));
  fill(content, ...nodes);
  for (const one of opened) findPlace(content, one)?.closest('details')?.setAttribute('open', '');
  for (const [where, value] of typed) {
    const field = findPlace(content, where);
    if (field && 'value' in field && field.value !== value) field.value = value;
  }
  for (const [where, left, top] of scrolled) findPlace(content, where)?.scrollTo(left, top);
  scrollTo(scrollX, scrollY);
  const again = place && findPlace(content, place);
  if (again instanceof HTMLElement) {
    again.focus({ preventScroll: true });
    if (selection && again instanceof HTMLInputElement && selection[0] !== null)
      again.setSelectionRange(selection[0], selection[1]);
  } else if (place) content.focus({ preventScroll: true });
}

/**
 * Returns the key of an element and its number among the elements with this key.
 * @param {Element} content
 * @param {Element} element
 * @returns {[string, string, number]}
 */
function placeOf(content, element) {
  const { tagName } = element;
  const key = keyOf(element);
  return [tagName, key, withKey(content, tagName, key).indexOf(element)];
}

/** Returns the element at a place. @param {Element} content @param {[string, string, number]} place */
function findPlace(content, [tag, key, number]) {
  const found = withKey(content, tag, key);
  return found[number] ?? found.at(-1) ?? null;
}
