import { defined } from '../text/defined.ts';
import { assertNever } from '../model/assert-never.ts';
import type { Json } from '../text/json.ts';
import type { Board } from '../model/plan/board.ts';
import { ROUTER } from '../model/mail/vocabulary.ts';
import type { PlanChange } from '../model/plan/change.ts';
import {
  addState,
  askInstead,
  askQuestion,
  draftOf,
  finishDraft,
  withEntry,
  workOn,
  type BoardStep,
  type Draft,
  type Moment,
} from './board.ts';
import {
  depthOf,
  refuseEdit,
  refuseReopen,
  refuseSettle,
  refuseTask,
  refuseVerdict,
  isEngines,
} from './change-checks.ts';
import { finishFailed, proposeDone, voidGate } from './finish.ts';
import { authorsOf, withVerdict } from './gate.ts';
import { closeAsk, closeByPlan, noteSent } from './mail.ts';

const NO_ID = 'an id is required';

type Change<D extends PlanChange['do']> = Extract<PlanChange, { do: D }>;

export interface ChangesStep extends BoardStep {
  readonly refused: readonly { readonly change: PlanChange; readonly why: string }[];
}

/** Applies the changes that are possible, each on top of the earlier ones. Each refusal is an event for the playbook. */
export function applyChanges(board: Board, changes: readonly PlanChange[], moment: Moment): ChangesStep {
  const draft = draftOf(board, moment);
  const refused: { change: PlanChange; why: string }[] = [];
  for (const change of changes) {
    const why = applyChange(draft, change);
    if (why !== undefined) refused.push({ change, why });
  }
  draft.news.push(...refused.map(({ change, why }) => ({ type: 'refused', change, why }) as const));
  return { ...finishDraft(draft), refused };
}

/** Changes that a finished run still accepts. They leave the plan as it is, and a sender learns why its request is refused. */
const AFTER_THE_END: ReadonlySet<PlanChange['do']> = new Set(['put', 'send', 'refuse-mail', 'close-ask']);

/** Returns why the change is refused, or undefined. */
function applyChange(draft: Draft, change: PlanChange): string | undefined {
  if (draft.finished !== null && !AFTER_THE_END.has(change.do)) return 'the run has finished';
  switch (change.do) {
    case 'add-task':
      return addTask(draft, change);
    case 'edit-task':
      return editTask(draft, change);
    case 'reopen-task':
      return reopenTask(draft, change);
    case 'settle-task': {
      const why = refuseSettle(draft, change);
      if (why === undefined)
        workOn(draft, change.id, {
          type: 'settle-asked',
          ...defined({ cause: change.cause }),
          as: change.as,
          why: change.why,
        });
      return why;
    }
    case 'set-timer':
      return setTimer(draft, change);
    case 'send':
      return send(draft, change);
    case 'refuse-mail':
      return refuseMail(draft, change);
    case 'close-ask':
      return closeMail(draft, change);
    case 'put':
      return put(draft, change);
    case 'ask':
      return ask(draft, change);
    case 'propose-criteria':
      return proposeCriteria(draft, change);
    case 'judge-criterion':
      return judgeCriterion(draft, change);
    case 'finish':
      if (change.outcome === 'done') proposeDone(draft, change.why, change.remarks);
      else finishFailed(draft, change.why, change.outcome);
      return undefined;
    default:
      return assertNever(change);
  }
}

function addTask(draft: Draft, { task }: Change<'add-task'>): string | undefined {
  const why = refuseTask(draft, task);
  if (why !== undefined) return why;
  if (draft.gate.at !== 'idle') voidGate(draft);
  addState(draft, task, depthOf(draft, task));
  return undefined;
}

function editTask(draft: Draft, change: Change<'edit-task'>): string | undefined {
  const why = refuseEdit(draft, change);
  const state = draft.tasks.get(change.id);
  if (why !== undefined || state === undefined) return why;
  const { needs, brief, agent, priority, requires } = change;
  draft.tasks = draft.tasks.with({
    ...state,
    task: { ...state.task, ...defined({ needs, brief, agent, priority, requires }) },
  });
  return undefined;
}

function reopenTask(draft: Draft, change: Change<'reopen-task'>): string | undefined {
  const why = refuseReopen(draft, change);
  if (why !== undefined) return why;
  if (draft.gate.at !== 'idle') voidGate(draft);
  const { id, feedback, session, agent, isFault } = change;
  const state = draft.tasks.get(id);
  if (agent !== undefined && state !== undefined) askInstead(draft, state, { agent, why: feedback });
  else workOn(draft, id, { type: 'reopened', feedback, session, isFault });
  return undefined;
}

function setTimer(draft: Draft, { id, at }: Change<'set-timer'>): string | undefined {
  if (id === '') return NO_ID;
  if (isEngines(id)) return 'ids must not begin with engine/';
  draft.timers = withEntry(draft.timers, id, at);
  draft.effects.push({ effect: 'set-timer', id, at });
  return undefined;
}

function send(draft: Draft, change: Change<'send'>): string | undefined {
  const { key, corrKey } = change;
  if (key !== undefined && draft.mail.has(`key:${key}`)) return `${key} was sent before`;
  if (corrKey !== undefined && !draft.mail.has(`key:${corrKey}`)) return `nothing was sent as ${corrKey}`;
  noteSent(draft, change);
  draft.effects.push({ effect: 'send', message: change });
  return undefined;
}

function refuseMail(draft: Draft, change: Change<'refuse-mail'>): string | undefined {
  const mail = draft.mail.get(change.message);
  if (mail === undefined) return `there is no message ${change.message}`;
  for (const one of mail.owes) closeAsk(draft, mail.id, one);
  const body = { reason: change.reason, blocked_by: [] };
  const about = { corr: mail.id, ...defined({ task: mail.task }) };
  draft.effects.push({
    effect: 'send',
    message: { do: 'send', from: ROUTER, to: [mail.from], type: 'fail', ...about, body },
  });
  return undefined;
}

function closeMail(draft: Draft, { message, by }: Change<'close-ask'>): string | undefined {
  if (!draft.mail.has(message)) return `there is no message ${message}`;
  closeByPlan(draft, message, by);
  return undefined;
}

function put(draft: Draft, change: Change<'put'>): string | undefined {
  if (change.in === '' || change.id === '') return NO_ID;
  const records = ownRecords(draft, change.in);
  if (change.value === null) records.delete(change.id);
  else records.set(change.id, change.value);
  return undefined;
}

function ask(draft: Draft, { id, text, options, task }: Change<'ask'>): string | undefined {
  if (id === '') return NO_ID;
  if (id.includes('/')) return 'an id of a question must not contain a slash';
  if (draft.questions.has(id)) return `${id} was asked before`;
  if (!draft.tasks.has(task)) return `there is no task ${task}`;
  askQuestion(draft, { id, text, options, blocks: [task], by: 'playbook' });
  return undefined;
}

function proposeCriteria(draft: Draft, { criteria, agreed }: Change<'propose-criteria'>): string | undefined {
  const { objective, commands = [] } = draft.facts;
  if (objective.criteria.some(({ proposed }) => proposed === undefined)) return 'the run has criteria of its own';
  const mayRun = (command: string): boolean => agreed || commands.includes(command);
  const kept = criteria.map(({ text, command }) => {
    if (command === undefined) return { text };
    return mayRun(command) ? { text, command } : { text, proposed: command };
  });
  draft.facts = { ...draft.facts, objective: { ...objective, criteria: kept } };
  return undefined;
}

function judgeCriterion(draft: Draft, change: Change<'judge-criterion'>): string | undefined {
  const { do: _, task, ...verdict } = change;
  const why = refuseVerdict(draft, task, verdict.criterion);
  const { author, head: commit } = draft.tasks.get(task)?.work ?? { author: null, head: null };
  const by = author?.thread?.agent;
  if (why !== undefined || by === undefined || commit === null) return why ?? `no agent has worked on ${task}`;
  if (commit !== draft.branch.head) return undefined;
  const authors = authorsOf([...draft.tasks.values()]);
  const recorded = withVerdict(draft.gate.recorded, { task, by, commit, verdict }, authors);
  draft.gate = { ...draft.gate, recorded };
  return undefined;
}

function ownRecords(draft: Draft, name: string): Map<string, Json> {
  const own = draft.ownRecords.get(name);
  if (own !== undefined) return own;
  const records = new Map(draft.records.get(name));
  draft.ownRecords.set(name, records);
  draft.records = withEntry<ReadonlyMap<string, Json>>(draft.records, name, records);
  return records;
}
