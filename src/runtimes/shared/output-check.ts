import { z } from 'zod';
import type { Json } from '../../text/json.ts';

export type OutputCheck =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/**
 * The host's own check of a structured answer: claude may leave it out and codex does not check it at all.
 * Throws when the schema itself is one that zod cannot read; `schemaProblem` tells beforehand.
 */
export function checkOutput(schema: Record<string, Json>, answer: Json | undefined): OutputCheck {
  if (answer === undefined) return { ok: false, problem: 'the runtime gave no structured answer' };
  const parsed = z.fromJSONSchema(schema).safeParse(answer);
  if (parsed.success) return { ok: true, value: answer };
  const issue = parsed.error.issues[0];
  return {
    ok: false,
    problem: `the answer breaks its schema at /${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`,
  };
}

export function schemaProblem(schema: Record<string, Json>): string | undefined {
  try {
    z.fromJSONSchema(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
