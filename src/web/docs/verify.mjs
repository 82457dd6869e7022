import { createHmac, timingSafeEqual } from 'node:crypto';

/** header: X-Service-Signature as it came; body: the Buffer as it came, before any JSON is read. */
export function isSigned(secret, header, body) {
  const parts = header.split(',').map((part) => part.split('='));
  const at = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(at) || Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const signed = createHmac('sha256', secret).update(`${at}.`).update(body).digest();
  return parts.some(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value)
    && timingSafeEqual(Buffer.from(value, 'hex'), signed));
}
