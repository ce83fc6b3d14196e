import type { z } from 'zod';
import { isJsonObject } from '../../text/json.ts';

/** An optional field whose value counts as absent if it is of another kind: programs change with each release. */
export const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/**
 * Parses a native line by the schema of its name, by default its `type`. It is tried against no other, because a failed parse
 * costs ten times as much. undefined: squad needs nothing from this line.
 */
export function lineParser<Line>(
  schemas: Readonly<Record<string, z.ZodType<Line>>>,
  nameOf: (line: Readonly<Record<string, unknown>>) => unknown = ({ type }) => type,
): (value: unknown) => Line | undefined {
  const byName: ReadonlyMap<unknown, z.ZodType<Line>> = new Map(Object.entries(schemas));
  return (value) => (isJsonObject(value) ? byName.get(nameOf(value))?.safeParse(value).data : undefined);
}
