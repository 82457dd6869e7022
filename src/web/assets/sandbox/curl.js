// The command that repeats a call of the activity list.
//
// Invariant: every part that a client chose is quoted for a POSIX shell. Hidden secrets stay hidden.

import { root } from '../shared/dom.js';

/** Quotes a text for a shell. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the curl command that repeats a call. Returns null if the body of the call is not kept whole.
 * @param {Extract<import("controls").components["schemas"]["SandboxActivity"], { kind: 'call' }>} call
 */
export function curlCommand({ method, target, headers, sent }) {
  if (sent.cut || sent.text.startsWith('(a body ')) return null;
  const words = ['curl'];
  if (method === 'HEAD') words.push('-I');
  else if (method !== 'GET' || sent.text !== '') words.push('-X', /^[A-Z]+$/.test(method) ? method : quoted(method));
  // curl would expand brackets, and remove dots.
  if (/[[\]{}]/.test(target)) words.push('-g');
  if (target.includes('/.')) words.push('--path-as-is');
  words.push(quoted(root.href.replace(/\/$/, '') + target));
  for (const [name, value] of Object.entries(headers)) words.push('-H', quoted(`${name}: ${value}`));
  if (sent.text !== '') words.push('--data-raw', quoted(sent.text));
  return words.join(' ');
}
