/** The value in TOML, on one line. Throws for values that TOML cannot express. */
export function encodeToml(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'boolean':
      return String(value);
    case 'number':
      return encodeNumber(value);
    case 'object':
      return Array.isArray(value) ? `[${value.map(encodeToml).join(',')}]` : encodeTable(value);
    default:
      throw new TypeError(`TOML has no form for ${typeof value}`);
  }
}

function encodeTable(table: object | null): string {
  if (table === null) throw new TypeError('TOML has no form for null');
  const pairs = Object.entries(table).filter(([, value]) => value !== undefined);
  return `{${pairs.map(([key, value]) => `${encodeString(key)}=${encodeToml(value)}`).join(',')}}`;
}

function encodeString(text: string): string {
  // TOML has JSON's escapes, except for lone surrogates and DEL.
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007F', String.raw`\u007F`);
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`TOML has no form for ${value}`);
  if (Number.isSafeInteger(value)) return String(value);
  // Beyond 64 bits plain digits are not a valid integer; an exponent makes a float.
  return Number.isInteger(value) ? value.toExponential() : String(value);
}
