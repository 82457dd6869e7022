// Converts an OpenAPI document on standard input to the one used for the types, on standard output. With --queries it
// writes a module instead: the names of the query's parameters of each read, by its path.
//
// In the result, amounts are strings, also in requests. Unknown fields are refused, so the type checker reports
// misspelt fields. Examples are omitted, because they would be most of the package.

import { readFileSync } from 'node:fs';

function strict(schema) {
  if (Array.isArray(schema)) return schema.map(strict);
  if (schema === null || typeof schema !== 'object') return schema;
  const kept = Object.entries(schema).filter(([name, value]) => (
    !(['example', 'examples'].includes(name) && !schema.properties?.[name])
    && !(name === 'additionalProperties' && value === true && schema.properties)));
  const made = Object.fromEntries(kept.map(([name, value]) => [name, strict(value)]));
  if (Array.isArray(made.type) && made.type.includes('string')) {
    made.type = made.type.filter((type) => type !== 'number');
  }
  return made;
}

function queries({ paths }) {
  const names = ({ parameters = [] }) => parameters.filter((each) => each.in === 'query').map(({ name }) => name);
  const reads = Object.entries(paths).filter(([, { get }]) => get !== undefined);
  return Object.fromEntries(reads.map(([path, { get }]) => [path, names(get)]));
}

const document = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(process.argv[2] === '--queries'
  ? `'use strict';\n\nmodule.exports = ${JSON.stringify(queries(document))};\n`
  : JSON.stringify(strict(document)));
