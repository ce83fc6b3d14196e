import { z } from 'zod';
import { badInput, usageError, type SquadError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { VERBS, type InterventionRequest } from '../../model/plan/verbs.ts';
import { answer } from '../../squad/answer.ts';
import { intervene, type Intervened } from '../../squad/intervene.ts';
import { openRun } from '../../squad/open-run.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { plainLine } from '../../text/plain-text.ts';
import { requirePlan } from '../ask/plan-file.ts';
import { reviewRequest, reviewSchema, reviewWayOf } from './review.ts';
import { readWork } from './run-facts.ts';

/** The page's own name of the act: sent twice, it counts once. */
const key = z.string().min(8).max(100);

const ACTS = {
  answer: z.strictObject({
    key,
    question: z.string().min(1),
    answer: z.string().optional(),
    /** A person's version of the plan, as YAML. */
    plan: z.string().optional(),
  }),
  tell: z.strictObject({ key, agent: z.string(), text: z.string(), now: z.boolean().default(false) }),
  review: reviewSchema.extend({ key }),
} as const;

export type Act = keyof typeof ACTS;

export function isAct(name: string): name is Act {
  return Object.hasOwn(ACTS, name);
}

/**
 * Does what a person asks for on a page, by the verbs and with the checks that the commands have. Returns what they read then. Throws the
 * errors of those, and then nothing is stored.
 */
export async function act(workspace: OpenedWorkspace, run: string, name: Act, given: unknown): Promise<string> {
  switch (name) {
    case 'answer':
      return giveAnswer(workspace, run, read('answer', given));
    case 'tell': {
      const { key: own, ...request } = read('tell', given);
      return steer(workspace, run, { verb: 'tell', ...request }, own);
    }
    case 'review':
      return sendReview(workspace, run, read('review', given));
    default:
      return name satisfies never;
  }
}

type Given<Name extends Act> = z.output<(typeof ACTS)[Name]>;

function read<Name extends Act>(name: Name, given: unknown): Given<Name> {
  const { data, error } = ACTS[name].safeParse(given);
  if (error === undefined) return data as Given<Name>;
  const [issue] = error.issues;
  throw badInput(
    `${name}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'cannot be used'}`,
    'Load the page again, and send it from there.',
  );
}

async function giveAnswer(workspace: OpenedWorkspace, run: string, given: Given<'answer'>): Promise<string> {
  const { question, plan } = given;
  const text = plan === undefined ? (given.answer ?? '') : JSON.stringify(requirePlan(plan, 'your version'));
  const { name, driven } = await answer(workspace, run, text, question, { key: given.key });
  return `${plainLine(question, 80)} is answered. ${thenOf(name, driven)}`;
}

async function sendReview(workspace: OpenedWorkspace, run: string, given: Given<'review'>): Promise<string> {
  const opened = await openRun(workspace, run);
  const state = opened.reading.board.tasks.get(given.task);
  if (state === undefined)
    throw unknownTask(opened.reading.row.name, given.task, [...opened.reading.board.tasks.keys()]);
  const way = reviewWayOf(state);
  if (way === undefined) {
    throw usageError(
      `no agent has worked on ${given.task} yet`,
      `See the run with \`squad status ${opened.reading.row.name}\`.`,
    );
  }
  const request = reviewRequest(given, await readWork(opened, given.task), way);
  return steer(workspace, run, request, given.key);
}

function unknownTask(run: string, task: string, known: readonly string[]): SquadError {
  return usageError(noSuch('task', plainLine(task, 80), known), `List the tasks with \`squad status ${run}\`.`);
}

async function steer(
  workspace: OpenedWorkspace,
  run: string,
  request: InterventionRequest,
  own: string,
): Promise<string> {
  const done: Intervened = await intervene(workspace, run, request, { key: own });
  const { says } = VERBS[request.verb] as { says: (given: InterventionRequest) => string };
  const then = done.heard ? '' : ` ${thenOf(done.name, done.driven)}`;
  return `${plainLine(says(request), 300)}.${then}`;
}

function thenOf(name: string, driven: boolean): string {
  return driven ? 'The run takes it up now.' : `No engine is running. Next: squad resume ${name}`;
}
