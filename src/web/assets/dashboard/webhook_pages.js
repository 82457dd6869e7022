// Shared by the pages about webhooks: their tabs, the event types, and the values to verify next.

/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Tabs of the pages about webhooks. @type {[string, string][]} */
export const webhookTabs = [
  ['/webhooks', 'Endpoints'],
  ['/deliveries', 'Deliveries'],
  ['/events', 'Events'],
  ['/signature', 'Verify signature'],
];

/** All event types. @type {Schemas["Event"]["type"][]} */
export const eventTypes = [
  'invoice.created',
  'invoice.detected',
  'invoice.confirmed',
  'invoice.overpaid',
  'invoice.underpaid',
  'invoice.expired',
  'invoice.paid_late',
  'invoice.cancelled',
  'invoice.failed',
  'deposit.confirmed',
  'payout.paid',
  'payout.failed',
  'refund.paid',
  'refund.failed',
  'account.approved',
  'account.suspended',
];

/** Values that the page of signatures verifies next, taken from a delivery attempt. */
export const nextToVerify = { body: '', headers: '' };
