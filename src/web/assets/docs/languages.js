// The languages of the examples. One choice holds for all operations, and the browser remembers it.
//
// Invariant: without this script the command for curl is shown, and the other languages unfold.

import { h } from '../shared/dom.js';

/** Key of the remembered language. */
const KEY = 'coffer.docs.language';

/** Returns the remembered language, or null if there is none or the browser keeps nothing. */
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} language */
function remember(language) {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // The choice then holds for this page only.
  }
}

/** Replaces the unfolding examples of each operation by a choice between the languages. */
export function offerLanguages() {
  /** Shows the examples in a language, and marks it as chosen everywhere. @type {((language: string) => void)[]} */
  const shows = [];
  /** @param {string} language */
  const choose = (language) => {
    for (const show of shows) show(language);
  };
  for (const place of document.querySelectorAll('.examples')) {
    const curl = /** @type {HTMLElement} */ (place.querySelector('.curl'));
    /** @type {[string, string, HTMLElement][]} */
    const examples = [['curl', 'curl', curl]];
    for (const details of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll('details'))) {
      const example = /** @type {HTMLElement} */ (details.querySelector('pre'));
      const name = details.querySelector('summary')?.textContent ?? '';
      examples.push([details.dataset.language ?? '', name, example]);
      details.replaceWith(example);
    }
    const group = `language-${place.closest('[id]')?.id}`;
    const labels = examples.map(([language, name, example]) => {
      const input = h('input', { type: 'radio', name: group, value: language });
      input.addEventListener('change', () => {
        const before = place.getBoundingClientRect().top;
        choose(language);
        remember(language);
        // The examples above have other heights now. The group that was used stays where it is.
        scrollBy(0, place.getBoundingClientRect().top - before);
      });
      shows.push((chosen) => {
        input.checked = chosen === language;
        example.hidden = chosen !== language;
      });
      return h('label', null, input, name);
    });
    place.prepend(
      h('fieldset', { class: 'languages' }, h('legend', { class: 'visually-hidden' }, 'Language of the example'), labels),
    );
  }
  const known = ['curl', 'node', 'python', 'php'];
  choose(known.find((language) => language === remembered()) ?? 'curl');
}
