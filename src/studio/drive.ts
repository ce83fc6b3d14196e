import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorLineSchema } from '../model/error-line.ts';
import { errorText, isSquadError } from '../model/errors.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { answer } from '../squad/answer.ts';
import { type EngineStart, type EngineStarted, startDetachedEngine } from '../squad/detached-engine.ts';
import { intervene } from '../squad/intervene.ts';
import { bindWorkspace, lookIn, type OpenedWorkspace } from '../squad/open-workspace.ts';
import { writeTicket } from '../squad/ticket.ts';
import { refuseBusy } from '../substrate/ledger/workspace-lock.ts';
import { fieldsOf } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { isOver } from '../view/read-run.ts';
import { predictBoard } from '../view/replay-plan.ts';
import { checkpointChunks, type Chunk } from './chunks.ts';
import { type Call, type CallPlan, decideCall, type Standing } from './decide-call.ts';
import { followThread } from './follow-thread.ts';
import { forkThread } from './fork-thread.ts';
import { headOf, readState, type StatePorts, threadConfig } from './read-state.ts';
import { drivesAny, readThread, readWhole } from './read-thread.ts';
import { Refusal } from './refusal.ts';
import { planOptions, runOptions, type StartInput } from './start-input.ts';

/** The command line, which drives runs: this process may be another program's server. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../cli/main.ts' : '../bin/squad.cjs', import.meta.url),
);
/** Exit code of what has to wait for another process. */
const BUSY = 75;
/** The argument of the objective, which is in the ticket. */
const GIVEN = 'ticket';

/** A run of the server on a thread. */
export interface ThreadCall extends Omit<Call, 'isOld'> {
  readonly threadId: string;
  readonly checkpointId: string | undefined;
}

/** How long an engine that has ended its run may take to leave the workspace. */
const LEAVES_MS = 5_000;
const LOOK_MS = 50;

/** Waits up to `LEAVES_MS` for an engine of another process to leave. Throws a `Refusal` as `decideCall` does. */
export async function planCall(ports: StatePorts, { threadId, checkpointId, ...call }: ThreadCall): Promise<CallPlan> {
  const isOld = checkpointId !== undefined && checkpointId !== (await headOf(ports, threadId));
  const { clock } = ports.workspace.composition;
  const until = clock.monotonic() + LEAVES_MS;
  for (;;) {
    const standing = standingOf(ports, threadId);
    if (standing.busy === undefined || clock.monotonic() > until || drivesAny(ports.workspace))
      return decideCall({ ...call, isOld }, standing);
    await clock.sleep(LOOK_MS);
  }
}

function standingOf({ workspace }: StatePorts, threadId: string): Standing {
  const thread = readThread(workspace, threadId);
  const busy = whoDrives(workspace.directory);
  const whole = thread === undefined ? undefined : readWhole(workspace, thread);
  if (thread === undefined || whole === undefined) return { run: undefined, busy };
  const { board, pendingRequests } = whole.reading;
  const held = predictBoard(board, pendingRequests).pauses.get(WHOLE_RUN);
  const { run, driven } = thread;
  const isEnding = held !== undefined && held.verb !== 'pause';
  const asks = whole.reading.questions.some(({ recorded }) => recorded === null);
  return { run: { name: run.name, driven, isEnding, isOver: isOver(whole.reading), asks }, busy };
}

/** The engine that works here, for people. */
function whoDrives(directory: string): string | undefined {
  try {
    refuseBusy(directory);
    return undefined;
  } catch (error) {
    if (isSquadError(error) && error.code === 'workspace-busy') return errorText(error);
    throw error;
  }
}

/**
 * Does what the call wants and streams the run until its engine ends. Once `left` aborts, the stream ends; an engine that was
 * started for this call is drained, and any other one continues.
 */
export async function* driveThread(ports: StatePorts, call: ThreadCall, left: AbortSignal): AsyncGenerator<Chunk> {
  const { threadId } = call;
  const plan = await planCall(ports, call);
  switch (plan.do) {
    case 'start':
      await startRun(ports.workspace, threadId, plan.input);
      return yield* ownEngine(ports, threadId, '', left);
    case 'fork':
      return yield* runFork(ports, call);
    case 'answer':
      for (const { question, answer: given } of plan.answers) await giveAnswer(ports, threadId, question, given);
      return yield* goOn(ports, threadId, plan.engine, left);
    case 'follow':
      return yield* goOn(ports, threadId, plan.engine, left);
    default:
      return plan satisfies never;
  }
}

/** Follows the engine that is there, and then starts one if that was wanted, or if it ended just before. */
async function* goOn(ports: StatePorts, threadId: string, engine: boolean, left: AbortSignal): AsyncGenerator<Chunk> {
  yield* checkpointChunks(await readState(ports, threadConfig(threadId)));
  let after = (await headOf(ports, threadId)) ?? '';
  const driven = readThread(ports.workspace, threadId)?.driven === true;
  if (driven) {
    yield* followThread(ports, threadId, after, left);
    if (!engine || left.aborted) return;
    after = (await headOf(ports, threadId)) ?? '';
  }
  await continueRun(ports.workspace, threadId);
  yield* ownEngine(ports, threadId, after, left);
}

async function* ownEngine(
  ports: StatePorts,
  threadId: string,
  after: string,
  left: AbortSignal,
): AsyncGenerator<Chunk> {
  const drain = (): void => {
    // A run that has ended meanwhile has nothing to drain.
    intervene(ports.workspace, threadId, { verb: 'drain' }).catch(() => undefined);
  };
  left.addEventListener('abort', drain, { once: true });
  if (left.aborted) drain();
  try {
    yield* followThread(ports, threadId, after, left);
  } finally {
    left.removeEventListener('abort', drain);
  }
}

/** Runs an old checkpoint: as a run of its own, on a thread of its own. */
async function* runFork(ports: StatePorts, { threadId, checkpointId }: ThreadCall): AsyncGenerator<Chunk> {
  const forked = await forkThread(ports, threadId, checkpointId);
  await continueRun(ports.workspace, forked.runId);
  yield ['custom', { type: 'forked', ...forked }];
  // Its metadata names the fork too.
  yield* checkpointChunks(await readState(ports, threadConfig(threadId)));
}

/** An answer that was given already, in these words, is no mistake: clients repeat what may not have arrived. */
async function giveAnswer(
  ports: StatePorts,
  threadId: string,
  question: string | undefined,
  given: string,
): Promise<void> {
  const { tasks } = await readState(ports, threadConfig(threadId));
  // LangGraph's clients name the interrupt.
  const isInterrupt = tasks.some(({ interrupts }) => interrupts.some(({ id }) => id === question));
  await answer(ports.workspace, threadId, given, isInterrupt ? undefined : question);
}

/** Starts a run with the id of the thread, in a process of its own. Throws a refusal with what `squad run` says. */
async function startRun(opened: OpenedWorkspace, threadId: string, input: StartInput): Promise<void> {
  const workspace = bindWorkspace(opened);
  // Others can see command lines.
  const ticket = await writeTicket(workspace.directory, { argument: input.objective });
  try {
    const options = ['--json', `--run-id=${threadId}`, `--ticket=${ticket}`, ...runOptions(input)];
    const started = await start(workspace, ['run', ...options, '--', GIVEN], threadId, (ledger) => {
      const isDefined = ledger.events({ stream: threadId, types: [RUN_EVENTS.defined], limit: 1 }).length > 0;
      return isDefined ? threadId : undefined;
    });
    if (!started.began) throw refusalIn(started, consentTo(input));
  } finally {
    await rm(ticket, { force: true });
  }
}

/** Continues the run of the thread in a process of its own. Throws a refusal with what `squad resume` says. */
async function continueRun(workspace: OpenedWorkspace, threadId: string): Promise<void> {
  const before = lookIn(workspace, (ledger) => ledger.segments(threadId).length) ?? 0;
  const started = await start(workspace, ['resume', '--json', '--', threadId], threadId, (ledger) =>
    ledger.segments(threadId).length > before ? threadId : undefined,
  );
  if (!started.began) throw refusalIn(started);
}

async function start(
  workspace: OpenedWorkspace,
  args: readonly string[],
  name: string,
  begun: EngineStart['begun'],
): Promise<EngineStarted> {
  return startDetachedEngine(workspace, { command: [workspace.host.node, PROGRAM, ...args], name, begun });
}

/** No person at this terminal can agree: at another one squad shows the commands, asks, and starts nothing. */
function consentTo(input: StartInput): string {
  const command = [
    'squad plan',
    ...planOptions(input).map(shellOption),
    '--prompts',
    shellWord(plainLine(input.objective)),
  ].join(' ');
  return `Read them and agree to them at a terminal, once: \`${command}\`. Then start this again.`;
}

/** Quotes the value of `--name=value`. */
function shellOption(option: string): string {
  const value = option.indexOf('=') + 1;
  return `${option.slice(0, value)}${shellWord(option.slice(value))}`;
}

function refusalIn({ said, code }: Extract<EngineStarted, { began: false }>, toConsent?: string): Refusal {
  const lines = said.split('\n').map((line) => errorLineSchema.safeParse(fieldsOf(line)).data);
  const error = lines.findLast((line) => line !== undefined);
  const status = code === BUSY ? 409 : 422;
  if (error === undefined) {
    const end = plainLine(said.slice(-2_000), 500);
    return new Refusal(status, `the engine ended with exit code ${code}: ${end}`, 'Run `squad doctor`.');
  }
  const next = error.code === 'not-trusted' ? toConsent : undefined;
  return new Refusal(status, error.message, next ?? error.next ?? 'Run `squad doctor`.', { code: error.code });
}
