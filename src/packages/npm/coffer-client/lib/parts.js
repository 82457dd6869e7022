// Parts of a request, checked before they are sent.

'use strict';

const { checkNames } = require('./options.js');

/** A parameter of a path. */
const PARAMETER = /\{([A-Za-z]+)\}/g;
/** Names of the query's parameters, by the path of the read. */
const QUERIES = queries();

/** @returns {Record<string, readonly string[]>} empty in the source: only a package has the file, made of the document */
function queries() {
  try {
    return require('./queries.js');
  } catch {
    return {};
  }
}

/**
 * Returns the id of an object.
 *
 * @param {unknown} object an object with an id, or the id
 * @returns {string}
 * @throws {TypeError}
 */
function idOf(object) {
  const id = typeof object === 'string' ? object : /** @type {{id?: unknown} | null | undefined} */ (object)?.id;
  // A proxy would take `.` and `..` for folders.
  if (typeof id !== 'string' || ['', '.', '..'].includes(id)) {
    throw new TypeError('an object with an id is needed, or its id');
  }
  return id;
}

/**
 * Refuses parameters that a read does not have.
 *
 * @param {string} path as in the document
 * @param {object} query
 * @throws {TypeError}
 */
function checkQuery(path, query) {
  const names = QUERIES[path];
  if (names !== undefined) checkNames(query, names, `GET ${path}`);
}

/**
 * Fills in the `{…}` of a path.
 *
 * @param {string} path
 * @param {Record<string, unknown>} params
 * @throws {TypeError} if one is missing or unknown, or the path does not begin with a slash: it could name another host
 */
function fill(path, params) {
  if (!path.startsWith('/')) throw new TypeError('path must begin with /');
  checkNames(params, Array.from(path.matchAll(PARAMETER), ([, name]) => name), path);
  return path.replace(PARAMETER, (_, name) => {
    if (params[name] === undefined) throw new TypeError(`params.${name} is needed: ${path} has it`);
    return encodeURIComponent(idOf(params[name]));
  });
}

/**
 * Returns the JSON of a body.
 *
 * @param {unknown} body
 * @throws {TypeError} if its amount is no text: a number may already be rounded
 */
function jsonOf(body) {
  const { amount } = Object(body);
  if (amount !== undefined && amount !== null && typeof amount !== 'string') {
    throw new TypeError(`amount must be a string like "19.99", not a ${typeof amount}: money is never a number`);
  }
  return JSON.stringify(body);
}

/**
 * Returns the value of a header.
 *
 * @param {unknown} value
 * @param {string} name for the message
 * @returns {string}
 * @throws {TypeError}
 */
function headerOf(value, name) {
  if (typeof value === 'string' && /^[!-~]([ -~]{0,198}[!-~])?$/.test(value)) return value;
  throw new TypeError(`${name} must be 1 to 200 printable ASCII characters, without spaces around them`);
}

/**
 * Returns a number that is within its limits.
 *
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 * @param {string} name for the message
 * @returns {number}
 * @throws {RangeError}
 */
function within(value, least, most, name) {
  // This form of the comparison also refuses NaN.
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new RangeError(`${name} must be a number from ${least} to ${most}`);
}

module.exports = { checkQuery, fill, headerOf, idOf, jsonOf, within };
