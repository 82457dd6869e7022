// Helpers of all browser tests: a sandbox, a real browser, and checks that apply to every page.
//
// Invariant: a page sends no request to another host and has no error and no violation of its policy. `closePage` checks
// this. Variables: COFFER_BINARY is the program, COFFER_NODE_MODULES the folder with playwright-core and axe-core,
// COFFER_CHROMIUM the browser, COFFER_ASSETS a folder with assets that replace those of the program (to edit them without
// a build). COFFER_PICTURES=0 turns pictures off.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCoffer as start } from '../../src/packages/npm/coffer-sandbox/index.js';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = createRequire(join(resolve(process.env.COFFER_NODE_MODULES ?? 'node_modules'), 'harness.js'));
const { chromium } = modules('playwright-core');
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

/**
 * Starts a sandbox, with further options of the npm package if given. Returns the API of the package and short functions
 * for requests by method and path.
 */
export async function startCoffer(options = {}) {
  const coffer = await start({ log: 'warn', onLog: console.error, ...options });
  return Object.assign(coffer, {
    /** Returns the JSON of a response in test mode. */
    test: (method, path, body) => coffer.request(method, path, { body }),
    /** Returns the JSON of a response of the sandbox controls. */
    control: (method, path, body) => coffer.request(method, `/sandbox${path}`, { body }),
    /** Returns status and JSON of a response that may be an error. */
    async call(method, path, body, key) {
      const headers = { ...(body && { 'Content-Type': 'application/json' }), ...(key && { 'X-API-Key': key }) };
      const answer = await fetch(`${coffer.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
      return { status: answer.ok ? 200 : answer.status, json: answer.ok ? await answer.json().catch(() => null) : null };
    },
  });
}

/** Starts a browser. Call `await browser.close()` to end it. */
export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.COFFER_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

/**
 * Opens a page in a new context. `options` are those of playwright's newContext (viewport, locale, colorScheme,
 * javaScriptEnabled, reducedMotion, …). `origins` lists further origins that the page may contact.
 */
export async function openPage(browser, url, { origins = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const allowed = new Set([new URL(url).origin, ...origins]);
  const problems = [];
  page.problems = problems;
  page.requests = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    page.requests.push(request.url());
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !allowed.has(origin)) problems.push(`asked ${request.url()}`);
  });
  if (process.env.COFFER_ASSETS) {
    await context.route('**/assets/*/**', async (route) => {
      const [folder, file] = new URL(route.request().url()).pathname.split('/').slice(-2);
      const contentType = types[file.split('.').at(-1)];
      await route.fulfill({ contentType, body: readFileSync(join(process.env.COFFER_ASSETS, folder, file)) });
    });
  }
  await page.goto(url);
  return page;
}

/** Closes a page and its context. Throws on errors of the page, except messages that contain a text of `expected`. */
export async function closePage(page, expected = []) {
  const problems = page.problems.filter((problem) => !expected.some((part) => problem.includes(part)));
  await page.context().close();
  assert.deepEqual(problems, []);
}

/** Asserts that axe-core finds no violation of WCAG 2.2 AA or of good practice. */
export async function assertAccessible(page, name) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {
    // Frames are excluded here: each is checked as a page of its own.
    iframes: false,
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  const told = found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html)}`);
  assert.deepEqual(told, [], name);
}

/** Asserts that the page needs no horizontal scrolling. */
export async function assertFitsWidth(page, name) {
  const { wide, width } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth, width: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= width, `${name}: ${wide} px of content in ${width} px`);
}

/** Takes a picture of the page, or of the top of a long one, for people: target/screenshots/NAME.png. */
export async function takePicture(page, name) {
  if (process.env.COFFER_PICTURES === '0') return;
  const folder = join(root, 'target/screenshots');
  mkdirSync(folder, { recursive: true });
  const [width, height] = await page.evaluate(() => {
    const { clientWidth, scrollHeight } = document.documentElement;
    return [clientWidth, scrollHeight];
  });
  const clip = { x: 0, y: 0, width, height: Math.min(height, 6000) };
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip });
}

/** Takes a picture and checks accessibility and width. */
export async function checkPage(page, name) {
  await takePicture(page, name);
  await assertAccessible(page, name);
  await assertFitsWidth(page, name);
}
