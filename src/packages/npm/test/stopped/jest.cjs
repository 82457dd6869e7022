// Jest's fake timers, installed before and after the package is loaded.

'use strict';

const waits = require('./waits.cjs');

test.each(['before', 'after'])('timers that are stopped %s it is loaded', async (when) => {
  jest.resetModules();
  if (when === 'before') jest.useFakeTimers({ now: 0 });
  const { startCoffer } = require('coffer-sandbox');
  if (when === 'after') jest.useFakeTimers({ now: 0 });
  try {
    const said = await waits(startCoffer);
    waits.SAID.forEach((each, at) => expect(said[at]).toMatch(each));
  } finally {
    jest.useRealTimers();
  }
}, 20_000);
