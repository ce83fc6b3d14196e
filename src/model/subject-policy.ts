import { z } from 'zod';

/**
 * The engine checks this of each subject. A closed list and no patterns: a pattern of a repository could keep the engine busy for ever.
 */
export const commitPolicySchema = z.strictObject({
  /** Characters. */
  longest: z.int().min(20).max(200).default(72),
  begins: z.enum(['capital', 'type', 'anything']).default('anything'),
  /** For `begins: type`: the words before the colon. */
  types: z
    .array(z.string().regex(/^[a-z][a-z-]{0,19}$/, 'is no word of lower-case letters'))
    .min(1)
    .max(30)
    .default(['feat', 'fix', 'docs', 'test', 'refactor', 'perf', 'build', 'ci', 'chore']),
  period: z.boolean().default(false),
});
export type CommitPolicy = z.infer<typeof commitPolicySchema>;

/** Why this cannot be the subject of a commit, in words for its author; undefined: it can. */
export function subjectProblem(subject: string, policy: CommitPolicy): string | undefined {
  const { longest, begins, types, period } = policy;
  if (subject.trim() === '') return 'the subject is empty';
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(subject))
    return 'the subject is more than one line of plain text';
  if (subject !== subject.trim()) return 'the subject begins or ends with a space';
  const { length } = Array.from(subject);
  if (length > longest) return `the subject has ${length} characters, and at most ${longest} are allowed`;
  if (begins === 'capital' && /^\p{Ll}/u.test(subject)) return 'the subject begins with a small letter';
  if (begins === 'type' && !hasType(subject, types))
    return `the subject has to begin with a type and a colon, such as “${types[0] ?? 'fix'}: ”; the types are ${types.join(', ')}`;
  if (!period && /[.。]$/.test(subject)) return 'the subject ends with a period';
  return undefined;
}

/** `fix: …`, `fix(parser): …`, `fix!: …`. */
function hasType(subject: string, types: readonly string[]): boolean {
  const [, type = ''] = /^([a-z-]+)(?:\([^()]{1,40}\))?!?: \S/.exec(subject) ?? [];
  return types.includes(type);
}
