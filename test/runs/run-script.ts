import { ALL_FIXED, finding } from '../support/findings.ts';
/** Entries of a script for whole runs: who is asked what, and what it does then. The first that fits is played. */
export interface Entry {
  readonly when?: string;
  readonly turn?: number;
  /** Of agents with this model. */
  readonly model?: string;
  readonly steps: readonly Step[];
  readonly structured?: unknown;
  readonly lingers?: boolean;
  /** What the turn is said to have used; null: it tells nothing. */
  readonly usage?: Readonly<Record<string, number>> | null;
}
export type Step = Readonly<Record<string, unknown>>;

interface Piece {
  readonly id: string;
  readonly title: string;
  readonly role: string;
  readonly needs: readonly string[];
  readonly brief: string;
  readonly acceptance: readonly string[];
  readonly files?: readonly string[];
}

export function piece(id: string, more: Partial<Piece> = {}): Piece {
  return {
    id,
    title: `Make ${id}`,
    role: 'builder',
    needs: [],
    brief: `Make what is called ${id}.`,
    acceptance: [`${id} is there`],
    ...more,
  };
}

/** What the planner answers. */
export function plan(tasks: readonly Piece[], when = 'Split this objective'): Entry {
  return { when, steps: [{ answer: 'planned' }], structured: { summary: 'the plan', tasks } };
}

/** What the planner answers where the objective has no criteria. */
export function planWithCriteria(
  tasks: readonly Piece[],
  criteria: readonly { text: string; command: string }[],
): Entry {
  return { ...plan(tasks, 'Propose `criteria`'), structured: { summary: 'the plan', tasks, criteria } };
}

/** The turn waits until there is a file of this name. */
export function waitFor(path: string): Step {
  return { run: ['sh', '-c', `until [ -e '${path}' ]; do sleep 0.05; done`] };
}

/** The first turn of whoever does a task. */
export function author(task: string, steps: readonly Step[], more: Partial<Entry> = {}): Entry {
  return { when: `# Task ${task}:`, steps, ...more };
}

const FEEDBACK = {
  review: 'was rejected in review',
  evidence: 'is done. squad checked',
  conflict: 'cannot be merged',
  verify: 'was merged on trial',
  playbook: 'is open again',
} as const;

/** A later turn of the same session, which is told only what is new. */
export function again(task: string, why: keyof typeof FEEDBACK, steps: readonly Step[], turn?: number): Entry {
  const subject = why === 'playbook' ? 'Task' : why === 'evidence' ? 'You said that task' : 'Your work on task';
  return { when: `${subject} ${task} ${FEEDBACK[why]}`, steps, ...(turn === undefined ? {} : { turn }) };
}

/** Writes the files and commits all there is. */
export function commits(files: Readonly<Record<string, string>>, message = 'work'): Step[] {
  return [
    ...Object.entries(files).map(([path, text]): Step => ({ write: { path, text } })),
    { run: ['git', 'add', '--all'] },
    { run: ['git', 'commit', '--quiet', '--message', message] },
    { answer: 'done' },
  ];
}

/** A verdict about one task, or about any. A text is a finding about the task's first criterion. */
export function verdict(task: string | null, findings: readonly string[], turn?: number): Entry {
  return {
    when: task === null ? '# Review of task' : `# Review of task ${task}:`,
    ...(turn === undefined ? {} : { turn }),
    steps: [{ run: ['git', 'log', '--oneline', '-1'] }],
    structured: {
      approved: findings.length === 0,
      summary: findings.length === 0 ? 'good' : 'not yet',
      findings: findings.map((text) => finding(text)),
      settled: ALL_FIXED,
    },
  };
}

/** A text of one letter is no quote. */
function shownBy(quote: string, file: string): object {
  return quote.length < 3 ? { command: 'git log --oneline -1', output: 'the newest' } : { file, line: 1, quote };
}

/** The judge of criteria without a command: one verdict for each, `null` where nothing shows it. */
export function judges(...verdicts: readonly (string | null)[]): Entry {
  return {
    when: '# Task judge',
    steps: [{ run: ['git', 'log', '--oneline', '-1'] }],
    structured: {
      verdicts: verdicts.map((file, index) => ({
        criterion: `C${index + 1}`,
        met: file !== null,
        evidence: file === null ? null : shownBy(file.replace('.txt', ''), file),
        why: file === null ? 'nothing shows it' : 'it is there',
      })),
    },
  };
}

/** All that nobody objects to. Goes last. */
export const APPROVE_ALL = verdict(null, []);

export function objective(about: { title?: string; criteria?: readonly string[]; front?: string } = {}): string {
  const { title = 'Make things', criteria = ['things are there (run: `test -d .`)'], front } = about;
  return [
    ...(front === undefined ? [] : ['---', front, '---']),
    `# Objective: ${title}`,
    '## Goals',
    '1. Things that were not there before',
    '## Success Criteria',
    ...criteria.map((text) => `- [ ] ${text}`),
    '',
  ].join('\n\n');
}

/** A team whose reviewer has a runtime of the application. */
export const WITH_CRITIC = [
  { name: 'planner', role: 'planner', runtime: 'scripted' },
  { name: 'builder', role: 'builder', runtime: 'scripted' },
  { name: 'critic', role: 'reviewer', runtime: 'critic' },
];
