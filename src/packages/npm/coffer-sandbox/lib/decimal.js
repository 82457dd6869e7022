// Exact arithmetic on amounts of money. Amounts are strings, computed as integers of their smallest decimal.

'use strict';

/** @param {string} amount @param {number} decimals */
function units(amount, decimals) {
  const [whole, part = ''] = amount.split('.');
  return BigInt(whole + part.padEnd(decimals, '0'));
}

/** @param {string} amount */
const decimalsOf = (amount) => (amount.split('.')[1] ?? '').length;

/**
 * Returns the amount still due, or the full amount if nothing is left.
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
 * Returns `count` halves of an amount, rounded down to `decimals` places, but at least one unit of the last place.
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

module.exports = { due, halves };
