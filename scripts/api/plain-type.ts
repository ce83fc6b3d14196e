// The type that a zod schema stands for, from the declaration of the schema, for people to read.

const SIMPLE: Readonly<Record<string, string>> = {
  ZodString: 'string',
  ZodNumber: 'number',
  ZodInt: 'number',
  ZodBoolean: 'boolean',
  ZodNull: 'null',
  ZodUnknown: 'unknown',
  ZodAny: 'unknown',
};

/** `find`: the declared type of a schema that the text names by `typeof`. */
export function plainType(text: string, find: (name: string) => string | undefined): string {
  return typeOf(text.trim(), '', find);
}

type Find = (name: string) => string | undefined;

function typeOf(text: string, indent: string, find: Find): string {
  const [, named] = /^typeof ([\w$]+)$/.exec(text) ?? [];
  if (named !== undefined) return typeOf(find(named) ?? 'unknown', indent, find);
  const [, simple = ''] = /^z\.(?:core\.)?\$?(\w+)$/.exec(text) ?? [];
  if (simple !== '') return SIMPLE[simple] ?? text;
  const [, kind = '', inside = ''] = /^z\.(\w+)<([^]*)>$/.exec(text) ?? [];
  const parts = split(inside, ',');
  const of = (index: number): string => typeOf(parts[index] ?? 'unknown', indent, find);
  switch (kind) {
    case 'ZodObject':
      return objectOf(parts[0] ?? '', indent, find);
    case 'ZodDiscriminatedUnion':
    case 'ZodUnion':
      return split(/^(?:readonly )?\[([^]*)\]$/.exec(parts[0] ?? '')?.[1] ?? '', ',')
        .map((one) => `\n${indent}  | ${typeOf(one, `${indent}    `, find)}`)
        .join('');
    case 'ZodIntersection':
      return `${of(0)} & ${of(1)}`;
    case 'ZodArray':
      return /[|&]/.test(of(0)) ? `(${of(0)})[]` : `${of(0)}[]`;
    case 'ZodNullable':
      return `${of(0)} | null`;
    case 'ZodOptional':
    case 'ZodDefault':
    case 'ZodReadonly':
    case 'ZodType':
      return of(0);
    case 'ZodRecord':
      return `Record<${of(0)}, ${of(1)}>`;
    case 'ZodLiteral':
      return quoted(parts.join(', '));
    case 'ZodEnum':
      return fieldsOf(parts[0] ?? '')
        .map(([, value]) => quoted(value))
        .join(' | ');
    default:
      return text;
  }
}

function objectOf(text: string, indent: string, find: Find): string {
  const fields = fieldsOf(text).map(([name, value]) => {
    const optional = value.startsWith('z.ZodOptional<') ? '?' : '';
    return `${indent}  ${name}${optional}: ${typeOf(value, `${indent}  `, find)};\n`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${indent}}`;
}

/** The fields of `{ a: b; c: d }`. */
function fieldsOf(text: string): [string, string][] {
  return split(text.trim().replace(/^\{([^]*)\}$/, '$1'), ';').map((field) => {
    const at = field.indexOf(':');
    return [field.slice(0, at).trim(), field.slice(at + 1).trim()];
  });
}

function quoted(text: string): string {
  return text.replaceAll('"', "'");
}

/** The parts of a list, at its top level. */
function split(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const character = text[index] ?? separator;
    if ('<{[('.includes(character)) depth += 1;
    if ('>}])'.includes(character) && text[index - 1] !== '=') depth -= 1;
    if (character !== separator || depth > 0) continue;
    const part = text.slice(start, index).trim();
    if (part !== '') parts.push(part);
    start = index + 1;
  }
  return parts;
}
