// What an event is called and about, in either format of webhooks.

'use strict';

/** @typedef {import('./api').Event | import('./api').LegacyEvent} Event */

/**
 * @param {Event} event
 * @returns {string}
 */
function typeOf(event) {
  return 'event' in event ? event.event : event.type;
}

/**
 * The id of what it is about.
 *
 * @param {Event} event
 * @returns {string | undefined}
 */
function aboutOf(event) {
  // The legacy body of a refund has the invoice too.
  const object = 'event' in event ? event.object ?? event.invoice : event.data?.object;
  return /** @type {{id?: string} | null | undefined} */ (object)?.id;
}

module.exports = { aboutOf, typeOf };
