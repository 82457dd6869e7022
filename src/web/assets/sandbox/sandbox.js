// The sandbox's page: a run of a payment, live activity, and controls. Without this script the page still shows the keys
// and the commands of a first payment.

import { copyButton } from '../shared/dom.js';
import { connection } from './ask.js';
import { activityList } from './live.js';
import { invoices } from './invoices.js';
import { clock, faults, reset, state, webhooks } from './controls.js';
import { payments } from './run.js';
import { listen } from './stream.js';

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
for (const name of ['invoice', 'lines']) {
  byId(`copy-${name}`).append(copyButton(byId(name).textContent ?? '', name === 'lines' ? 'four lines' : 'command'));
}
for (const code of document.querySelectorAll('.keys dd > code:first-child')) {
  code.parentElement?.append(
    copyButton(code.textContent ?? '', code.parentElement.previousElementSibling?.textContent ?? 'key'),
  );
}

const made = invoices();
const run = payments(made.refresh);
byId('run').append(run.element);
document.querySelector('.tools')?.append(made.element, clock(), webhooks(), faults(), reset());
const activity = activityList(byId('live'));

/** Says in one place that the sandbox does not respond. @param {boolean} isConnected */
function showConnection(isConnected) {
  const text = isConnected ? '' : 'No connection to the sandbox. This page continues when the sandbox is back.';
  if (byId('away').textContent !== text) byId('away').textContent = text;
  activity.setConnected(isConnected);
}

function refresh() {
  made.refresh();
  state.refresh();
}

const reconnect = listen({
  connected(isConnected) {
    showConnection(isConnected);
    if (isConnected) refresh();
  },
  began(cause) {
    run.end();
    made.forget();
    activity.begin(cause);
    refresh();
  },
  happened(entry) {
    activity.add(entry);
    if (entry.kind === 'event') made.refresh();
  },
});
connection.lost = () => {
  showConnection(false);
  reconnect();
};
