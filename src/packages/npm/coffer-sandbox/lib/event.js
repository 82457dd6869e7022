// Type and object of an event, in either webhook format.

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
 * Returns the id of the object of an event.
 *
 * @param {Event} event
 * @returns {string | undefined}
 */
function aboutOf(event) {
  // A refund's legacy body also contains the invoice.
  const object = 'event' in event ? event.object ?? event.invoice : event.data?.object;
  return /** @type {{id?: string} | null | undefined} */ (object)?.id;
}

module.exports = { aboutOf, typeOf };
