// Tips: the exact time of a time, and the whole text of a clipped cell, on hover and focus.
//
// Invariant: Escape hides a tip, and the pointer can move onto it (WCAG 1.4.13).

import { add, h } from './element.js';

/** Distance between an element and its tip, and between the tip and the window's edge, in pixels. */
const GAP = 4;

/** @type {HTMLElement | null} */
let tip = null;
/** @type {HTMLElement | null} element whose tip is shown */
let owner = null;

/** Returns the element around `place` that has a tip. @param {EventTarget | null} place */
function ownerOf(place) {
  const found = place instanceof Element ? place.closest('[data-tip], [data-clipped]') : null;
  return found instanceof HTMLElement ? found : null;
}

/** @param {HTMLElement} next */
function show(next) {
  if (owner === next) return;
  hide();
  owner = next;
  const text = next.dataset.tip ?? next.innerText;
  tip = h('div', { class: 'tip', id: 'tip', role: 'tooltip' });
  add(tip, [text]);
  (next.closest('dialog') ?? document.getElementById('content') ?? document.body).append(tip);
  next.setAttribute('aria-describedby', 'tip');
  const { left, top, bottom } = next.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = tip;
  const { clientWidth, clientHeight } = document.documentElement;
  const isBelow = bottom + GAP + offsetHeight < clientHeight;
  tip.style.left = `${Math.max(GAP, Math.min(left, clientWidth - offsetWidth - GAP))}px`;
  tip.style.top = `${Math.max(GAP, isBelow ? bottom + GAP : top - GAP - offsetHeight)}px`;
}

function hide() {
  owner?.removeAttribute('aria-describedby');
  tip?.remove();
  [tip, owner] = [null, null];
}

let isReady = false;

/** Shows tips from now on. */
export function tipOnDemand() {
  if (isReady) return;
  isReady = true;
  const enter = (/** @type {Event} */ { target }) => {
    const next = ownerOf(target);
    if (next) show(next);
  };
  const leave = (/** @type {MouseEvent | FocusEvent} */ { relatedTarget }) => {
    const isOnTip = relatedTarget instanceof Node && tip?.contains(relatedTarget);
    if (owner && !isOnTip && ownerOf(relatedTarget) !== owner) hide();
  };
  document.addEventListener('mouseover', enter);
  document.addEventListener('mouseout', leave);
  document.addEventListener('focusin', enter);
  document.addEventListener('focusout', leave);
  document.addEventListener('scroll', hide, true);
  addEventListener('hashchange', hide);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !tip) return;
    // The first Escape hides the tip, and leaves a dialog open.
    event.preventDefault();
    hide();
  });
}
