/** Plain JSON. Everything that is stored or crosses a port is of this shape. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A plain value as JSON: what is undefined is left out. Only for values whose types say that they are plain. */
export function plainJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value that a text holds as JSON; undefined if it is not JSON, or nested too deeply to parse. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of an object; none of anything else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

/** The objects in a list; none if it is no list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The fields of the object that a text holds as JSON; none if it holds anything else. */
export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  return asObject(parseJson(text));
}
