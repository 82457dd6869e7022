// Amounts of money are strings, and what is computed of them is exact: as whole numbers of the last decimal.

'use strict';

/**
 * An amount as it is sent.
 *
 * @param {unknown} value
 * @param {string} field its name
 * @returns {string}
 * @throws {TypeError} of a number, which may have been rounded already
 */
function amountOf(value, field) {
  if (typeof value === 'string') return value;
  throw new TypeError(`${field} must be a string like "19.99", not a ${typeof value}: money is never a number`);
}

/** @param {string} amount @param {number} decimals */
function units(amount, decimals) {
  const [whole, part = ''] = amount.split('.');
  return BigInt(whole + part.padEnd(decimals, '0'));
}

/** @param {string} amount */
const decimalsOf = (amount) => (amount.split('.')[1] ?? '').length;

/**
 * What is still due: all of it where nothing is.
 *
 * @param {string} expected
 * @param {string | null} received
 * @returns {string}
 */
function due(expected, received) {
  const decimals = Math.max(decimalsOf(expected), decimalsOf(received ?? ''));
  const left = units(expected, decimals) - units(received ?? '0', decimals);
  return left > 0n ? text(left, decimals) : expected;
}

/** @param {bigint} value @param {number} decimals */
function text(value, decimals) {
  const digits = value.toString().padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  const part = digits.slice(at).replace(/0+$/, '');
  return part === '' ? digits.slice(0, at) : `${digits.slice(0, at)}.${part}`;
}

/**
 * So many halves of an amount, rounded down to so many decimals, and at least the last decimal.
 *
 * @param {string} amount
 * @param {bigint} count
 * @param {number} decimals
 * @returns {string}
 */
function halves(amount, count, decimals) {
  const value = (units(amount, decimals) * count) / 2n;
  return text(value > 0n ? value : 1n, decimals);
}

module.exports = { amountOf, due, halves };
