// Converts an OpenAPI document on standard input to the one used for the types, on standard output.
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

process.stdout.write(JSON.stringify(strict(JSON.parse(readFileSync(0, 'utf8')))));
