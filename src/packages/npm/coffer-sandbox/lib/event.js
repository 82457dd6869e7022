// Type and object of an event, in either webhook format.

'use strict';

/** @typedef {import('./api').Event | import('./api').LegacyEvent} Event */

/** @param {string | {id: string}} object an object, or its id @returns {string} */
function idOf(object) {
  const id = typeof object === 'string' ? object : object?.id;
  if (typeof id !== 'string' || id === '') throw new TypeError('an object with an id is needed, or its id');
  return id;
}

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

/**
 * Returns a test of webhooks: of this type, and about this object. Without one of them it fits any.
 *
 * @param {string | undefined} type
 * @param {import('./api').Id | undefined} about
 * @returns {(webhook: {event: Event}) => boolean}
 */
function matcher(type, about) {
  const id = about === undefined ? undefined : idOf(about);
  return ({ event }) => (type === undefined || typeOf(event) === type) && (id === undefined || aboutOf(event) === id);
}

/** @param {{event: Event}[]} webhooks @returns {string} the types of their events, for messages */
function typesOf(webhooks) {
  return webhooks.map(({ event }) => typeOf(event)).join(', ') || 'nothing';
}

module.exports = { idOf, matcher, typeOf, typesOf };
