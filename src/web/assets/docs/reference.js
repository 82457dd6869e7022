// The search of the reference: of all headings on its first page, of the text on a topic's page. In a sandbox, each
// operation also gets a form that sends it.
//
// Invariant: the page is complete without this script, and server data is shown as text.

import { offerLanguages } from './languages.js';
import { offerTrying } from './try.js';

const field = /** @type {HTMLInputElement} */ (document.getElementById('find'));
const found = /** @type {HTMLElement} */ (document.getElementById('found'));
const articles = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.operation, .entry, .fields > [id]')]);
/** Searchable text of each entry without its examples, read at the first search. @type {Map<HTMLElement, string>} */
const searchTexts = new Map();

/** @param {HTMLElement} article */
function text(article) {
  const known = searchTexts.get(article);
  if (known !== undefined) return known;
  const copy = /** @type {HTMLElement} */ (article.cloneNode(true));
  for (const example of copy.querySelectorAll('pre, .try, .examples')) example.remove();
  const read = `${copy.textContent ?? ''} ${article.dataset.words ?? ''}`.toLowerCase();
  searchTexts.set(article, read);
  return read;
}

/** Shows the articles that contain all searched words, and hides the others. */
function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const article of articles) {
    const has = words.every((word) => text(article).includes(word));
    article.hidden = !has;
    if (has) count += 1;
    showHeadings(article, words);
  }
  for (const entry of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-of]'))) {
    entry.hidden = document.getElementById(entry.dataset.of ?? '')?.hidden === true;
  }
  for (const group of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.group'))) {
    const has = group.querySelector('.operation, .entry')
      ? group.querySelector('.operation:not([hidden]), .entry:not([hidden])') !== null
      : words.every((word) => (group.textContent ?? '').toLowerCase().includes(word));
    group.hidden = !has;
    const entry = document.querySelector(`.side a[href="#${CSS.escape(group.id)}"]`)?.closest('li');
    if (entry) entry.hidden = !has;
  }
  found.textContent =
    words.length === 0
      ? ''
      : count === 0
        ? 'Nothing has all of these words.'
        : `${count} of ${articles.length} entries have ${words.length === 1 ? 'this word' : 'all of these words'}.`;
}

/**
 * Shows the headings of a guide that contain all searched words.
 * @param {HTMLElement} entry
 * @param {string[]} words
 */
function showHeadings(entry, words) {
  const details = /** @type {HTMLDetailsElement | null} */ (entry.querySelector('details.headings'));
  if (!details) return;
  let count = 0;
  for (const heading of details.querySelectorAll('li')) {
    heading.hidden = !words.every((word) => (heading.textContent ?? '').toLowerCase().includes(word));
    if (!heading.hidden) count += 1;
  }
  details.open = words.length > 0 && count > 0;
  details.hidden = count === 0;
}

/** Shows the target of the followed link, even if the search hides it. */
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest('[hidden]')) return;
  field.value = '';
  search();
  target.scrollIntoView();
}

const box = /** @type {HTMLElement} */ (document.querySelector('.find'));
box.hidden = false;
field.addEventListener('input', search);
addEventListener('hashchange', reveal);
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
const wide = matchMedia('(min-width: 821px)');
const contents = /** @type {HTMLDetailsElement} */ (document.querySelector('.side details'));
const unfold = () => {
  contents.open = wide.matches;
};
wide.addEventListener('change', unfold);
unfold();
offerLanguages();
if (document.body.hasAttribute('data-sandbox')) offerTrying(articles);
