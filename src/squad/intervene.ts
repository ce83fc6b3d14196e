import { join } from 'node:path';
import type { z } from 'zod';
import { SquadError, usageError } from '../model/errors.ts';
import type { Intervention } from '../model/plan/intervention.ts';
import { agentScope, taskScope, WHOLE_RUN } from '../model/plan/scope.ts';
import { requestSchema, type InterventionRequest } from '../model/plan/verbs.ts';
import type { BoundAgent } from '../model/run.ts';
import { runtimeChoice } from '../engine/runtime-choice.ts';
import { unsupportedBy } from './preflight/unsupported.ts';
import { isOver } from '../view/read-run.ts';
import { requestRefusal, type OperatorRequest } from '../view/replay-plan.ts';
import { armoryFolder } from '../substrate/system/files/run-files.ts';
import { defined } from '../text/defined.ts';
import { plainJson } from '../text/json.ts';
import { operatorOf } from './machine.ts';
import { findCommand, storedKey, type CommandOptions } from './command-key.ts';
import { refuseOpenAgain } from './folder-runs.ts';
import { openRun, type OpenedRun } from './open-run.ts';
import { withLedger, type Place } from './open-workspace.ts';

/** A recorded command. */
export interface Intervened {
  readonly runId: string;
  readonly name: string;
  readonly by: string;
  /** Number of its event in the ledger. */
  readonly seq: number;
  /** Epoch ms. */
  readonly at: number;
  /** An engine was running the run. */
  readonly driven: boolean;
  /** That engine has applied it. false: it does so after its current step. */
  readonly heard: boolean;
  /** Needed before the command takes effect where no engine runs. `retry`: one that opens the run again. */
  readonly needs: 'nothing' | 'resume' | 'retry';
}

/** An engine reads a command within a quarter of a second, unless it is in the middle of a step. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 50;

/** Stores a person's command and waits until the run's engine, if one is running, has applied it. */
export async function intervene(
  place: Place,
  name: string | undefined,
  request: InterventionRequest,
  options: CommandOptions = {},
): Promise<Intervened> {
  const intervention = checkRequest(request);
  const run = await openRun(place, name);
  const { row, driven } = run.reading;
  const key = storedKey(row.id, options.key);
  // One that is stored was checked, and has changed what a check would find.
  if (findCommand(run, key) === undefined) await refuse(run, intervention);
  const { seq, at, by, heard } = await record(run, intervention, operatorOf(place.host), key);
  const over = !driven && isOver(withRequest(run.reading, { seq, at, by, intervention }));
  const needs = over
    ? 'retry'
    : driven || intervention.verb === 'pause' || intervention.verb === 'drain'
      ? 'nothing'
      : 'resume';
  return { runId: row.id, name: row.name, by, seq, at, driven, heard, needs };
}

/** Throws what a command is refused with. Nothing is stored. */
export async function refuse(run: OpenedRun, intervention: Intervention): Promise<void> {
  const { row } = run.reading;
  if (intervention.verb === 'switch') await refuseUnusable(run, intervention);
  const refused = requestRefusal(run.reading, intervention);
  if (refused !== undefined) throw usageError(refused, `See the run with \`squad status ${row.name}\`.`);
  if (isOver(run.reading) && !isOver(withRequest(run.reading, { seq: 0, at: run.now, by: '', intervention })))
    refuseOpenAgain(run, run.reading);
}

function withRequest(reading: OpenedRun['reading'], request: OperatorRequest) {
  return { ...reading, pendingRequests: [...reading.pendingRequests, request] };
}

/** Throws `usage` for one that no run could ever do. */
export function checkRequest(request: InterventionRequest): z.output<typeof requestSchema> {
  const parsed = requestSchema.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageError(
    `${request.verb}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'cannot be used'}`,
    'docs/control.md lists what each command takes.',
  );
}

type Switch = Extract<Intervention, { verb: 'switch' }>;
type Made = ReturnType<Parameters<typeof unsupportedBy>[0]>;

/** Refused before anything is stored where that runtime cannot be used here, or not with what the agent has. */
async function refuseUnusable(run: OpenedRun, intervention: Switch): Promise<void> {
  const { on, also = [], runtime } = intervention;
  const { reading, composition } = run;
  if (on === WHOLE_RUN) {
    throw usageError(
      'squad switch needs --agent or --task',
      `For example: \`squad switch ${runtime} --agent builder-1\`.`,
    );
  }
  const made = composition.runtime(runtime, runtimeChoice(reading.definition.runtimes, runtime));
  const probe = await made.probe();
  if (probe.ok) {
    for (const scope of [on, ...also]) await refuseUnequipped(run, { ...intervention, on: scope }, made);
    return;
  }
  const [problem] = probe.problems;
  throw new SquadError({
    code: 'wrong-environment',
    message: `${runtime} cannot be used here: ${problem?.text ?? 'its probe failed'}`,
    next: problem?.next ?? 'Run `squad doctor`.',
  });
}

/** Refused where no agent is left that may do the work. */
async function refuseUnequipped(run: OpenedRun, { on, runtime: name, model }: Switch, runtime: Made) {
  const { reading, host, directory, repository } = run;
  const contents = armoryFolder(directory, reading.row.id);
  const about = {
    environment: host.environment,
    root: repository.root,
    folderOf: (hash: string) => join(contents, hash),
  };
  const workers = workersOn(reading, on);
  const failures = await Promise.all(
    workers.map(async (agent) => unsupportedBy(() => runtime, defined({ ...agent, model }), about)),
  );
  const [first] = failures;
  if (first === undefined || failures.includes(undefined)) return;
  const message = `${name} cannot do the work of ${workers[0]?.name ?? on}: ${first.message}`;
  throw usageError(message, 'Choose a runtime that can: docs/armory.md says what each of them honours.');
}

/** The agent, or those that may be the author of the task. */
function workersOn({ board, definition }: OpenedRun['reading'], on: string): readonly BoundAgent[] {
  const found = [...board.tasks.values()].find(({ task }) => taskScope(task.id) === on);
  if (found === undefined) return definition.agents.filter(({ name }) => agentScope(name) === on);
  const { task, work } = found;
  const author = work.author.thread?.agent ?? task.agent;
  return definition.agents.filter(({ name, role }) => (author === undefined ? role === task.role : name === author));
}

async function record(
  run: OpenedRun,
  intervention: Intervention,
  operator: string,
  key: string | undefined,
): Promise<{ seq: number; at: number; by: string; heard: boolean }> {
  const { row, driven } = run.reading;
  const { clock } = run.composition;
  return withLedger(run, 'write', async (ledger) => {
    const { verb, ...data } = intervention;
    const { seq, at, by } = ledger.command(row.id, verb, plainJson(data), operator, key);
    const isApplied = (): boolean => (ledger.run(row.id)?.applied ?? 0) >= seq;
    const until = clock.monotonic() + (driven ? PATIENCE_MS : 0);
    while (!isApplied() && clock.monotonic() < until) await clock.sleep(LOOK_MS);
    return { seq, at, by, heard: isApplied() };
  });
}
