import { describe, expect, it } from 'vitest';
import { answerProblems } from '../../../src/playbooks/stages/check-answer.ts';
import { ANSWER, type WorkerAnswer, workerProblems } from '../../../src/playbooks/session/answer.ts';
import { outputProblem, schemaProblem } from '../../../src/runtimes/shared/turn-verdict.ts';
import { plainJson } from '../../../src/text/json.ts';
import { answer, fullAnswer } from '../../support/session-folder.ts';

const LIMIT = 65_536;
const long = 'é'.repeat(LIMIT / 2);
const name = 'n'.repeat(1024);

function problemsOf(more: Partial<WorkerAnswer>): string[] {
  const given = plainJson({ ...answer(), ...more });
  expect(outputProblem({ ...ANSWER }, given)).toBeUndefined();
  return workerProblems(given);
}

describe('the form of an answer', () => {
  it('is one that every runtime takes, with all fields required', () => {
    expect(answerProblems(ANSWER, [])).toEqual([]);
    expect(schemaProblem({ ...ANSWER })).toBeUndefined();
  });

  it.each(['nothing', 'everything'])('takes an answer that leaves %s', (what) => {
    const given = plainJson(what === 'nothing' ? answer() : fullAnswer('A'));
    expect(outputProblem({ ...ANSWER }, given)).toBeUndefined();
    expect(workerProblems(given)).toEqual([]);
  });

  it('says to the workers what each field means', () => {
    const { properties } = ANSWER as { properties?: Record<string, { description?: string }> };
    expect(Object.keys(properties ?? {})).toEqual(Object.keys(answer()));
    for (const { description } of Object.values(properties ?? {})) expect(description).toMatch(/ /);
  });
});

const tooLong = (at: string, bytes: number, most: number): string =>
  `\`${at}\` has ${bytes} bytes, and the limit is ${most / 1024} KiB (${most} bytes). Shorten it.`;

describe('an answer that goes back to its author', () => {
  const exploration = { angle: 'a', keywords: [], findings: 'f' };
  const artifact = { name: 'a', markdown: 'm' };

  it.each<[string, Partial<WorkerAnswer>, string]>([
    ['summary', { summary: ' \n' }, '`summary` is empty.'],
    ['artifact.name', { artifact: { ...artifact, name: '\t' } }, '`artifact.name` is empty.'],
    ['artifact.markdown', { artifact: { ...artifact, markdown: '' } }, '`artifact.markdown` is empty.'],
    [
      'memory.key',
      {
        memory: [
          { key: 'a', value: '' },
          { key: '', value: 'x' },
        ],
      },
      '`memory[1].key` is empty.',
    ],
    ['angle', { explorations: [{ ...exploration, angle: ' ' }] }, '`explorations[0].angle` is empty.'],
    ['findings', { explorations: [{ ...exploration, findings: '' }] }, '`explorations[0].findings` is empty.'],
  ])('has an empty %s', (_what, more, problem) => {
    expect(problemsOf(more)).toEqual([problem]);
  });

  it.each<[string, (text: string) => Partial<WorkerAnswer>]>([
    ['summary', (summary) => ({ summary })],
    ['artifact.markdown', (markdown) => ({ artifact: { ...artifact, markdown } })],
    ['memory[0].value', (value) => ({ memory: [{ key: 'k', value }] })],
    ['learnings[1]', (text) => ({ learnings: ['x', text] })],
    ['decisions[0]', (text) => ({ decisions: [text] })],
    ['issues[0]', (text) => ({ issues: [text] })],
    ['explorations[0].findings', (findings) => ({ explorations: [{ ...exploration, findings }] })],
    ['discussion[1]', (discussion) => ({ discussion: ['x', discussion] })],
  ])('has more than 64 KiB in %s, and not one byte less', (at, give) => {
    expect(problemsOf(give(long))).toEqual([]);
    expect(problemsOf(give(`${long}!`))).toEqual([tooLong(at, LIMIT + 1, LIMIT)]);
  });

  it.each<[string, (text: string) => Partial<WorkerAnswer>]>([
    ['artifact.name', (text) => ({ artifact: { ...artifact, name: text } })],
    ['memory[0].key', (key) => ({ memory: [{ key, value: '' }] })],
    ['explorations[0].angle', (angle) => ({ explorations: [{ ...exploration, angle }] })],
    ['explorations[0].keywords[0]', (word) => ({ explorations: [{ ...exploration, keywords: [word] }] })],
  ])('has more than 1 KiB in %s, and not one byte less', (at, give) => {
    expect(problemsOf(give(name))).toEqual([]);
    expect(problemsOf(give(`${name}!`))).toEqual([tooLong(at, 1025, 1024)]);
  });

  it.each<[string, (length: number) => Partial<WorkerAnswer>]>([
    ['memory', (length) => ({ memory: Array.from({ length }, (_, index) => ({ key: `${index}`, value: '' })) })],
    ['learnings', (length) => ({ learnings: Array.from({ length }, () => 'x') })],
    ['decisions', (length) => ({ decisions: Array.from({ length }, () => 'x') })],
    ['issues', (length) => ({ issues: Array.from({ length }, () => 'x') })],
    ['explorations', (length) => ({ explorations: Array.from({ length }, () => exploration) })],
    [
      'explorations[0].keywords',
      (length) => ({ explorations: [{ ...exploration, keywords: Array.from({ length }, () => 'x') }] }),
    ],
  ])('has more than 100 %s', (at, give) => {
    expect(problemsOf(give(100))).toEqual([]);
    expect(problemsOf(give(101))).toEqual([`\`${at}\` has 101 entries, and the most is 100. Keep the important ones.`]);
  });

  it('has more than 1 MiB in all', () => {
    const learnings = Array.from({ length: 15 }, () => long);
    const room = 1024 * 1024 - 15 * LIMIT - 'done'.length;
    expect(problemsOf({ learnings, decisions: ['x'.repeat(room)] })).toEqual([]);
    expect(problemsOf({ learnings, decisions: ['x'.repeat(room), '!'] })).toEqual([
      'The answer has 1048577 bytes of text, and the limit is 1 MiB (1048576 bytes). Shorten it.',
    ]);
  });

  it('hears of twenty problems at once', () => {
    const memory = Array.from({ length: 30 }, () => ({ key: '', value: '' }));
    const problems = problemsOf({ memory });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe('There are 10 more problems like these.');
  });
});
