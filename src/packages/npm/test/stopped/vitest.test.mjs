// Vitest's fake timers, installed before the package is loaded.

import { expect, test, vi } from 'vitest';
import waits from './waits.cjs';

test('timers that are stopped before it is loaded', async () => {
  vi.useFakeTimers({ now: 0 });
  try {
    const { startCoffer } = await import('coffer-sandbox');
    const said = await waits(startCoffer);
    waits.SAID.forEach((each, at) => expect(said[at]).toMatch(each));
  } finally {
    vi.useRealTimers();
  }
}, 20_000);
