import type { RunnableConfig } from '@langchain/core/runnables';
import { errorText, isSquadError } from '../model/errors.ts';
import { sha256Of } from '../model/sha256.ts';
import { answer } from '../squad/answer.ts';
import { commandsOf, keyIn, storedKey } from '../squad/command-key.ts';
import type { ForkedRun } from '../squad/fork.ts';
import { intervene } from '../squad/intervene.ts';
import { lookIn } from '../squad/open-workspace.ts';
import { reload } from '../squad/reload.ts';
import { stop } from '../squad/stop.ts';
import { type EditCommand, type EditReading, editToCommand, VERB_NAMES } from './edit.ts';
import { forkThread } from './fork-thread.ts';
import { headOf, placeIn, readState, type StatePorts, threadConfig } from './read-state.ts';
import { readThread } from './read-thread.ts';
import { Refusal } from './refusal.ts';
import { plainValue } from './snapshots.ts';
import { START_INPUT } from './start-input.ts';

/** A client repeats what it got no answer to for half a minute. */
const REPEATS_MS = 60_000;

/** A command that the run has. */
interface Recorded {
  readonly seq: number;
  /** How long it is there. */
  readonly ageMs: number;
  readonly key: string | undefined;
}

interface Edited {
  readonly runId: string;
  readonly checkpointId: string | undefined;
  readonly command: EditCommand;
  /** The client's own name of the command. */
  readonly named: string | undefined;
}

type Command = Exclude<EditCommand, { do: 'fork' }>;

/** Forks that edits made lately, so that a repeated edit makes no second one. */
export type RecentForks = Map<string, { readonly at: number; readonly forked: ForkedRun }>;

/**
 * Gives the run of a thread the command that an edit of its state means. While an engine works on the run, that is always the run
 * itself; otherwise an edit of an old checkpoint makes a fork, which gets the command. The reply names the thread.
 */
export async function steerThread(
  ports: StatePorts,
  recent: RecentForks,
  config: RunnableConfig,
  edit: unknown,
): Promise<RunnableConfig> {
  const { threadId, checkpointId } = placeIn(config);
  const thread = readThread(ports.workspace, threadId);
  if (thread === undefined) {
    throw new Refusal(422, 'this thread is no run yet', `Start a run with the input ${START_INPUT}.`);
  }
  const state = await readState(ports, threadConfig(threadId, checkpointId));
  const head = await headOf(ports, threadId);
  const isOld = checkpointId !== undefined && checkpointId !== head;
  const { command, key: named } = meaningOf(state.values as object, edit, isOld);
  const edited = { runId: threadId, checkpointId, command, named };
  if (command.do === 'fork' || (isOld && !thread.driven)) {
    const forked = await forkOnce(ports, recent, digestOf(edited), async () =>
      forkThread(ports, threadId, checkpointId),
    );
    if (command.do !== 'fork') await obeyFork(ports, forked, command, { ...edited, runId: forked.runId });
    return { configurable: { ...threadConfig(forked.runId).configurable, forked } };
  }
  const done = await obey(ports, command, edited);
  return { configurable: { ...threadConfig(threadId, head).configurable, command: done } };
}

function meaningOf(state: object, edit: unknown, isOld: boolean): Extract<EditReading, { ok: true }> {
  // LangGraph's own way to fork.
  const isBare = edit === null || edit === undefined || (typeof edit === 'object' && Object.keys(edit).length === 0);
  if (isBare && isOld) return { ok: true, command: { do: 'fork' }, key: undefined };
  const read = editToCommand(state, plainValue(edit));
  if (read.ok) return read;
  const small = 'Or set one line of `board` to skipped, or give one of the `questions` an `answer`.';
  const next = `Send {"verb": …} with one of ${VERB_NAMES.join(', ')}. ${small}`;
  throw new Refusal(422, read.why, next, { verbs: VERB_NAMES });
}

async function obey(ports: StatePorts, command: Command, edited: Edited): Promise<{ do: string; seq?: number }> {
  const { workspace } = ports;
  const { runId } = edited;
  const key = lookIn(workspace, (ledger) => {
    const recorded = commandsOf(ledger, runId).map((one) => {
      const stored = keyIn(one);
      return { seq: one.seq, ageMs: ageOf(workspace.composition.clock, one.at, stored), key: stored };
    });
    return keyOf(edited, recorded);
  });
  noteHeard(workspace.composition.clock, storedKey(runId, key));
  switch (command.do) {
    case 'intervene': {
      const { seq } = await intervene(workspace, runId, command.request, { key });
      return { do: command.request.verb, seq };
    }
    case 'answer': {
      const { seq } = await answer(workspace, runId, command.answer, command.question, { key, paths: command.paths });
      return { do: command.do, seq };
    }
    case 'stop':
      await stop(workspace, runId, { key });
      return { do: command.do };
    case 'reload':
      await reload(workspace, runId, { key });
      return { do: command.do };
    default:
      return command satisfies never;
  }
}

/** Long after a command has become old: a clock that was set back makes one that is forgotten new again. */
const FORGOTTEN_MS = 60 * REPEATS_MS;

/** When this process first heard commands that were given lately, in monotonic ms, by their stored keys. */
const heard = new Map<string, number>();

type Clock = Pick<StatePorts['workspace']['composition']['clock'], 'now' | 'monotonic'>;

/** The time of day may be set between a request and its repeat. It counts only for commands that another process has stored. */
function ageOf(clock: Clock, at: number, key: string | undefined): number {
  const since = key === undefined ? undefined : heard.get(key);
  return since === undefined ? Math.abs(clock.now() - at) : clock.monotonic() - since;
}

function noteHeard(clock: Clock, key: string | undefined): void {
  const now = clock.monotonic();
  for (const [old, since] of heard) if (now - since >= FORGOTTEN_MS) heard.delete(old);
  if (key !== undefined && !heard.has(key)) heard.set(key, now);
}

async function obeyFork(ports: StatePorts, forked: ForkedRun, command: Command, edited: Edited): Promise<void> {
  try {
    await obey(ports, command, edited);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    const next = `Its fork ${forked.name} was made (thread ${forked.runId}): give it another command, or run it.`;
    throw new Refusal(422, errorText(error), next, { code: error.code, forked });
  }
}

async function forkOnce(
  { workspace }: StatePorts,
  recent: RecentForks,
  digest: string,
  make: () => Promise<ForkedRun>,
): Promise<ForkedRun> {
  const now = workspace.composition.clock.monotonic();
  for (const [old, { at }] of recent) if (now - at >= REPEATS_MS) recent.delete(old);
  const known = recent.get(digest)?.forked;
  if (known !== undefined) return known;
  const forked = await make();
  recent.set(digest, { at: now, forked });
  return forked;
}

/** Equal for a request and its repeats. */
function digestOf({ runId, checkpointId, command, named }: Edited): string {
  const about = [runId, named ?? '', checkpointId ?? '', command];
  return sha256Of(JSON.stringify(about));
}

/**
 * The key of an edit's command. A client that repeats a request says so nowhere, so without a name of its own an edit is a repeat
 * if it equals the newest command of the run, and follows it within a minute. `recorded`: oldest first.
 */
export function keyOf(edited: Edited, recorded: readonly Recorded[]): string {
  if (edited.named !== undefined) return `named ${edited.named}`;
  const [before, last] = [recorded.at(-2), recorded.at(-1)];
  const digest = digestOf(edited);
  const after = (one: Recorded | undefined): string => `${digest} after ${one?.seq ?? 0}`;
  const isRepeat = last !== undefined && last.key === storedKey(edited.runId, after(before)) && last.ageMs < REPEATS_MS;
  return after(isRepeat ? before : last);
}
