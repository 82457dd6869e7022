// JSON with its source text, because a number may have more digits than JavaScript keeps.
//
// Invariant: shown and copied JSON is the received text, except for white space.

/** A string, a punctuation character, or a number or literal. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Source text of objects and lists whose text JavaScript would write differently.
 * @type {WeakMap<object, string>}
 */
const written = new WeakMap();

/** Parses JSON and keeps its source text. @param {string} text @returns {any} */
export function parse(text) {
  const json = JSON.parse(text);
  if (JSON.stringify(json) !== text) storeSources(text, json);
  return json;
}

/** Returns the source text of a parsed value. @param {unknown} json */
export function source(json) {
  const text = typeof json === 'object' && json !== null ? written.get(json) : undefined;
  return text ?? JSON.stringify(json);
}

/**
 * Stores the source text of each object and list.
 * @param {string} text
 * @param {any} json
 */
function storeSources(text, json) {
  /** @typedef {{ value: any, start: number, key: string | number, isList: boolean }} Open */
  /** @type {Open[]} */
  const open = [];
  let isKey = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const last = open.at(-1);
    if (token === '{' || token === '[') {
      const value = last ? last.value?.[last.key] : json;
      open.push({ value, start: index, key: 0, isList: token === '[' });
      isKey = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      if (last && typeof last.value === 'object' && last.value !== null)
        written.set(last.value, text.slice(last.start, index + 1));
    } else if (token === ',' && last) {
      if (last.isList) last.key = Number(last.key) + 1;
      isKey = !last.isList;
    } else if (isKey && last) {
      last.key = JSON.parse(token);
      isKey = false;
    }
  }
}

/** Formats JSON in indented lines. Other text stays unchanged. @param {string} text */
export function formatJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  let before = '';
  let lines = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === '}' || token === ']';
    const isFirst = before === '{' || before === '[';
    if (isFirst && !isEnd) depth += 1;
    if (isEnd && !isFirst) depth -= 1;
    if (before === ',' || isFirst !== isEnd) lines += `\n${'  '.repeat(depth)}`;
    lines += token === ':' ? ': ' : token;
    before = token;
  }
  return lines;
}
