import { orderProblems } from '../../text/problem.ts';
import { parseYaml, type YamlResult } from '../../text/yaml-file.ts';
import { commitPolicySchema, type CommitPolicy } from '../subject-policy.ts';

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
