import { z } from 'zod';
import { orderProblems } from '../../text/problem.ts';
import { parseYaml, type YamlResult } from '../../text/yaml-file.ts';

/**
 * The engine checks this of each subject. A closed list and no patterns: a pattern of a repository could keep the engine busy for ever.
 */
const commitPolicySchema = z.strictObject({
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

/** Without a `COMMIT_POLICY.md`, or without a block in it. */
export const DEFAULT_COMMIT_POLICY: CommitPolicy = Object.freeze(commitPolicySchema.parse({}));

const FENCE = /^(`{3,})commit-policy[ \t]*$/;
const EXAMPLE = 'longest: 72\nbegins: capital';

/** The block `commit-policy` of a `COMMIT_POLICY.md`; without one, the defaults. Its other words are for agents. */
export function readCommitPolicy(text: string, file: string): YamlResult<CommitPolicy> {
  const lines = text.split(/\r\n?|\n/);
  const start = lines.findIndex((line) => FENCE.test(line));
  if (start < 0) return { ok: true, value: DEFAULT_COMMIT_POLICY };
  const [, fence = ''] = FENCE.exec(lines[start] ?? '') ?? [];
  const end = lines.findIndex((line, index) => index > start && line.trimEnd() === fence);
  if (end < 0) return problem(file, start + 1, 'nothing closes this block');
  const again = lines.findIndex((line, index) => index > end && FENCE.test(line));
  if (again >= 0) return problem(file, again + 1, 'a second block `commit-policy`; only one is read');
  const source = {
    file,
    text: lines.slice(start + 1, end).join('\n'),
    firstLine: start + 2,
    examples: { '': EXAMPLE },
  };
  return parseYaml(source, commitPolicySchema);
}

function problem(file: string, line: number, message: string): YamlResult<CommitPolicy> {
  return { ok: false, problems: orderProblems([{ file, line, message }]) };
}

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
