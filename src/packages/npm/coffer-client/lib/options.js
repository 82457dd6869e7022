// Options of a call, whose names are checked before it does anything.

'use strict';

/**
 * Refuses names that do not exist: a misspelt option would have no effect.
 *
 * @param {object | null | undefined} given
 * @param {readonly string[]} names those that exist
 * @param {string} call for the message
 * @throws {TypeError} for an unknown name
 */
function checkNames(given, names, call) {
  const unknown = Object.keys(given ?? {}).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${call}: unknown name ${JSON.stringify(unknown)}. It takes ${names.join(', ') || 'none'}`);
}

/**
 * Returns options with their defaults.
 *
 * @template {object} Given
 * @template {Record<keyof Given, unknown>} Defaults
 * @param {Defaults} defaults every option that exists, undefined where there is no default
 * @param {Given} given
 * @param {string} call for the message
 * @returns {{[Name in keyof Given & keyof Defaults]-?: Defaults[Name] | Exclude<Given[Name], undefined>}}
 * @throws {TypeError} for an unknown name
 */
function withDefaults(defaults, given, call) {
  checkNames(given, Object.keys(defaults), call);
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return /** @type {any} */ ({ ...defaults, ...Object.fromEntries(set) });
}

module.exports = { checkNames, withDefaults };
