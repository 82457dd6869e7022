// What every test of a page uses: a sandbox of its own, a real browser, and what always holds of a page.
//
// What always holds: a page that was opened here has asked no other host for anything, has met no error and no
// violation of its policy; closing it says so. Variables: COFFER_BINARY is the program, COFFER_NODE_MODULES the folder
// that has playwright-core and axe-core, COFFER_CHROMIUM the browser, COFFER_ASSETS a folder that assets are read from
// in place of the program's (for working on them without building), COFFER_PICTURES=0 that nobody looks at pictures.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CofferError, startCoffer as start } from '../../src/packages/npm/coffer-sandbox/index.js';


const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = createRequire(join(resolve(process.env.COFFER_NODE_MODULES ?? 'node_modules'), 'harness.js'));
const { chromium } = modules('playwright-core');
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

/** Starts a sandbox; what its npm package says of it, and calls by method and path, which need fewer words here. */
export async function startCoffer() {
  const coffer = await start({ log: 'warn', onLog: console.error });
  return {
    ...coffer,
    /** The JSON of an answer in test mode. */
    test: (method, path, body) => coffer.request(method, path, { body }),
    /** The JSON of an answer of the sandbox's controls. */
    control: (method, path, body) => coffer.request(method, `/sandbox${path}`, { body }),
    /** The status and the JSON of what may be refused. */
    async call(method, path, body, key = null) {
      try {
        return { status: 200, json: await coffer.request(method, path, { body, key }) };
      } catch (error) {
        if (!(error instanceof CofferError)) throw error;
        return { status: error.status, json: null };
      }
    },
    stop: () => coffer.stop(),
  };
}

/** Starts a browser; `await browser.close()` ends it. */
export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.COFFER_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

/**
 * A page in a context of its own. `options` are those of playwright's newContext (viewport, locale, colorScheme,
 * javaScriptEnabled, reducedMotion, …), and `origins`: those besides `url`'s that it may ask.
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

/** Closes a page and its context; what it met on the way is an error. `expected`: parts of messages that are meant. */
export async function closePage(page, expected = []) {
  const problems = page.problems.filter((problem) => !expected.some((part) => problem.includes(part)));
  await page.context().close();
  assert.deepEqual(problems, []);
}

/** Nothing that axe-core knows of WCAG 2.2 AA, or of good practice, is broken. */
export async function accessible(page, name) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {
    // A frame is a page of its own.
    iframes: false,
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  const told = found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html)}`);
  assert.deepEqual(told, [], name);
}

/** Nothing stands out to the side: the page can be read by scrolling one way. */
export async function fitsItsWidth(page, name) {
  const { wide, width } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth, width: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= width, `${name}: ${wide} px of content in ${width} px`);
}

/** A picture of the page, of a very long one its beginning, for people to look at: target/screenshots/NAME.png. */
export async function picture(page, name) {
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

/** What a page of each kind must be: its picture is taken, it is accessible and fits its width. */
export async function looked(page, name) {
  await picture(page, name);
  await accessible(page, name);
  await fitsItsWidth(page, name);
}
