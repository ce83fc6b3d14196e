import type { Json } from '../../text/json.ts';

/**
 * `queued`: a worker may take it. `running`: one has it, until its lease ends. `waiting`: for a person or a time; a command or that time makes
 * it queued. `over`: it has ended. `removed`: people took it out.
 */
export type PoolRunState = 'queued' | 'running' | 'waiting' | 'over' | 'removed';

export interface NewPoolRun {
  /** The run's id in its ledger. */
  readonly id: string;
  readonly name: string;
  /** Where workers clone from and push to: the URL of a remote. */
  readonly repository: string;
  readonly base: string;
  readonly labels: readonly string[];
  readonly priority: number;
  readonly submittedBy: string;
  /** Read by people and workers before the first turn. Parsed by its readers. */
  readonly about: Json;
}

export interface PoolRun extends NewPoolRun {
  readonly state: PoolRunState;
  /** Why it waits, or cannot be taken; for people. */
  readonly why: string | null;
  /** Grows by one with each take-over; 0: no worker has had it. */
  readonly epoch: number;
  readonly worker: string | null;
  /** Whether the lease of `worker` holds, by the clock of the database. */
  readonly isHeld: boolean;
  /** Epoch ms; when it is due again, while it waits. */
  readonly again: number | null;
  /** Epoch ms of the database. */
  readonly submittedAt: number;
  /** When its newest bundle was stored. */
  readonly storedAt: number | null;
  /** The newest words of its worker about it. Parsed by its readers. */
  readonly status: Json;
}

/** The right to drive a run. All that is written for it names the epoch; the store refuses an older one. */
export interface PoolClaim {
  readonly run: string;
  readonly worker: string;
  readonly epoch: number;
}

/** Pages of a ledger's file, each under its number, from 0. */
export interface LedgerPages {
  readonly pageBytes: number;
  /** All pages of the file. */
  readonly count: number;
  readonly changed: ReadonlyMap<number, Uint8Array>;
}

/** A run as it is at a replication point: what a pack has, without its commits, which are at the remote. */
export interface PoolBundle {
  /** A manifest, as JSON. */
  readonly manifest: string;
  /** Those that changed since the bundle before. */
  readonly pages: LedgerPages;
  /** SHA-256 of all of its parts but the ledger, as the manifest has them. */
  readonly names: readonly string[];
  /** Contents of these: those that the store may lack. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export interface StoredBundle {
  readonly manifest: string;
  readonly pageBytes: number;
  /** All pages, in order. */
  readonly pages: readonly Uint8Array[];
  /** Epoch of the worker that stored it; 0: as it was submitted. */
  readonly epoch: number;
  /** Grows with each bundle of the run, so that a reader knows what it has. */
  readonly number: number;
}

export interface PoolCommand {
  readonly id: string;
  readonly run: string;
  readonly verb: string;
  /** Parsed by the worker that does it. */
  readonly args: Json;
  readonly by: string;
  readonly at: number;
  /** `null`: not yet. */
  readonly doneAt: number | null;
  readonly answer: Json;
}

export interface PoolWorker {
  readonly name: string;
  /** Another one for each process: two workers of one name are refused. */
  readonly instance: string;
  readonly version: string;
  readonly host: string;
  readonly labels: readonly string[];
  readonly slots: number;
  /** Facts about the machine. Parsed by its readers. */
  readonly offers: Json;
}

export interface SeenWorker extends PoolWorker {
  /** Epoch ms of the database. */
  readonly seenAt: number;
  readonly isDraining: boolean;
  /** It was seen within the time of a lease. */
  readonly isAlive: boolean;
}

/** How a worker gives a run back. */
export interface PoolRelease {
  readonly state: Exclude<PoolRunState, 'running' | 'removed'>;
  readonly why: string | null;
  /** Epoch ms; a waiting run is queued then. */
  readonly again?: number;
}

/**
 * The time of a lease, and how often it is renewed. `confirmedMs`: for how long a look at the lease ref of the remote counts, while the database
 * is away; who takes over from a worker that has not given up waits so long.
 */
export const POOL_LEASE = { heldMs: 10_000, renewMs: 3_000, confirmedMs: 7_000 } as const;

/**
 * The truth about the runs of a pool, in a database that all of its machines reach. Times are the database's. Every write for a claim throws
 * `lease-fenced` once another worker has taken the run over. Throws `storage-refused` while the database does not answer.
 */
export interface PoolStore {
  /** `known`: the same run was submitted before. Throws `usage` if another run of the repository has the name. */
  submit(run: NewPoolRun, bundle: PoolBundle): Promise<'added' | 'known'>;
  runs(): Promise<PoolRun[]>;
  /** By its id, or by its name where one run alone has it. Throws `usage` for an unknown or doubtful name. */
  run(name: string): Promise<PoolRun>;
  /** Takes a run that is queued, or whose worker lost its lease. undefined: there is nothing to take now. */
  claim(run: string, worker: string): Promise<PoolClaim | undefined>;
  /** Returns those that are still held, for the time of a lease from this call on. */
  renew(claims: readonly PoolClaim[]): Promise<PoolClaim[]>;
  setStatus(claim: PoolClaim, status: Json): Promise<void>;
  /** A run with a command that is not done becomes queued, however it is released. */
  release(claim: PoolClaim, how: PoolRelease): Promise<void>;
  /** In one transaction, after its commits were pushed. Throws `storage-refused` if a content that it names was removed meanwhile. */
  storeBundle(claim: PoolClaim, bundle: PoolBundle): Promise<void>;
  /** The newest one. undefined: it is the one with this number. */
  bundle(run: string, have?: number): Promise<StoredBundle | undefined>;
  /** Throws `bad-input` for one that is absent or not as its hash says. */
  content(hash: string): Promise<Uint8Array>;
  /** Those that the store does not have. */
  missing(hashes: readonly string[]): Promise<string[]>;
  /** Queues a command, and the run if it waits or is over. Throws `usage` if the run was removed. */
  command(run: string, verb: string, args: Json, by: string): Promise<PoolCommand>;
  findCommand(id: string): Promise<PoolCommand | undefined>;
  /** Commands of the run that are not done, the oldest first. */
  commandsFor(run: string): Promise<PoolCommand[]>;
  answerCommand(claim: PoolClaim, id: string, answer: Json): Promise<void>;
  /** People take a run out: its worker loses it, and all that no other run has is deleted. */
  removeRun(run: string): Promise<void>;
  /** Throws `usage` while another process of this name is alive. Also to be called again every 3 s; returns whether it is to drain. */
  register(worker: PoolWorker): Promise<{ readonly isDraining: boolean }>;
  workers(): Promise<SeenWorker[]>;
  drainWorker(name: string): Promise<void>;
  /** A live one loses its runs and has to end. */
  removeWorker(name: string): Promise<void>;
  /** All that should have a segment: queued, waiting until a time that has come, or left by a lost worker. Makes them queued. */
  due(): Promise<PoolRun[]>;
  /**
   * Calls back soon after a change of a run: a command, an answer, a bundle, a state. It may call too often, and with '' where changes may
   * have been missed. Ends by the call of its answer.
   */
  follow(onChange: (run: string) => void): () => void;
  close(): Promise<void>;
}
