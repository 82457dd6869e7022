// JSON as it was written: a number in it may have more digits than a script can keep.
//
// What always holds: what is shown or copied is the text that came, with other white space at most.

/** A string, a sign, or a number or word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The text that objects and lists were read from, where a script would write another.
 * @type {WeakMap<object, string>}
 */
const written = new WeakMap();

/** Reads JSON, and keeps what it was written as. @param {string} text @returns {any} */
export function parse(text) {
  const json = JSON.parse(text);
  if (JSON.stringify(json) !== text) keep(text, json);
  return json;
}

/** The text that this was read from. @param {unknown} json */
export function source(json) {
  const text = typeof json === 'object' && json !== null ? written.get(json) : undefined;
  return text ?? JSON.stringify(json);
}

/**
 * Keeps the part of the text that each object and list was read from.
 * @param {string} text
 * @param {any} json
 */
function keep(text, json) {
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

/** JSON in lines that people can read; what is no JSON stays as it is. @param {string} text */
export function inLines(text) {
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
