// The end of a test of node:test or vitest: a sandbox stops, and a failed test shows its log.

'use strict';

/** @typedef {import('./api').TestContext} TestContext */

/**
 * Does something at the end of a test, and shows a log if the test has failed.
 *
 * @param {TestContext} test the context that the test's function or the hook beforeEach is given
 * @param {() => Promise<void>} end
 * @param {() => Promise<string>} log
 * @throws {TypeError} if it is neither node:test's nor vitest's
 */
function atEnd(test, end, log) {
  const text = async () => `log of the sandbox:\n${(await log()).trimEnd()}`;
  if (isVitest(test)) {
    test.onTestFinished(end);
    test.onTestFailed(async () => console.error(await text()));
  } else if (typeof test?.after === 'function' && typeof test.diagnostic === 'function') {
    test.after(async () => {
      try {
        await end();
      } finally {
        // Node before 20.12 does not say whether the test has passed.
        // Its reporters write the line ends of a diagnostic as \n, or do not indent its other lines.
        if (test.passed === false) for (const line of (await text()).split('\n')) test.diagnostic(line);
      }
    });
  } else {
    throw new TypeError('test must be the context that a test of node:test or vitest is given');
  }
}

/** @param {any} test @returns {test is Extract<TestContext, {onTestFailed: unknown}>} */
function isVitest(test) {
  return typeof test?.onTestFailed === 'function' && typeof test.onTestFinished === 'function';
}

module.exports = { atEnd };
