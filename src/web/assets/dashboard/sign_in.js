// The sign-in page.

import { request, form } from '../shared/api.js';
import { h } from '../shared/dom.js';

/**
 * Creates the sign-in page.
 * @param {string} logo
 * @param {() => Promise<void>} done
 */
export function signIn(logo, done) {
  return h(
    'main',
    { class: 'alone' },
    h('div', { class: 'brand' }, h('img', { src: logo, alt: '' }), 'Coffer'),
    h('h1', null, 'Sign in'),
    h(
      'div',
      { class: 'card' },
      form({
        fields: [
          { name: 'email', label: 'Email', type: 'email', autocomplete: 'username', required: true },
          { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true },
        ],
        submit: 'Sign in',
        send: async (values) => {
          await request('POST', 'dashboard/api/session', values);
          await done();
        },
      }),
    ),
    h(
      'p',
      { class: 'quiet' },
      'A lost password is set again by another operator, or on the server by ',
      h('code', null, 'coffer user password EMAIL'),
      '.',
    ),
  );
}
