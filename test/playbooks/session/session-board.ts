import { applyChanges } from '../../../src/rules/apply-changes.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { applyInputs } from '../../../src/rules/plan-step.ts';
import { createView } from '../../../src/rules/view.ts';
import type { View } from '../../../src/model/plan.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import type { WorkEvent } from '../../../src/model/plan/work.ts';
import { WORKER, WORKER_FORM, type WorkerAnswer } from '../../../src/playbooks/session/answer.ts';
import { PLAYED } from '../../../src/model/playbook-name.ts';
import type { Session, SessionStart } from '../../../src/playbooks/session/session.ts';
import { plainJson } from '../../../src/text/json.ts';
import { newTask } from '../../rules/support.ts';
import { factsOf, member } from '../simulator.ts';

const EMPTY: SessionStart = {
  state: '{}\n',
  memory: {},
  wisdom: { learnings: '', decisions: '', issues: '' },
  explorations: { index: null, files: [] },
  artifacts: [],
  discussions: [],
  hashes: {},
};

const NOTHING: WorkerAnswer = {
  summary: 'Done.',
  artifact: null,
  memory: [],
  learnings: [],
  decisions: [],
  issues: [],
  explorations: [],
  discussion: [],
};

/** A session of one role, whose tasks need those that stand after the colon: `b: a`. */
export function sessionWith(
  tasks: readonly string[],
  start: Partial<SessionStart> = {},
  more: Partial<Session> = {},
): Session {
  return {
    id: 'TC-x-2026-02-27',
    team: 'x',
    description: 'Make x',
    status: 'active',
    roles: [
      {
        name: 'Writer',
        slug: 'writer',
        prefix: 'T',
        responsibility: 'read-only',
        innerLoop: false,
        file: 'roles/Writer.md',
        text: '# Role: Writer',
      },
    ],
    tasks: tasks.map((text) => {
      const [slug = '', needs = ''] = text.split(': ');
      return {
        id: slug.toUpperCase(),
        slug,
        subject: `Do ${slug}`,
        role: 'writer',
        needs: needs.split(' ').filter((need) => need !== ''),
      };
    }),
    completed: [],
    start: { ...EMPTY, ...start },
    ...more,
  };
}

const AT = { seq: 1, at: 1_000 };
const POLICY = { name: 'session', advance: () => [], answers: { [WORKER]: WORKER_FORM } };

/** A board with a task for each that is not done yet. Answers take the way of the engine. */
export class SessionBoard {
  readonly session: Session;
  #board: Board;
  #turns = 0;

  constructor(session: Session) {
    this.session = session;
    const tasks = session.tasks.filter(({ slug }) => !session.completed.includes(slug));
    const facts = factsOf([member('will', 'writer')], { options: { session: plainJson(session) } });
    const changes = tasks.map(({ slug, id, subject, needs }) => {
      const form = {
        output: { schema: WORKER, repairs: 1 },
        workspace: 'none' as const,
        integrate: false,
        requires: [],
      };
      const open = needs.filter((need) => !session.completed.includes(need));
      const task = newTask(slug, { ...form, title: `${id}: ${subject}`, role: 'writer', needs: open });
      return { do: 'add-task', task } as const;
    });
    this.#board = applyChanges(createBoard(facts), changes, AT).board;
  }

  get board(): Board {
    return this.#board;
  }

  view(): View {
    return createView(this.#board);
  }

  /** A turn of this task ends with this answer; if that counts, the task is done. */
  answer(slug: string, answer: Partial<WorkerAnswer>): void {
    const event = { outcome: 'completed', text: '', output: plainJson({ ...NOTHING, ...answer }) } as const;
    this.turn(slug, { type: 'attempt-settled', attempt: '', ...event });
    if (this.view().task(slug)?.status !== 'done') return;
    const put = { do: 'put', in: PLAYED, id: slug, value: { task: slug } } as const;
    this.#board = applyChanges(this.#board, [put], AT).board;
  }

  /** A turn that was lost. */
  lose(slug: string): void {
    const failure = { kind: 'crashed', message: 'gone', mayHaveActed: true } as const;
    this.turn(slug, { type: 'attempt-settled', attempt: '', outcome: 'failed', text: '', failure });
  }

  turn(slug: string, end: Extract<WorkEvent, { type: 'attempt-settled' }>): void {
    this.#turns += 1;
    const attempt = `${slug}-${this.#turns}`;
    const began = {
      type: 'attempt-started',
      attempt,
      agent: 'will',
      account: 'a',
      session: 's',
      review: null,
    } as const;
    this.apply(slug, began, { ...end, attempt });
  }

  apply(slug: string, ...events: WorkEvent[]): void {
    const inputs = events.map((work) => ({ ...AT, task: slug, work }));
    this.#board = applyInputs(this.#board, POLICY, inputs).board;
  }
}
