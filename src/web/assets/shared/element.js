// Elements of pages that a script fills.
//
// Invariant: data is inserted as text, never as markup. Links lead only to this service, to websites or to known apps.

/** @typedef {Node | string | number | null | undefined | false | readonly unknown[]} Child a list is of children */
/** @typedef {Record<string, unknown>} Props */

/**
 * Creates an element. A function property whose name begins with `on` is an event listener. `true` is an attribute
 * without a value; `false`, `null` and `undefined` add none. `value`, `checked` and `selected` are set as properties.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) {
      if (typeof value !== 'function') throw new Error(`${name} must be a function`);
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (['value', 'checked', 'selected', 'indeterminate'].includes(name)) {
      Object.assign(element, { [name]: value });
    } else if (['href', 'src', 'action'].includes(name)) {
      if (isSafe(String(value))) element.setAttribute(name, String(value));
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  add(element, children);
  return element;
}

/**
 * Creates an SVG element.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 */
export function s(tag, props, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(props ?? {})) element.setAttribute(name, String(value));
  add(element, children);
  return element;
}

/** URL schemes that open authenticators and wallets. */
const apps = ['otpauth:', 'bitcoin:', 'litecoin:', 'dogecoin:', 'ethereum:', 'solana:'];

/**
 * Returns true if a URL leads to this service, a website or a known app. `javascript:` URLs do not.
 * @param {string} url
 */
export function isSafe(url) {
  try {
    return ['http:', 'https:', 'blob:', ...apps].includes(new URL(url, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/**
 * Appends children. Skips empty ones and flattens lists.
 * @param {Node} element
 * @param {Child[]} children
 */
export function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Replaces all children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
}
