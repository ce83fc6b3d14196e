import type { Finding, Path } from '../../text/explain-issue.ts';
import { isJsonObject } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';

/** Keywords that all runtimes accept in the schema of an answer. */
const KEYS = [
  ...['type', 'title', 'description', 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties'],
  ...['items', 'minItems', 'maxItems', 'minimum', 'maximum', 'minLength', 'maxLength'],
];
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Problems of an answer's JSON Schema: objects must list all their fields, and an answer must have every one of them. */
export function answerProblems(schema: Readonly<Record<string, unknown>>, at: Path): Finding[] {
  if (schema['type'] !== 'object') return [{ path: at, message: 'an answer is a mapping: write `type: object`' }];
  return problemsIn(schema, at);
}

function problemsIn(schema: unknown, at: Path): Finding[] {
  if (!isJsonObject(schema)) return [{ path: at, message: 'needs a mapping that is a JSON Schema' }];
  const { type, properties, items, anyOf } = schema;
  const types = Array.isArray(type) ? type : [type];
  return [
    ...Object.keys(schema).flatMap((key) =>
      KEYS.includes(key)
        ? []
        : [{ path: [...at, key], message: `${quote(key)} is not supported: use ${KEYS.join(', ')}` }],
    ),
    ...(type === undefined || types.every((one) => TYPES.includes(String(one)))
      ? []
      : [{ path: [...at, 'type'], message: `needs one of ${TYPES.join(', ')}, or a list of them` }]),
    ...(types.includes('object') || properties !== undefined ? objectProblems(schema, at) : []),
    ...(types.includes('array') || items !== undefined ? problemsIn(items, [...at, 'items']) : []),
    ...(anyOf === undefined ? [] : formProblems(anyOf, [...at, 'anyOf'])),
    ...listProblems(schema, at),
  ];
}

function objectProblems({ properties, required, additionalProperties }: Record<string, unknown>, at: Path): Finding[] {
  const path = [...at, 'properties'];
  if (!isJsonObject(properties)) return [{ path: at, message: 'has no `properties`, a mapping of its fields' }];
  const names = Object.keys(properties);
  const listed: readonly unknown[] = Array.isArray(required) ? required : [];
  const missing = names.filter((name) => !listed.includes(name));
  return [
    ...(missing.length === 0
      ? []
      : [
          {
            path: at,
            message: `every field is required, null where it is unknown: add ${quote(missing.join(', '))} to \`required\``,
          },
        ]),
    ...listed.flatMap((name, index) =>
      typeof name === 'string' && names.includes(name)
        ? []
        : [{ path: [...at, 'required', index], message: `${quote(String(name))} is not in \`properties\`` }],
    ),
    ...(additionalProperties === false ? [] : [{ path: at, message: 'needs `additionalProperties: false`' }]),
    ...names.flatMap((name) => problemsIn(properties[name], [...path, name])),
  ];
}

function formProblems(forms: unknown, at: Path): Finding[] {
  if (!Array.isArray(forms) || forms.length === 0) return [{ path: at, message: 'needs a list of schemas' }];
  return forms.flatMap((form, index) => problemsIn(form, [...at, index]));
}

/** Values of other types than a schema has there. */
function listProblems(schema: Record<string, unknown>, at: Path): Finding[] {
  const wrong = Object.entries(schema).flatMap(([key, value]): [string, string][] => {
    if (key === 'enum') return Array.isArray(value) && value.length > 0 ? [] : [[key, 'needs a list of values']];
    if (key.startsWith('m') && KEYS.includes(key)) {
      const isWhole = key.endsWith('imum') || (Number.isInteger(value) && Number(value) >= 0);
      return typeof value === 'number' && isWhole ? [] : [[key, 'needs a number']];
    }
    if (key === 'title' || key === 'description') return typeof value === 'string' ? [] : [[key, 'needs a text']];
    return [];
  });
  return wrong.map(([key, message]) => ({ path: [...at, key], message }));
}
