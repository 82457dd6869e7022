// What forms send: whole numbers as they were typed, and what is different from what was loaded.
//
// What always holds: what is no number is refused here, so that nothing else is sent in its place.

import { ApiError } from '../shared/api.js';

/**
 * The whole number in a field; null where that is empty.
 * @param {Record<string, string>} values
 * @param {string} name
 */
export function whole(values, name) {
  const text = values[name] ?? '';
  if (text === '') return null;
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new ApiError(400, { message: 'Write a whole number in digits alone, like 1000.', param: name });
  return number;
}

/**
 * Of what a form has, what is different from what was loaded: what somebody else has changed since then stays.
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 */
export function changed(before, after) {
  /** @type {Record<string, unknown>} */
  const different = {};
  for (const [name, value] of Object.entries(after)) {
    const was = before[name] ?? null;
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    if (isObject && was !== null) {
      const parts = changed(was, value);
      if (Object.keys(parts).length > 0) different[name] = parts;
    } else if (text(value) !== text(was)) {
      different[name] = value;
    }
  }
  return different;
}

/** The same text for what is the same; the order of a list says nothing. @param {unknown} value */
const text = (value) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
