// HMAC-SHA-256 signatures, computed in the browser. Pages over plain http have no `crypto.subtle`.

/** @param {Uint8Array<ArrayBuffer>} key @param {string} text */
export async function hmac(key, text) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text)));
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
