import { z } from 'zod';
import { sha256Of } from '../sha256.ts';

/** A judge names it so that others see a criterion met. No field is optional, because strict structured output requires all. */
export const judgeEvidenceSchema = z.union([
  z.object({
    command: z.string().describe('a command that you ran, as you ran it'),
    output: z.string().describe('the part of its output that shows it; its exit code if it printed nothing'),
  }),
  z.object({
    file: z.string().describe('from the root of the repository'),
    line: z.number().int().describe('where the quote begins, from 1'),
    quote: z.string().describe('the text that shows it, word for word: a whole line, or a few'),
  }),
]);
export type JudgeEvidence = z.infer<typeof judgeEvidenceSchema>;

/**
 * The finding on one piece of evidence. `line`: where the quote begins. `not-told`: nothing says which commands the judge ran.
 */
const lookedUpSchema = z.discriminatedUnion('as', [
  z.object({ as: z.literal('quoted'), line: z.number().int().positive() }),
  z.object({ as: z.enum(['ran', 'not-run', 'not-told', 'no-file', 'no-quote', 'too-large']) }),
]);
export type LookedUp = z.infer<typeof lookedUpSchema>;

/** By the key of the evidence. Without an entry, it was not looked up. */
export const lookUpsSchema = z.record(z.string(), lookedUpSchema);
export type LookUps = z.infer<typeof lookUpsSchema>;

/** `by`: the judge, because what its turns ran is no evidence of another judge. */
export function evidenceKey(by: string | null, evidence: JudgeEvidence): string {
  const parts = 'quote' in evidence ? [evidence.file, evidence.line, evidence.quote] : [by, evidence.command];
  return sha256Of(JSON.stringify(parts)).slice(0, 16);
}
