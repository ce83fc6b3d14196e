import { WHOLE_RUN } from '../model/plan/scope.ts';
import { predictBoard } from '../view/replay-plan.ts';
import { isOver } from '../view/read-run.ts';
import { answer } from '../squad/answer.ts';
import { intervene } from '../squad/intervene.ts';
import { errorText, isSquadError } from '../model/errors.ts';
import { refuseBusy } from '../substrate/ledger/workspace-lock.ts';
import { checkpointChunks, type Chunk } from './chunks.ts';
import { decideCall, type Call, type CallPlan, type Standing } from './decide-call.ts';
import { followThread } from './follow-thread.ts';
import { forkThread } from './fork-thread.ts';
import { headOf, readState, threadConfig, type StatePorts } from './read-state.ts';
import { drivesAny, readThread, readWhole } from './read-thread.ts';
import { continueRun, startRun } from './start-engine.ts';

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
