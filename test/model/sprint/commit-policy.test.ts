import { expect, it } from 'vitest';
import { readCommitPolicy } from '../../../src/model/sprint/commit-policy.ts';
import { subjectProblem, type CommitPolicy } from '../../../src/model/subject-policy.ts';

const policy = (more: Partial<CommitPolicy> = {}): CommitPolicy => {
  const read = readCommitPolicy('', 'COMMIT_POLICY.md');
  if (!read.ok) throw new Error('the defaults cannot be read');
  return { ...read.value, begins: 'capital', ...more };
};

const block = (...lines: string[]): string => ['# Commits', '', '```commit-policy', ...lines, '```', ''].join('\n');

it.each<[subject: string, more: Partial<CommitPolicy>, problem: string | undefined]>([
  ['Keep the head of a closed line', {}, undefined],
  ['세션을 닫는다', {}, undefined],
  ['3 todos side by side', {}, undefined],
  ['', {}, 'the subject is empty'],
  ['   ', {}, 'the subject is empty'],
  [' Keep it', {}, 'the subject begins or ends with a space'],
  ['Keep\nit', {}, 'the subject is more than one line of plain text'],
  ['Keep \u001b[31mit', {}, 'the subject is more than one line of plain text'],
  ['keep it', {}, 'the subject begins with a small letter'],
  ['keep it', { begins: 'anything' }, undefined],
  ['Keep it.', {}, 'the subject ends with a period'],
  ['Keep it.', { period: true }, undefined],
  ['K'.repeat(72), {}, undefined],
  ['K'.repeat(73), {}, 'the subject has 73 characters, and at most 72 are allowed'],
  ['😀'.repeat(72), {}, undefined],
  ['fix: keep it', { begins: 'type' }, undefined],
  ['fix(line)!: keep it', { begins: 'type' }, undefined],
  ['fix:keep it', { begins: 'type', types: ['fix'] }, expect.stringContaining('such as “fix: ”') as string],
  ['Fix: keep it', { begins: 'type', types: ['fix'] }, expect.stringContaining('the types are fix') as string],
])('the subject %j is judged by the policy', (subject, more, problem) => {
  expect(subjectProblem(subject, policy(more))).toEqual(problem);
});

it('reads its block, whatever else the document says', () => {
  expect(readCommitPolicy(`${block('begins: type', 'types: [fix, feat]')}More.\n`, 'COMMIT_POLICY.md')).toEqual({
    ok: true,
    value: { longest: 72, begins: 'type', types: ['fix', 'feat'], period: false },
  });
});

it.each([
  [block('longest: 72', 'begin: type'), 'COMMIT_POLICY.md', 5, 'did you mean “begins”?'],
  [block('longest: 5'), 'COMMIT_POLICY.md', 4, 'longest must be at least 20'],
  [block('types: [Fix]'), 'COMMIT_POLICY.md', 4, 'is no word of lower-case letters'],
  ['```commit-policy\nlongest: 72\n', 'COMMIT_POLICY.md', 1, 'nothing closes this block'],
  [block() + block(), 'COMMIT_POLICY.md', 7, 'a second block'],
])('%j is refused with its line', (text, file, line, message) => {
  const read = readCommitPolicy(text, file);
  expect(read.ok ? [] : read.problems).toMatchObject([
    { file, line, message: expect.stringContaining(message) as string },
  ]);
});
