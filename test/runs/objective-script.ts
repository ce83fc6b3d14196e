import { DOCUMENTS, documentPath, documentText } from '../support/objective-documents.ts';
import { again, APPROVE_ALL, author, commits, type Entry, type Step } from './run-script.ts';

export function pathOf(task: string): string {
  return documentPath('make-things', task) ?? '';
}

export function writes(task: string, note?: string): Step[] {
  return commits({ [pathOf(task)]: documentText(task, note) });
}

/** The author of a document, after a rejection: round 2 is the second turn of its session. */
export function rewrites(task: string, turn: number): Entry {
  return again(task, 'review', writes(task, `in version ${turn}`), turn);
}

export interface Built {
  readonly id: string;
  readonly needs?: readonly string[];
  readonly paths: readonly string[];
}

function planned(tasks: readonly Built[]) {
  return {
    tasks: tasks.map(({ id, needs = [], paths }) => ({
      ...{ id, title: `Build ${id}`, brief: `Build what is called ${id}.`, needs, paths },
      acceptance: [`${id} is there`],
    })),
  };
}

interface Verdict {
  /** What has to change; none: it is approved. */
  readonly problem?: string;
  readonly file?: string;
  /** Criteria without a command, by number, that a line of `file` shows. */
  readonly met?: readonly number[];
}

/** What both its judges and those of the run's end look at. */
export const SEEN = { command: 'git log --oneline -1', output: 'the newest commit' };

/** A judge of the whole. `when` is text of its prompt, which begins with its task. */
export function judge(
  when: string,
  { problem, file = 'left.txt', met = [] }: Verdict,
  steps: readonly Step[] = [],
): Entry {
  const finding = { file, line: 1, problem: problem ?? '', suggestion: `Write it again without ${problem}.` };
  return {
    when,
    steps: [{ run: ['git', 'log', '--oneline', '-1'] }, ...steps, { answer: 'judged' }],
    structured: {
      approved: problem === undefined,
      summary: problem === undefined ? 'all there' : 'not yet',
      findings: problem === undefined ? [] : [finding],
      criteria: met.map((number) => ({ criterion: `C${number + 1}`, met: true, evidence: SEEN, why: 'it is there' })),
    },
  };
}

export const SUMMARY = { summary: 'Two files were built.', tryIt: ['cat left.txt'], left: [], followUps: [] };

/** `first`: entries that are played in place of those that follow where both fit. */
export function thirteen(first: readonly Entry[], tasks: readonly Built[], met: readonly number[] = []): Entry[] {
  const documents = Object.keys(DOCUMENTS).filter((task) => task !== 'plan' && task !== 'test');
  return [
    ...first,
    ...documents.map((task) => author(task, writes(task))),
    author('spec-writer', [{ run: ['git', 'log', '--oneline'] }, { answer: 'nothing has to change' }]),
    { ...author('plan', writes('plan')), structured: planned(tasks) },
    ...tasks.map(({ id, paths }) => author(id, commits(Object.fromEntries(paths.map((path) => [path, `${id}\n`]))))),
    { when: '# Task fix-', steps: commits({ 'left.txt': 'fixed by {prompt}' }) },
    { when: '# Task test', steps: commits({ [pathOf('test')]: `${documentText('test')}\n{prompt}\n` }) },
    judge('# Task post-review', { met }),
    { ...author('complete', [{ run: ['git', 'log', '--oneline'] }, { answer: 'closed' }]), structured: SUMMARY },
    APPROVE_ALL,
  ];
}
