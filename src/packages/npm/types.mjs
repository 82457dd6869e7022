// Makes of an OpenAPI document, at standard input, the one that the types are made of, at standard output.
//
// Money is a string in it, in what is sent too, and what a call does not know it does not take: a misspelt field is an
// error of the type checker. Examples are left out: they would be most of the package.

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

process.stdout.write(JSON.stringify(strict(JSON.parse(readFileSync(0, 'utf8')))));
