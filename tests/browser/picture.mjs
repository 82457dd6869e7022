// Makes the picture in README.md: the sandbox's page after a payment, as a PNG of few colours. Build the program, then:
//
//   COFFER_BINARY=target/debug/coffer node tests/browser/picture.mjs

import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { openPage, startBrowser, startCoffer } from './harness.mjs';

const COLOURS_MAX = 64;
const size = { width: 1000, height: 640 };

/** Returns the pixels of a picture: red, green, blue and alpha of each. */
async function decode(png) {
  const page = await browser.newPage();
  const pixels = await page.evaluate(async ({ text, width, height }) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(await createImageBitmap(new Blob([bytes])), 0, 0);
    return [...context.getImageData(0, 0, width, height).data];
  }, { text: png.toString('base64'), ...size });
  await page.close();
  return pixels;
}

/** Returns a PNG whose pixels are indexes into a palette of the most frequent colours. */
function encode(pixels) {
  const colours = [];
  for (let at = 0; at < pixels.length; at += 4) {
    colours.push(pixels.slice(at, at + 3));
  }
  const counts = new Map();
  for (const colour of colours) counts.set(`${colour}`, (counts.get(`${colour}`) ?? 0) + 1);
  const frequent = [...counts].sort((one, other) => other[1] - one[1]).slice(0, COLOURS_MAX);
  const palette = frequent.map(([colour]) => colour.split(',').map(Number));
  const distance = (one, other) => one.reduce((sum, channel, at) => sum + (channel - other[at]) ** 2, 0);
  const indexes = new Map();
  const index = (colour) => {
    const known = indexes.get(`${colour}`);
    if (known !== undefined) return known;
    const distances = palette.map((one) => distance(one, colour));
    const nearest = distances.indexOf(Math.min(...distances));
    indexes.set(`${colour}`, nearest);
    return nearest;
  };
  const rows = Array.from({ length: size.height }, (_, row) =>
    [0, ...colours.slice(row * size.width, (row + 1) * size.width).map(index)]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size.width, 0);
  header.writeUInt32BE(size.height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())), chunk('IDAT', deflateSync(Buffer.from(rows.flat()), { level: 9 })),
    chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name, bytes) {
  const content = Buffer.concat([Buffer.from(name), bytes]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(bytes.length);
  check.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, check]);
}

const [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]);
await coffer.control('PATCH', '/account', { endpoints: [{ url: `${coffer.url}/sandbox/inbox/shop` }] });
const page = await openPage(browser, coffer.url, { viewport: size });
await page.getByRole('button', { name: 'Run a payment' }).click();
await page.locator('.steps.run li.good', { hasText: 'Paid' }).waitFor();
await page.getByText('invoice.confirmed →').first().waitFor();
writeFileSync('src/web/sandbox/page.png', encode(await decode(await page.screenshot())));
await browser.close();
await coffer.stop();
