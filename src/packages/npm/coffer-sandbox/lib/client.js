// The package coffer-client, of the same release. It is a file beside this package: no package manager fetches it.

'use strict';

const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** @param {string} folder of a package @returns {string | undefined} undefined if it runs from its source */
const versionOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;

/**
 * Returns the path of the client. A package manager may hide packages from this package that the project can see.
 *
 * @returns {string | undefined}
 */
function find() {
  for (const name of ['coffer-client', join(__dirname, '../../coffer-client')]) {
    try {
      return require.resolve(name, { paths: [__dirname, process.cwd()] });
    } catch {
      // The next one, or none.
    }
  }
  return undefined;
}

/** @param {string} own version of this package @param {string} problem */
function failed(own, problem) {
  const files = ['coffer-client', 'coffer-sandbox'].map((name) => `./${name}-${own}.tgz`).join(' ');
  return new Error(`${problem} Install both files of the release: npm install --save-dev ${files}`);
}

/** @returns {typeof import('coffer-client') & typeof import('coffer-client/options')} with the client's own helper */
function load() {
  const own = versionOf(join(__dirname, '..'));
  const path = find();
  if (path === undefined) {
    const place = `coffer-sandbox or ${process.cwd()} sees it`;
    throw failed(own ?? 'VERSION', `The package coffer-client is not installed where ${place}.`);
  }
  const its = versionOf(dirname(path));
  if (own !== undefined && its !== own) {
    throw failed(own, `The package coffer-client is of version ${its}, and coffer-sandbox of ${own}.`);
  }
  return { ...require(path), ...require(join(dirname(path), 'lib/options.js')) };
}

module.exports = load();
