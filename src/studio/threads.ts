import type { LockedBy } from '../view/driven.ts';
import { findDefinition } from '../view/read-run.ts';
import { findView } from '../view/run-summary.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { lookIn } from '../squad/open-workspace.ts';
import { markOf } from './read-thread.ts';
import { readState, threadConfig, type StatePorts } from './read-state.ts';

/** LangGraph's words: `interrupted` waits for a person, `busy` has an engine at work, `idle` is every other run. */
type ThreadStatus = 'idle' | 'busy' | 'interrupted';

/** A run as LangGraph's server lists it. */
export interface RunThread {
  readonly thread_id: string;
  readonly created_at: Date;
  /** Time of the newest event of the run. */
  readonly updated_at: Date;
  readonly status: ThreadStatus;
  readonly metadata: Readonly<Record<string, string | readonly string[]>>;
  /** Only of an interrupted run: its state, and the interrupts of each task by its id. */
  readonly asked?: { readonly values: unknown; readonly interrupts: Readonly<Record<string, readonly unknown[]>> };
}

type Listed = Omit<RunThread, 'metadata' | 'asked'> & Pick<Partial<RunThread>, 'asked'>;
/** Fixed for a run, so it is read once. */
type About = Readonly<Record<string, string>>;

/** The runs of a workspace as threads. A run is read again only after something was recorded of it. */
export class RunThreads {
  readonly #ports: StatePorts;
  readonly #about = new Map<string, About>();
  readonly #read = new Map<string, { readonly mark: string; readonly listed: Listed }>();

  constructor(ports: StatePorts) {
    this.#ports = ports;
  }

  /** All runs as they stand now, the oldest first. Writes nothing. */
  async list(): Promise<readonly RunThread[]> {
    const found = lookIn(this.#ports.workspace, (ledger, lockedBy) => this.#look(ledger, lockedBy)) ?? [];
    const all: RunThread[] = [];
    for (const { mark, listed, metadata } of found) {
      const whole =
        listed.status !== 'interrupted' || listed.asked !== undefined
          ? listed
          : { ...listed, asked: await askedIn(this.#ports, listed.thread_id) };
      this.#read.set(listed.thread_id, { mark, listed: whole });
      all.push({ ...whole, metadata });
    }
    return all;
  }

  #look(ledger: Ledger, lockedBy: LockedBy | null) {
    const rows = ledger.runs();
    return rows.flatMap((row) => {
      const about = this.#aboutOf(ledger, row);
      if (about === undefined) return [];
      const forks = rows.filter(({ parent }) => parent?.runId === row.id).map(({ id }) => id);
      const kin = {
        ...(row.parent === null ? {} : { parent: row.parent.runId }),
        ...(forks.length === 0 ? {} : { forks }),
      };
      return [{ ...this.#standingOf(ledger, row, lockedBy), metadata: { ...about, ...kin } }];
    });
  }

  #aboutOf(ledger: Ledger, row: RunRow): About | undefined {
    const known = this.#about.get(row.id);
    const definition = known === undefined ? findDefinition(ledger, row) : undefined;
    if (definition === undefined) return known;
    const { name, playbook, objective } = definition;
    const about = { name, playbook, objective: objective.title };
    this.#about.set(row.id, about);
    return about;
  }

  #standingOf(ledger: Ledger, row: RunRow, lockedBy: LockedBy | null): { mark: string; listed: Listed } {
    const { driven, last, mark } = markOf(ledger, row.id, lockedBy);
    const known = this.#read.get(row.id);
    if (known?.mark === mark) return known;
    const view = findView(ledger, row, lockedBy, this.#ports.workspace.composition.clock.now());
    const asks = view?.waits.waitingFor?.for === 'answer';
    const [newest] = ledger.events({ stream: row.id, after: last - 1, limit: 1 });
    const listed: Listed = {
      thread_id: row.id,
      created_at: new Date(row.createdAt),
      updated_at: new Date(newest?.at ?? row.createdAt),
      status: asks ? 'interrupted' : driven ? 'busy' : 'idle',
    };
    return { mark, listed };
  }
}

async function askedIn(ports: StatePorts, id: string): Promise<RunThread['asked'] & object> {
  const { values, tasks } = await readState(ports, threadConfig(id));
  return { values, interrupts: Object.fromEntries(tasks.map((task) => [task.id, task.interrupts])) };
}
