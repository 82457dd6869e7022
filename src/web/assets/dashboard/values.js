// Values of forms: whole numbers, payment windows and changed fields.
//
// Invariant: an invalid number is refused here, so that no other value is sent instead.

import { ApiError } from '../shared/api.js';

/**
 * Returns the whole number in a field, or null if the field is empty.
 * @param {Record<string, string>} values
 * @param {string} name
 */
export function wholeNumber(values, name) {
  const toComparable = values[name] ?? '';
  if (toComparable === '') return null;
  const number = Number(toComparable);
  if (!/^\d+$/.test(toComparable) || !Number.isSafeInteger(number))
    throw new ApiError(400, { message: 'Write a whole number in digits alone, like 1000.', param: name });
  return number;
}

const SECONDS_PER_MINUTE = 60;
/** Longest payment window, in minutes. */
const WINDOW_MAX = 24 * 60;

/** Returns a payment window as the value of a field, in minutes. @param {number} seconds */
export const windowMinutes = (seconds) => String(Math.round((seconds / SECONDS_PER_MINUTE) * 100) / 100);

/**
 * Returns the payment window in a field, in seconds, or null if the field is empty. Its value is in minutes.
 * @param {Record<string, string>} values
 * @param {string} name
 */
export function windowSeconds(values, name) {
  const minutes = wholeNumber(values, name);
  if (minutes !== null && (minutes < 1 || minutes > WINDOW_MAX))
    throw new ApiError(400, { message: `Enter 1 to ${WINDOW_MAX} minutes.`, param: name });
  return minutes === null ? null : minutes * SECONDS_PER_MINUTE;
}

/**
 * Returns the fields that differ from the loaded ones. Unchanged fields are not sent, so other users' changes stay.
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 */
export function changedFields(before, after) {
  /** @type {Record<string, unknown>} */
  const different = {};
  for (const [name, value] of Object.entries(after)) {
    const was = before[name] ?? null;
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    if (isObject && was !== null) {
      const parts = changedFields(was, value);
      if (Object.keys(parts).length > 0) different[name] = parts;
    } else if (text(value) !== text(was)) {
      different[name] = value;
    }
  }
  return different;
}

/** Returns a text to compare values by. The order of a list does not matter. @param {unknown} value */
const text = (value) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
