// Times for people: relative within a day, by the server's clock, and exact in local time and UTC.
//
// Invariant: relative times stay true while a page is open.

/** How much the server's clock is ahead of this browser's, in milliseconds. A sandbox's clock can be far ahead. */
let ahead = 0;

/** Difference that is taken for the delay of a response and the whole seconds of its header, in milliseconds. */
const TOLERANCE_MS = 1500;

const DAY_S = 24 * 3600;
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const seconds = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const zoned = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** Takes the server's time from the header `Date` of a response. @param {string | null} date */
export function setServerTime(date) {
  const found = Date.parse(date ?? '') + 500 - Date.now();
  if (Math.abs(found - ahead) > TOLERANCE_MS) ahead = found;
}

/** Returns the time of the server's clock, in milliseconds since 1970. */
export const serverNow = () => Date.now() + ahead;

/**
 * Formats a time: relative with seconds, minutes or hours within a day, otherwise as a local date with its time.
 * @param {string} moment
 * @param {number} [now]
 */
export function timeText(moment, now = serverNow()) {
  const at = Date.parse(moment);
  const passed = Math.round((now - at) / 1000);
  const distance = Math.abs(passed);
  if (Number.isNaN(at)) return moment;
  if (distance >= DAY_S) return days.format(at);
  if (distance === 0) return 'now';
  const count =
    distance < 60
      ? `${distance} s`
      : distance < 3600
        ? `${Math.floor(distance / 60)} min`
        : `${Math.floor(distance / 3600)} h`;
  return passed > 0 ? `${count} ago` : `in ${count}`;
}

/** Formats a time in local time with seconds. @param {string} moment */
export const localText = (moment) => seconds.format(new Date(moment));

/** Formats a time in local time and in UTC, with seconds. @param {string} moment */
export function exactText(moment) {
  const at = new Date(moment);
  return `${zoned.format(at)}\n${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

let isTicking = false;

/** Keeps the relative times of the page true. */
export function keepTimesTrue() {
  if (isTicking) return;
  isTicking = true;
  setInterval(() => {
    if (document.hidden) return;
    for (const shown of document.querySelectorAll('time[data-live]')) {
      const text = timeText(shown.getAttribute('datetime') ?? '');
      if (shown.textContent !== text) shown.textContent = text;
    }
  }, 1000);
}
