import type { StateSnapshot } from '@langchain/langgraph';
import { letThroughBy } from '../model/let-through.ts';
import { isDriven } from '../view/driven.ts';
import { readHistory as readRunHistory } from '../view/read-run.ts';
import { endEvent, endOfRun } from '../squad/ended-run.ts';
import { followRun } from '../squad/follow-run.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { checkpointChunks, interruptChunks, resultChunks, type Chunk } from './chunks.ts';
import type { ChatMessage } from './conversation.ts';
import type { RunEvent } from '../model/run-event.ts';
import { readStanding, readThread, readWhole } from './read-thread.ts';
import { readState, threadConfig, withoutCheckpoints, type StatePorts } from './read-state.ts';
import { plainValue } from './snapshots.ts';

const LOOK_MS = 200;
/** Looks between two questions whether the engine still lives, each of which opens a file. */
const LOOKS = 5;
/** Checkpoints of one look. */
const MOST_NEW = 50;

/**
 * Everything that an engine does with a run, from its records, until it ends: its events, with the output of live turns, and its
 * checkpoints. `after`: a checkpoint, or an empty text for all. Ends early once `left` aborts.
 */
export async function* followThread(
  ports: StatePorts,
  threadId: string,
  after: string,
  left: AbortSignal,
): AsyncGenerator<Chunk> {
  const { directory, composition } = ports.workspace;
  const ledger = openLedger(directory, { clock: composition.clock, readOnly: true });
  const events: Chunk[] = [];
  const said = followConversation(ports, threadId);
  const reading = readRunHistory(ledger, threadId, null);
  const redactor = composition.redactor(letThroughBy(reading.definition));
  const epoch = reading.segments.at(-1)?.epoch;
  const followed = followRun({ ledger, composition, redactor, directory }, threadId, epoch, (event) => {
    events.push(['custom', plainValue(event)]);
    said.take(event);
  });
  const states = followCheckpoints(ports, threadId, after, said.read);
  try {
    for (let looks = 1; !left.aborted; looks += 1) {
      // Before the records are read, so that the last look sees all.
      const ended = hasEnded(ledger, threadId, directory, looks % LOOKS === 0);
      await followed.look();
      yield* events.splice(0);
      yield* states();
      if (ended) return yield* lastChunks(ports, ledger, threadId);
      await composition.clock.sleep(LOOK_MS, left);
    }
  } finally {
    await followed.close();
    ledger.close();
  }
}

/** `asks`: also whether the process of a lease that is not released is alive. */
function hasEnded(ledger: Ledger, threadId: string, directory: string, asks: boolean): boolean {
  const segments = ledger.segments(threadId);
  if (segments.at(-1)?.releasedAt !== null) return true;
  return asks && !isDriven(segments, probeLock(directory));
}

/** The messages of a run, read again only after a question or an answer. */
function followConversation(ports: StatePorts, threadId: string) {
  let known: readonly ChatMessage[] | undefined;
  return {
    take: ({ type }: RunEvent): void => {
      if (type === 'question-asked' || type === 'question-answered') known = undefined;
    },
    read: async (): Promise<readonly ChatMessage[]> => {
      const thread = known === undefined ? readThread(ports.workspace, threadId) : undefined;
      const whole = thread === undefined ? undefined : readWhole(ports.workspace, thread);
      if (thread === undefined || whole === undefined) return known ?? [];
      known = (await readStanding(ports.workspace, thread, whole.reading)).messages;
      return known;
    },
  };
}

/** The checkpoints since the last call, each with the results of the one before. */
function followCheckpoints(
  ports: StatePorts,
  threadId: string,
  after: string,
  readMessages: () => Promise<readonly ChatMessage[]>,
): () => AsyncGenerator<Chunk> {
  let last = after;
  let before: string | undefined;
  const read = async (id: string): Promise<StateSnapshot | undefined> => {
    const snapshot = await ports.graph.getState(threadConfig(threadId, id));
    // The engine forgets old ones.
    if (snapshot.createdAt === undefined) return undefined;
    return plainValue({ ...snapshot, values: { ...snapshot.values, messages: await readMessages() } });
  };
  return async function* () {
    const news = await withoutCheckpoints(async () => ports.checkpoints.newerThan(threadId, last, MOST_NEW), []);
    for (const id of news) {
      const ended = before === undefined ? undefined : await read(before);
      if (ended !== undefined) yield* resultChunks(ended);
      const snapshot = await read(id);
      if (snapshot !== undefined) yield* checkpointChunks(snapshot);
      last = id;
      before = id;
    }
  };
}

/** The state in which the engine left the run, with its interrupt; and how it ended. */
async function* lastChunks(ports: StatePorts, ledger: Ledger, threadId: string): AsyncGenerator<Chunk> {
  const { workspace } = ports;
  const state = await readState(ports, threadConfig(threadId));
  yield* interruptChunks(state);
  yield* checkpointChunks(state);
  const reading = readRunHistory(ledger, threadId, probeLock(workspace.directory));
  yield ['custom', plainValue(endEvent(await endOfRun(workspace, reading)))];
}
