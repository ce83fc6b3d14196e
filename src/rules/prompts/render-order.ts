import { defined } from '../../text/defined.ts';
import { z } from 'zod';
import type { AttemptOrder, Place } from '../../model/attempt-order.ts';
import { authorReportSchema } from '../../model/plan/author-report.ts';
import type { Json } from '../../text/json.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import { judgementAnswerSchema } from '../../model/plan/gate.ts';
import { categoriesOf, openReviewOf } from '../../model/plan/open-review.ts';
import { reviewForm } from '../../model/plan/review.ts';
import { toolRulesOf } from '../../model/equip.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import type { SessionRef } from '../../model/session-ref.ts';
import { DEFAULT_TURN_LIMITS } from '../../model/turn-request.ts';
import type { Start } from '../frontier.ts';
import { decideHead } from '../base.ts';
import { reviewFolder } from '../left-folders.ts';
import { orderedBy } from '../turn-mail.ts';
import { createView } from '../view.ts';
import { isJudge } from '../gate.ts';
import { otherRuntime } from '../members.ts';
import { isDelivered } from '../work-status.ts';
import { renderAuthorPrompt, reports } from './author-prompt.ts';
import { renderNotes } from './note-block.ts';
import { renderMail, type PromptMessage } from './mail-block.ts';
import { renderReviewPrompt } from './review-prompt.ts';
import type { BaselineCommand } from '../../model/plan/baseline.ts';
import { counted } from '../../text/counted.ts';
import { promptsOfRuntimes, renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { fenceTag } from '../../text/fence.ts';
import { namesPort } from '../../text/port-place.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { isLeftOut, redCommands } from '../baseline.ts';

export type TurnStart = Extract<Start, { start: 'turn' }>;
type Forms = Playbook<unknown>['answers'];

const MINUTE = 60_000;
const judgementFormSchema = plainSchema(judgementAnswerSchema);
const reportFormSchema = plainSchema(authorReportSchema);

/** The whole order of one attempt: its prompt, place and limits. `turnId` is its id in the ledger. */
export function renderOrder(
  start: TurnStart,
  turnId: string,
  about: {
    board: Board;
    definition: RunDefinition;
    playbook: Pick<Playbook<unknown>, 'answers' | 'background'>;
    session: SessionRef | undefined;
    messages: readonly PromptMessage[];
  },
): AttemptOrder {
  const { board, definition, playbook, messages } = about;
  const state = board.tasks.get(start.task);
  const agent = definition.agents.find(({ name }) => name === start.agent);
  if (state === undefined || agent === undefined)
    throw new Error(`${start.attempt} is of no task or agent of this run`);
  const other = otherRuntime(board, start);
  // A session of another runtime is never resumed.
  const runtime = other?.runtime ?? agent.runtime;
  const session = start.session.resume && about.session?.runtime === runtime ? about.session : undefined;
  const isReport = start.review === null && reports(state.task);
  const outputSchema = isReport ? reportFormSchema : schemaOf(start, state, playbook.answers);
  const turnMinutes = agent.limits?.turnMinutes ?? definition.limits.turnMinutes;
  const prompt = promptOf(start, state, {
    board,
    definition,
    playbook,
    minutes: turnMinutes,
    resumed: session !== undefined,
  });
  const changed = definition.prompts ?? {};
  const notes = board.notes.length === 0 ? '' : renderNotes(board.notes, start, changed);
  const mail = renderMail(messages, orderedBy(start, board), changed);
  const idleMinutes = agent.limits?.idleMinutes ?? definition.limits.idleMinutes;
  return {
    turnId,
    workspace: { path: '' },
    place: { ...placeOf(start, state, board), head: board.branch.head },
    prompt: [prompt, notes, mail].filter((text) => text !== '').join('\n\n'),
    instructions: agent.instructions,
    ...defined({ session, prompts: promptsOfRuntimes(definition.prompts) }),
    ...namesOf(agent, other),
    access:
      state.task.builds === true && start.review === null && agent.access.level === 'read-only'
        ? { ...agent.access, builds: true }
        : agent.access,
    mcp: [],
    ...defined({ outputSchema, ...(isReport ? { outputIsOptional: true as const } : {}) }),
    limits: {
      ...DEFAULT_TURN_LIMITS,
      wallMs: Math.ceil(turnMinutes * MINUTE),
      idleMs: Math.ceil(idleMinutes * MINUTE),
    },
  };
}

/** Models and tools have names that only their runtime knows. */
function namesOf(
  agent: BoundAgent,
  other: ReturnType<typeof otherRuntime>,
): Pick<AttemptOrder, 'model' | 'effort' | 'toolRules'> {
  const { effort, deny } = agent;
  const model = other === undefined ? agent.model : (other.model ?? undefined);
  const allow = other === undefined || other.runtime === agent.runtime ? agent.allow : undefined;
  // Denied tools are never dropped: a runtime that does not know them refuses the turn.
  return defined({ model, effort, toolRules: toolRulesOf({ allow, deny }) });
}

/** Each reviewer of a task has its own folder, because a session resumes only where it was. */
function placeOf(start: TurnStart, state: TaskState, board: Board): Place {
  const { task } = state;
  const commit = start.base.base === 'commit' ? start.base.commit : null;
  if (start.review !== null) return { folder: reviewFolder(task.id, start.review), commit, own: false };
  if (start.base.base === 'none') return { folder: null, commit: null, own: false };
  const own = task.workspace === 'own';
  if (own && state.work.author.reset)
    return { folder: task.id, commit, own, reset: { rescueAs: `${start.attempt}-before` } };
  const kept = own ? (state.work.kept ?? undefined) : undefined;
  return { folder: task.id, commit, own, ...defined({ kept, onto: decideHead(state, board) }) };
}

function schemaOf({ review }: TurnStart, { task, work }: TaskState, forms: Forms): Record<string, Json> | undefined {
  if (review !== null) return { ...plainSchema(reviewForm(categoriesOf(openReviewOf(work, task)))) };
  if (task.output === undefined) return undefined;
  const schema = isJudge(task) ? judgementFormSchema : forms?.[task.output.schema]?.schema;
  if (schema === undefined)
    throw new Error(`task ${task.id} names the schema ${task.output.schema}, which does not exist`);
  return { ...schema };
}

function promptOf(
  start: TurnStart,
  state: TaskState,
  about: {
    board: Board;
    definition: RunDefinition;
    playbook: Pick<Playbook<unknown>, 'background'>;
    resumed: boolean;
    minutes: number;
  },
): string {
  const { prompt, review, commit, since } = start;
  const { board, definition, resumed, minutes } = about;
  const changed = definition.prompts ?? {};
  // The session has it already.
  const common = { state, prompt, resumed, run: resumed ? '' : renderRun(definition, board), changed };
  if (review !== null) return renderReviewPrompt({ ...common, commit: commit ?? '', since });
  const hasBrief = prompt.why === 'start' || !resumed;
  return renderAuthorPrompt({
    ...common,
    minutes,
    commits: board.facts.roster.find(({ name }) => name === start.agent)?.commits !== false,
    delivered: state.task.needs.flatMap((need) => {
      const other = board.tasks.get(need);
      return other !== undefined && isDelivered(other) && other.task.integrate ? [other.task] : [];
    }),
    neighbours: hasBrief ? neighboursOf(state, board) : [],
    background: hasBrief ? backgroundOf(about, state.task.id) : '',
    baseline: renderBaseline(board, changed),
  });
}

/** The part that is equal in all prompts of a run, but for criteria that its planner proposes. */
export function renderRun(definition: RunDefinition, { facts }: Pick<Board, 'facts'>): string {
  const { objective, setup, verify, agents, limits, prompts } = definition;
  const members = new Map<string, string[]>();
  for (const { role, name, runtime } of agents)
    members.set(role, [...(members.get(role) ?? []), `${name} (${runtime})`]);
  const team = [...members].map(([role, names]) => `${role}: ${names.join(', ')}`);
  const criteria = facts.objective.criteria.map(
    ({ text, command }) =>
      `criterion of the objective: ${text}${command === undefined ? '' : ` (squad runs \`${command}\` at the end)`}`,
  );
  return renderPrompt(
    'squad/run',
    {
      objective: objective.text,
      team: [...team, `At most ${limits.parallel} work at once.`],
      setup: setup.map(({ run }) => run),
      verify: verify.map(({ run }) => run),
      criteria,
      port: [...setup, ...verify].some(({ run }) => namesPort(run)) || criteria.some(namesPort) ? 'yes' : '',
    },
    prompts ?? {},
  );
}

/** More would crowd out the task. */
const MOST_NEIGHBOURS = 10;

/** Open tasks that do not wait for this one, so that others may work on them at the same time. It starts, so its own needs have ended. */
function neighboursOf({ task }: TaskState, { tasks }: Board): TaskState['task'][] {
  const open = tasks.open.map((one) => one.task);
  const needers = Map.groupBy(
    open.flatMap(({ id, needs }) => needs.map((need) => ({ id, need }))),
    ({ need }) => need,
  );
  const waiting = new Set([task.id]);
  for (const id of waiting) for (const needer of needers.get(id) ?? []) waiting.add(needer.id);
  return open
    .filter(({ id, kind, integrate, owner }) => !waiting.has(id) && kind === 'work' && integrate && owner !== 'engine')
    .slice(0, MOST_NEIGHBOURS);
}

/** As of this board. */
export function backgroundOf(
  { board, playbook }: { board: Board; playbook: Pick<Playbook<unknown>, 'background'> },
  id: string,
): string {
  if (playbook.background === undefined) return '';
  const view = createView(board);
  const task = view.task(id);
  return task === undefined ? '' : playbook.background(view, task);
}

function plainSchema(of: z.ZodType): Record<string, Json> {
  const { $schema: _, ...schema } = z.toJSONSchema(of);
  return z.record(z.string(), z.json()).parse(schema);
}

/** More would crowd out the task. */
const MOST_COMMANDS = 3;
const MOST_OUTPUT = 600;

/** Failures on the base commit, for planners and authors: untrusted output, short and fenced. Empty: there are none. */
export function renderBaseline({ baseline }: Pick<Board, 'baseline'>, changed: ChangedPrompts = {}): string {
  const red = redCommands(baseline).filter((one) => !isLeftOut(one, baseline));
  const isOfCriterion = ({ purpose }: BaselineCommand): boolean => purpose === 'criterion';
  const checks = blockOf(red.filter((one) => !isOfCriterion(one)));
  const criteriaFailures = blockOf(red.filter(isOfCriterion));
  return checks + criteriaFailures === '' ? '' : renderPrompt('squad/baseline', { checks, criteriaFailures }, changed);
}

function blockOf(red: readonly BaselineCommand[]): string {
  const shown = red
    .slice(0, MOST_COMMANDS)
    .flatMap(({ purpose, run, how, output }) => [
      `\`${plainLine(run, 200)}\` (${purpose}) ${how}:`,
      fenceTag('output', plainText(output).trim().slice(-MOST_OUTPUT)),
    ]);
  const left = red.length - MOST_COMMANDS;
  return [...shown, ...(left > 0 ? [`${counted(left, 'more command')} failed.`] : [])].join('\n\n');
}
