// Finds the program: the one that is asked for, or else the one in the package for this platform, or else the PATH's.

'use strict';

const { accessSync, closeSync, constants, openSync, readFileSync, readSync, statSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');
const { SandboxError } = require('./error.js');

/** Platforms that have a package, each with its name. */
const PACKAGES = Object.freeze({ 'linux-x64': '@coffer-sandbox/linux-x64' });

/** What this package says of itself. */
const OWN = join(__dirname, '../package.json');

const BUILD_IT = 'Build it (cargo build --release, in its repository), and put it into the PATH, '
  + 'or name it in COFFER_BINARY.';

/** Whether node runs on glibc, for which the program is built; Alpine's musl is none. */
function onGlibc() {
  const report = /** @type {{header?: {glibcVersionRuntime?: string}}} */ (process.report?.getReport());
  return report?.header?.glibcVersionRuntime !== undefined;
}

/**
 * The version of a package.
 *
 * @param {string} file its package.json
 * @returns {string | undefined} nothing where it is run from its source
 */
function versionOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** @param {string} platform */
function installBoth(platform) {
  const version = versionOf(OWN) ?? 'VERSION';
  // As a dependency that is not optional the second could not be installed on another platform.
  const [own, its] = ['coffer-sandbox', `coffer-sandbox-${platform}`].map((name) => `./${name}-${version}.tgz`);
  return `Install both files of the release: npm install --save-dev ${own} && npm install --save-optional ${its}`;
}

/**
 * The program of a platform's package.
 *
 * @param {string} name
 * @param {string} platform
 * @returns {string | undefined} nothing where it is not installed
 * @throws {SandboxError} where it is of another release
 */
function programOf(name, platform) {
  let path;
  try {
    // A package manager may let this package see less than the project sees.
    path = require.resolve(`${name}/bin/coffer`, { paths: [__dirname, process.cwd()] });
  } catch {
    return undefined;
  }
  const [own, its] = [versionOf(OWN), versionOf(join(dirname(path), '../package.json'))];
  if (own === its || own === undefined) return path;
  throw new SandboxError(`The package ${name} is of version ${its}, and coffer-sandbox of ${own}. ${installBoth(platform)}`);
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
 * Whether a file is a program of Linux for another kind of machine, by its head. Node gives what the system cannot run to
 * the shell, which takes it for a script.
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
    // Its start says what is wrong with it.
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
 * Where the program is. A name without a slash is looked for in PATH when it is started.
 *
 * @param {string} [asked] the program to use; default: what COFFER_BINARY names, the platform's package has, or the
 *   PATH has as `coffer`
 * @returns {string}
 * @throws {SandboxError} with what to do, where there is none
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
    + `or ${process.cwd()} sees it. ${installBoth(platform)}`);
}

module.exports = { findBinary };
