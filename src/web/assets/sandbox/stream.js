// The stream of the sandbox's activity. It connects again by itself, and notices a sandbox that began anew.
//
// Invariant: a hidden page keeps no connection, because a browser allows few to a host. It catches up when it is shown.

import { root } from '../shared/dom.js';
import { parse } from '../shared/json.js';

/** @typedef {import("controls").components["schemas"]["SandboxActivity"]} AnyActivity */
/** @typedef {Extract<AnyActivity, { kind: 'run' }>} Run */
/** @typedef {Exclude<AnyActivity, { kind: 'run' }>} Activity */

/** Delay before a refused connection is tried again, in milliseconds. The browser repeats other failures. */
const RETRY_MS = 3000;

/**
 * Connects to the stream. `connected` is called with true at each connection, and with false when it is lost. `began`
 * is called when the sandbox was started again, reset or restored: what it told before no longer exists.
 * @param {{
 *   connected: (isConnected: boolean) => void,
 *   began: (cause: Run['cause']) => void,
 *   happened: (activity: Activity) => void,
 * }} listener
 * @returns {() => void} connects again at once
 */
export function listen({ connected, began, happened }) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {string | null} */
  let run = null;
  /** Id of the last activity of this run. */
  let last = '';
  let timer = 0;

  function open() {
    clearTimeout(timer);
    source?.close();
    source = null;
    if (document.visibilityState === 'hidden') return;
    const url = new URL('sandbox/stream', root);
    if (last) url.searchParams.set('since', last);
    const stream = new EventSource(url);
    source = stream;
    stream.addEventListener('open', () => connected(true));
    stream.addEventListener('error', () => {
      if (stream !== source) return;
      connected(false);
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
    });
    stream.addEventListener('run', (message) => {
      if (stream !== source) return;
      const next = /** @type {Run} */ (parse(/** @type {MessageEvent} */ (message).data));
      const isOther = run !== null && run !== next.run;
      run = next.run;
      if (!isOther) return;
      began(next.cause);
      // A new connection without the last id gets all activity of this run.
      last = '';
      open();
    });
    for (const kind of ['call', 'event', 'delivery', 'mail', 'missed']) {
      stream.addEventListener(kind, (message) => {
        if (stream !== source) return;
        const { data, lastEventId } = /** @type {MessageEvent} */ (message);
        last = lastEventId;
        happened(/** @type {Activity} */ (parse(data)));
      });
    }
  }

  document.addEventListener('visibilitychange', open);
  open();
  return open;
}
