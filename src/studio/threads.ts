import { findDefinition } from '../read-model/read-run.ts';
import { readLedger, type OpenedWorkspace } from '../squad/open-run.ts';
import { hasLedger } from '../substrate/ledger/index.ts';
import { isSquadError } from '../model/errors.ts';
import { plainLine } from '../text/plain-text.ts';
import { GRAPH, type AgentServer } from './agent-server.ts';

/** A run as a thread of the server, which has its id. */
interface RunThread {
  readonly thread_id: string;
  readonly metadata: Readonly<Record<string, string | readonly string[]>>;
}

/** A new run is a thread within this time. */
const LOOK_MS = 1_000;
/** Threads that the server lists at once. */
const PAGE = 1_000;

export interface ThreadList {
  /** The name of the run that this thread is. */
  nameOf(threadId: string): string | undefined;
  stop(): Promise<void>;
}

/** Makes every run of the workspace a thread of the server, and each new one as it appears. Writes nothing but the server's list. */
export async function keepThreads(
  workspace: OpenedWorkspace,
  server: Pick<AgentServer, 'ask'>,
  onProblem: (line: string) => void,
): Promise<ThreadList> {
  const assistant = await findAssistant(server);
  const known: Known = new Map();
  const stopped = new AbortController();
  let reported = '';
  const look = async (): Promise<void> => {
    try {
      const own = { graph_id: GRAPH, assistant_id: assistant };
      const threads = readThreads(workspace, known);
      await bringUpToDate(
        server,
        threads.map(({ thread_id, metadata }) => ({ thread_id, metadata: { ...own, ...metadata } })),
      );
      reported = '';
    } catch (error) {
      if (!isSquadError(error)) throw error;
      // Once, and again only if something else is wrong.
      if (reported !== error.message)
        onProblem(plainLine(`the list of runs: ${error.message}. ${error.next ?? ''}`, 500));
      reported = error.message;
    }
  };
  await look();
  const { clock } = workspace.composition;
  const following = (async () => {
    for (;;) {
      await clock.sleep(LOOK_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      await look();
    }
  })();
  return {
    nameOf: (threadId) => known.get(threadId)?.['name'],
    stop: async () => {
      stopped.abort();
      await following;
    },
  };
}

async function findAssistant(server: Pick<AgentServer, 'ask'>): Promise<string> {
  const [found] = await jsonOf<{ assistant_id: string }[]>(server.ask('/assistants/search', { graph_id: GRAPH }));
  return found?.assistant_id ?? GRAPH;
}

/** What is fixed about a run, by its id. */
type Known = Map<string, Readonly<Record<string, string>>>;

/** All runs, the oldest first. */
function readThreads(workspace: OpenedWorkspace, known: Known): readonly RunThread[] {
  if (!hasLedger(workspace.directory)) return [];
  return readLedger(workspace, (ledger) => {
    const rows = ledger.runs();
    for (const row of rows) {
      const definition = known.has(row.id) ? undefined : findDefinition(ledger, row);
      if (definition === undefined) continue;
      const { name, playbook, objective } = definition;
      known.set(row.id, { name, playbook, objective: objective.title });
    }
    return rows.flatMap(({ id, parent }): RunThread[] => {
      const about = known.get(id);
      const forks = rows.filter((row) => row.parent?.runId === id).map((row) => row.id);
      const kin = { ...(parent === null ? {} : { parent: parent.runId }), ...(forks.length === 0 ? {} : { forks }) };
      return about === undefined ? [] : [{ thread_id: id, metadata: { ...about, ...kin } }];
    });
  });
}

/** A client may have made the thread of a run before the run began, or removed it with a run of the server. */
async function bringUpToDate(server: Pick<AgentServer, 'ask'>, threads: readonly RunThread[]): Promise<void> {
  const listed = threads.length === 0 ? [] : await listAll(server);
  const there = new Map(listed.map(({ thread_id, metadata }) => [thread_id, metadata]));
  for (const { thread_id, metadata } of threads) {
    const has = there.get(thread_id);
    if (has === undefined) await made(server.ask('/threads', { thread_id, metadata, if_exists: 'do_nothing' }));
    else if (Object.entries(metadata).some(([key, value]) => String(has[key]) !== String(value))) {
      await made(server.ask(`/threads/${thread_id}`, { metadata }, 'PATCH'));
    }
  }
}

async function listAll(server: Pick<AgentServer, 'ask'>): Promise<readonly RunThread[]> {
  const all: RunThread[] = [];
  for (;;) {
    const search = { limit: PAGE, offset: all.length, select: ['thread_id', 'metadata'] };
    const page = await jsonOf<RunThread[]>(server.ask('/threads/search', search));
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

async function jsonOf<T>(answer: Promise<Response>): Promise<T> {
  return (await (await made(answer)).json()) as T;
}

async function made(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok)
    throw new Error(`the server refused squad's own request: ${response.status} ${await response.text()}`);
  return response;
}
