// Finds private keys and recovery phrases in typed text, so that the page refuses them before it sends anything. The
// server refuses them as well.

import { ApiError } from '../shared/api.js';

/** Beginnings of extended private keys, as in SLIP-132, of litecoin and of dogecoin. */
const EXTENDED = /^(?:[xyztuvYZUV]prv|[LMt]tpv|[dt]gpv)/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
/** Smallest number of words of a recovery phrase. */
const WORDS_MIN = 12;
/** Longest word of a recovery phrase, in characters. */
const WORD_CHARS_MAX = 16;

/** Returns the kind of the first secret in a text, or null. @param {string} text */
export function secretKind(text) {
  const pieces = text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  for (const piece of pieces) {
    if (EXTENDED.test(piece) && piece.length >= 16) return 'an extended private key';
    if (/^(?:0x)?[0-9a-f]{64}$/i.test(piece)) return 'a private key in hexadecimal';
    if (!BASE58.test(piece)) continue;
    if (piece.length === 58 && piece.startsWith('6P')) return 'an encrypted private key';
    if (piece.length === 51 || piece.length === 52) return 'a private key (WIF)';
  }
  const isWord = (/** @type {string} */ piece) => /^\p{L}+$/u.test(piece) && [...piece].length <= WORD_CHARS_MAX;
  return pieces.filter(isWord).length >= WORDS_MIN ? 'a recovery phrase' : null;
}

/**
 * Throws an error beside the first of these fields that holds a secret.
 * @param {Record<string, unknown>} values texts by the name of their field
 */
export function refuseSecrets(values) {
  for (const [name, text] of Object.entries(values)) {
    const kind = typeof text === 'string' ? secretKind(text) : null;
    if (!kind) continue;
    const message =
      `This is ${kind}, so it was not sent. Anyone who has it can spend your money. Clear the field and enter the ` +
      'extended public key';
    throw new ApiError(0, { message, param: name });
  }
}
