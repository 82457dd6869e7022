// The sandbox's page: live activity and controls. Without this script the page still shows the keys and the commands of
// a first payment.

import { copyButton } from '../shared/dom.js';
import { showActivity } from './live.js';
import { invoices } from './invoices.js';
import { clock, faults, reset, state, webhooks } from './controls.js';

const tools = /** @type {HTMLElement} */ (document.querySelector('.tools'));
const lines = /** @type {HTMLElement} */ (document.getElementById('lines'));
document.getElementById('copy-lines')?.append(copyButton(lines.textContent ?? '', 'four lines'));
for (const code of document.querySelectorAll('.keys dd > code:first-child')) {
  code.parentElement?.append(
    copyButton(code.textContent ?? '', code.parentElement.previousElementSibling?.textContent ?? 'key'),
  );
}

const made = invoices();
tools.append(made.element, clock(), webhooks(), faults(), reset());
showActivity(/** @type {HTMLElement} */ (document.getElementById('live')), (kind) => {
  if (kind === 'event') made.refresh();
});
made.refresh();
state.refresh();
