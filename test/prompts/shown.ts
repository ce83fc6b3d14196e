import type { Playbook } from '../../src/model/plan.ts';
import type { Member, TaskState } from '../../src/model/plan/board.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import { reviewsOf, type NewTask } from '../../src/model/plan/task.ts';
import type { Prompt } from '../../src/model/plan/work.ts';
import { renderAuthorPrompt } from '../../src/rules/prompts/author-prompt.ts';
import { renderReviewPrompt } from '../../src/rules/prompts/review-prompt.ts';
import { renderInstructions, roleIn } from '../../src/squad/preflight/roles.ts';
import { finding } from '../support/findings.ts';
import type { Played } from './played.ts';

/** A prompt that an agent can get, with the instructions of its conversation. */
export interface Shown {
  readonly task: NewTask;
  readonly role: string;
  /** Its agent commits its work. */
  readonly commits: boolean;
  /** Another agent commits the work of such a task. */
  readonly committed: boolean;
  readonly why: Prompt['why'];
  readonly instructions: string;
  readonly text: string;
}

/** What can bring a task back to its author. Only work in a folder of its own is merged or reviewed. */
function newsOf({ task }: TaskState): Prompt[] {
  const own = ['review', 'conflict', 'verify'] as const;
  const from = ['evidence', 'person', 'playbook', ...(task.workspace === 'own' ? own : [])] as const;
  return [
    { why: 'start' },
    ...from.map((one): Prompt => ({ why: 'feedback', from: one, text: 'words' })),
    ...(task.output === undefined ? [] : [{ why: 'repair', text: 'words' } as const]),
    { why: 'answered' },
    { why: 'continue', text: 'words' },
  ];
}

/** Each task of a run in all prompts that its author may get. */
export function authorPrompts(run: Played): Shown[] {
  return workOf(run).flatMap((state) => {
    const { task } = state;
    const commits = run.roster.filter(({ role }) => role === task.role).every((one) => one.commits);
    return newsOf(state).flatMap((prompt) =>
      [true, false].map((resumed) => {
        const facts = { run: '', delivered: [], neighbours: [], background: '', baseline: '', minutes: 60 };
        const text = renderAuthorPrompt({ ...facts, changed: {}, state, prompt, resumed, commits });
        return { ...aboutOf(run, state, task.role), commits, why: prompt.why, text };
      }),
    );
  });
}

/** Each task of a run in all prompts that its reviewers may get. */
export function reviewPrompts(run: Played): Shown[] {
  return workOf(run).flatMap((state) =>
    reviewsOf(state.task).flatMap(({ by }) =>
      by.flatMap((role) =>
        ROUNDS.flatMap((more) =>
          [true, false].map((resumed) => {
            const prompt = { why: 'start' } as const;
            const facts = { run: '', commit: 'second', since: 'base', changed: {} };
            const text = renderReviewPrompt({
              ...facts,
              ...{ state: { ...state, work: { ...state.work, ...more } }, prompt, resumed },
            });
            return { ...aboutOf(run, state, role), commits: false, why: prompt.why, text };
          }),
        ),
      ),
    ),
  );
}

const ROUND = { round: 1, commit: 'first', feedback: 'words', findings: [], by: [] };
const REJECTED: RoundRecord = { ...ROUND, approved: false, open: [finding('it is wrong')] };
const APPROVED: RoundRecord = { ...ROUND, approved: true };

/** Work that no one has judged, that was rejected, and that came back after an approval. */
const ROUNDS: readonly Partial<TaskState['work']>[] = [
  { rounds: [], sentBack: null },
  { rounds: [REJECTED], sentBack: { by: 'review', text: 'words' } },
  { rounds: [APPROVED], sentBack: { by: 'conflict', text: 'words' } },
  { rounds: [APPROVED], sentBack: { by: 'verify', text: 'words' } },
];

function workOf({ board }: Played): TaskState[] {
  return [...board.tasks.values()].filter(({ task }) => task.kind === 'work');
}

function aboutOf({ playbook, roster }: Played, { task }: TaskState, role: string) {
  const committed = roster.some((one) => one.role === 'committer');
  return { task, role, committed, instructions: instructionsOf(playbook, roster, role) };
}

function instructionsOf(playbook: Playbook<never>, roster: readonly Member[], role: string): string {
  const name = roster.find((one) => one.role === role)?.name ?? role;
  return renderInstructions({ name, role }, roleIn(playbook, role));
}
