// Finds the program: an explicit path, else the package for this platform, else PATH.

'use strict';

const { accessSync, closeSync, constants, openSync, readFileSync, readSync, statSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');
const { SandboxError } = require('./error.js');

/** Package name for each supported platform. */
const PACKAGES = Object.freeze({
  'linux-arm64': '@coffer-sandbox/linux-arm64',
  'linux-x64': '@coffer-sandbox/linux-x64',
});

/** The package.json of this package. */
const OWN = join(__dirname, '../package.json');

const BUILD_IT = 'Build it (cargo build --release, in its repository), and put it into the PATH, '
  + 'or name it in COFFER_BINARY.';

/** Returns true if node runs on glibc, which the program needs. Alpine's musl is not supported. */
function onGlibc() {
  const report = /** @type {{header?: {glibcVersionRuntime?: string}}} */ (process.report?.getReport());
  return report?.header?.glibcVersionRuntime !== undefined;
}

/**
 * Returns the version of a package.
 *
 * @param {string} file its package.json
 * @returns {string | undefined} undefined if it runs from its source
 */
function versionOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** @param {string} platform */
function installAll(platform) {
  const version = versionOf(OWN) ?? 'VERSION';
  const files = ['coffer-client', 'coffer-sandbox', `coffer-sandbox-${platform}`].map((name) => `./${name}-${version}.tgz`);
  // The last is optional: as a mandatory dependency it would fail to install on other platforms.
  const [client, own, its] = files;
  return `Install the files of the release: npm install --save-dev ${client} ${own} && npm install --save-optional ${its}`;
}

/**
 * Returns the program of a platform's package.
 *
 * @param {string} name
 * @param {string} platform
 * @returns {string | undefined} undefined if it is not installed
 * @throws {SandboxError} if it is of another release
 */
function programOf(name, platform) {
  let path;
  try {
    // A package manager may hide packages from this package that the project can see.
    path = require.resolve(`${name}/bin/coffer`, { paths: [__dirname, process.cwd()] });
  } catch {
    return undefined;
  }
  const [own, its] = [versionOf(OWN), versionOf(join(dirname(path), '../package.json'))];
  if (own === its || own === undefined) return path;
  throw new SandboxError(`The package ${name} is of version ${its}, and coffer-sandbox of ${own}. ${installAll(platform)}`);
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

/**
 * Returns true if a file's header says that it is a Linux program for another machine type. Node passes a file that the
 * system cannot run to the shell, which treats it as a script.
 *
 * @param {string} path
 */
function isForeign(path) {
  const machine = { x64: 62, arm64: 183 }[/** @type {string} */ (process.arch)];
  const head = Buffer.alloc(20);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, head, 0, head.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    // Starting the file will report the problem.
  }
  return machine !== undefined && head.toString('latin1', 0, 4) === '\x7fELF' && head.readUInt16LE(18) !== machine;
}

/** @param {string} path */
function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns the path of the program. The system searches PATH for a name without a slash when the program starts.
 *
 * @param {string} [asked] the program to use; default: COFFER_BINARY, else the platform's package, else `coffer` in
 * PATH
 * @returns {string}
 * @throws {SandboxError} if there is none, with advice
 */
function findBinary(asked) {
  const name = asked ?? (process.env.COFFER_BINARY || undefined);
  if (name !== undefined) {
    if (name.includes('/') && !isFile(name)) {
      const by = asked === undefined ? 'COFFER_BINARY names' : 'The option `binary` names';
      throw new SandboxError(`${by} ${name}, which is not a file.`);
    }
    if (isForeign(name)) {
      throw new SandboxError(`${name} is a program for another kind of machine than this, which is ${process.arch}.`);
    }
    return name;
  }
  const platform = `${process.platform}-${process.arch}`;
  const found = Object.entries(PACKAGES).find(([of]) => of === platform)?.[1];
  const packed = found && programOf(found, platform);
  if (packed !== undefined) return packed;
  const inPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'coffer')).find(isProgram);
  if (inPath !== undefined) return inPath;
  if (found === undefined) {
    const known = Object.keys(PACKAGES).join(', ');
    throw new SandboxError(`coffer-sandbox has no program for ${platform} (only for ${known}). ${BUILD_IT}`);
  }
  if (!onGlibc()) {
    throw new SandboxError(`coffer-sandbox has no program for ${platform} with musl, only with glibc. ${BUILD_IT}`);
  }
  throw new SandboxError(`The package ${found}, which has the program for ${platform}, is not installed where coffer-sandbox `
    + `or ${process.cwd()} sees it. ${installAll(platform)}`);
}

module.exports = { findBinary };
