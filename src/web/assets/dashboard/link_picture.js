// The picture of a payment link: upload and removal. A picture that is too large is scaled down in the browser.

import { form, operator } from '../shared/api.js';
import { h, root, toast } from '../shared/dom.js';
import { actionButton } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Largest size of a picture, in bytes. */
const BYTES_MAX = 100 * 1024;
/** Largest width and height that the server accepts, in pixels. */
const SIDE_MAX = 2048;
/** Largest width and height of a picture that is scaled down, in pixels. */
const SCALED_SIDE_MAX = 1200;
/** Qualities that are tried before the picture becomes smaller. */
const QUALITIES = [0.85, 0.7, 0.5];
/** Largest number of sizes that are tried. */
const SIZES_MAX = 6;

/** @param {Context} context @param {Schemas["PaymentLink"]} link */
export function pictureCard(context, link) {
  const path = context.path(`payment-links/${link.id}/picture`);
  const { mode } = context;
  const upload = form({
    label: 'Picture',
    fields: [
      {
        name: 'picture',
        label: 'Picture file',
        type: 'file',
        required: true,
        hint: 'PNG, JPEG or WebP. A picture over 100 KB is scaled down before it is sent.',
      },
    ],
    submit: link.pictureUrl ? 'Replace picture' : 'Upload picture',
    send: async () => {
      const input = upload.querySelector('input');
      const file = input?.files?.[0];
      if (!file) return;
      await operator('PUT', path, await fitPicture(file), { mode });
      toast('The picture is saved.');
      context.reload();
    },
  });
  upload.querySelector('input')?.setAttribute('accept', 'image/png,image/jpeg,image/webp');
  const remove = () => operator('DELETE', path, undefined, { mode });
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'picture' },
    h('h2', { id: 'picture' }, 'Picture'),
    link.pictureUrl
      ? [
          h('img', { class: 'picture', src: pictureUrl(link.id, link.pictureUrl), alt: `Picture of ${link.name}` }),
          h('div', null, actionButton(context, 'Remove picture', 'The picture is removed.', remove, 'danger small')),
        ]
      : h('p', { class: 'quiet' }, 'No picture yet. Customers see it above the name.'),
    upload,
  );
}

/**
 * Returns the URL of a picture at the address of this page, which may differ from the public URL of the service.
 * @param {string} id
 * @param {string} url
 */
const pictureUrl = (id, url) => new URL(`l/${id}/picture/${url.split('/').at(-1)}`, root).href;

/**
 * Returns a picture that the server accepts, if the browser can make one, else the file. Photographs are drawn again:
 * this turns them upright and removes where they were taken.
 * @param {File} file
 * @returns {Promise<Blob>}
 */
async function fitPicture(file) {
  let image;
  try {
    image = await createImageBitmap(file);
  } catch {
    return file;
  }
  const side = Math.max(image.width, image.height);
  if (file.size <= BYTES_MAX && side <= SIDE_MAX && file.type !== 'image/jpeg') return file;
  const canvas = document.createElement('canvas');
  let scale = Math.min(1, SCALED_SIDE_MAX / side);
  for (let size = 0; size < SIZES_MAX; size += 1) {
    canvas.width = Math.max(1, Math.round(image.width * scale));
    canvas.height = Math.max(1, Math.round(image.height * scale));
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    for (const quality of QUALITIES) {
      const drawn = await new Promise((/** @type {(drawn: Blob | null) => void} */ done) =>
        canvas.toBlob(done, 'image/webp', quality),
      );
      if (drawn && drawn.size <= BYTES_MAX) return drawn;
    }
    scale *= 0.7;
  }
  return file;
}
