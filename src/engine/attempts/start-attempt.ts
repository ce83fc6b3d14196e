import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from '../../model/attempt.ts';
import { SquadError } from '../../model/errors.ts';
import type { Failure } from '../../model/failure.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import { createRedactor, type Redactor } from '../../model/redaction/redactor.ts';
import { isStorageError, storageError } from '../../model/storage-error.ts';
import type { ToolError } from '../../model/tool-error.ts';
import type { ToolKind, TurnEvent } from '../../model/turn-event.ts';
import { type TurnRequest, turnRequestSchema } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { AgentRuntime, Turn } from '../../runtimes/port/agent-runtime.ts';
import type { Lease, Ledger } from '../../substrate/ports/ledger.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import { toolTarget } from '../../text/tool-target.ts';
import { withTrueIdentity } from './check-identity.ts';
import { redactTurn } from './redact-turn.ts';
import { keepTurnSecrets, readTurnSecrets } from './turn-secrets.ts';

const MOST_ERRORS = 5;
const MOST_OUTPUT = 800;
/** Open calls that are remembered. */
const MOST_TOOLS = 1_000;

interface ToolErrors {
  take(event: TurnEvent): void;
  /** Newest last. */
  list(): ToolError[];
}

type AttemptStart = 'started' | 'started-again' | 'attached';

export interface AttemptPorts {
  readonly ledger: Ledger;
  readonly processes: Processes;
  /** Removes secrets from events and results; absent: only what looks like a credential. */
  readonly redactor?: Redactor;
  /** undefined: no such runtime is configured. */
  runtime(name: string): AgentRuntime | undefined;
  /** One folder per attempt. */
  readonly turnsDirectory: string;
  /**
   * Completes the request with the attempt's workspace, which it creates. A failure refuses the attempt before a process
   * starts. For an attempt that has a process, it only looks up the workspace.
   */
  prepare?(attempt: Attempt, request: TurnRequest): Promise<Prepared>;
  /** Writes what only this process may find in the attempt's folder; called once for each process. */
  beforeSpawn?(attempt: Attempt, directory: string): Promise<void>;
  onEvent?(attemptId: string, event: TurnEvent): void;
  /** The ledger has recorded the process. */
  onStarted?(attemptId: string, how: AttemptStart): void;
  onSettled?(attemptId: string, result: TurnResult): void;
  /** Why the attempt failed where something was thrown for it; throws what ends the engine. Absent: everything does. */
  fault?(error: unknown): Promise<string>;
  /** The attempt stays unsettled, because the machine is broken or this engine was fenced. */
  onBroken?(attemptId: string, error: unknown): void;
}

export type Prepared =
  | { readonly type: 'ready'; readonly request: TurnRequest }
  | { readonly type: 'refused'; readonly failure: Failure };

/**
 * Returns a running turn for an unsettled attempt. Attaches to its recorded process, alive or not. If an engine died between the
 * claim and that record, no agent has run: ends what is left of the process and starts the attempt again, at no cost to its budget.
 */
export async function startAttempt(ports: AttemptPorts, lease: Lease, attempt: Attempt): Promise<Turn> {
  const observe = observer(ports, lease, attempt.id);
  const errors = collectToolErrors();
  const tools = countTools();
  const onEvent = (event: TurnEvent): void => {
    errors.take(event);
    tools.take(event);
    observe(event);
  };
  const stored = turnRequestSchema.parse(JSON.parse(attempt.request));
  const owes = stored.outputSchema !== undefined && stored.outputIsOptional !== true;
  const isReporting = ports.runtime(attempt.runtime)?.description?.reportsTools !== false;
  const complete = (result: TurnResult): TurnResult => {
    if (attempt.kind !== 'turn') return result;
    const toolErrors = errors.list();
    const isTold = isReporting || tools.used() > 0;
    const commands = isTold && owes ? tools.commands() : undefined;
    const used = { ...result, tools: isTold ? tools.used() : null, ...defined({ commands }) };
    return toolErrors.length === 0 ? used : { ...used, toolErrors };
  };
  const own = ports.redactor ?? NOTHING_KNOWN;
  // The engine that started it may have had other variables.
  const secrets = await readTurnSecrets(join(ports.turnsDirectory, attempt.id));
  const redaction = redactTurn(own.with(secrets), onEvent, complete);
  return redaction.turn(await startUnredacted(ports, lease, { attempt, stored }, redaction.onEvent));
}

const NOTHING_KNOWN = createRedactor([]);

async function startUnredacted(
  ports: AttemptPorts,
  lease: Lease,
  { attempt, stored }: { readonly attempt: Attempt; readonly stored: TurnRequest },
  onEvent: (event: TurnEvent) => void,
): Promise<Turn> {
  const directory = join(ports.turnsDirectory, attempt.id);
  const runtime = ports.runtime(attempt.runtime);
  if (runtime === undefined && attempt.process === null) return refusedTurn(unknownRuntime(attempt.runtime));
  if (runtime === undefined) throw notConfigured(attempt);
  const fresh = attempt.epoch === lease.epoch;
  if (attempt.process === null && fresh) await setAside(ports, attempt.id, directory);
  const prepared = await ports.prepare?.(attempt, stored);
  if (prepared?.type === 'refused' && attempt.process === null) return refusedTurn(prepared.failure);
  const request = prepared?.type === 'ready' ? prepared.request : stored;
  if (attempt.process !== null) {
    ports.onStarted?.(attempt.id, 'attached');
    return runtime.attach(request, {
      directory,
      identity: attempt.process,
      spawnedAt: attempt.spawnedAt ?? attempt.claimedAt,
      onEvent,
    });
  }
  if (!fresh) {
    await ports.processes.sweep(attempt.id);
    await rm(directory, { recursive: true, force: true });
  }
  const how = fresh ? 'started' : 'started-again';
  return start(ports, lease, runtime, request, { attempt, directory, onEvent, how });
}

/**
 * A turn ran under a claim that is being made now: the ledger is older than its folder, because it was restored from a backup or its
 * log lost the end. What the turn left stays, under another name.
 */
async function setAside({ processes }: AttemptPorts, attemptId: string, directory: string): Promise<void> {
  if (!existsSync(join(directory, 'prompt'))) return;
  await processes.sweep(attemptId);
  for (let number = 1; ; number += 1) {
    const aside = `${directory}.lost-${number}`;
    if (existsSync(aside)) continue;
    return rename(directory, aside);
  }
}

async function start(
  ports: AttemptPorts,
  lease: Lease,
  runtime: AgentRuntime,
  request: TurnRequest,
  turn: { attempt: Attempt; directory: string; onEvent: (event: TurnEvent) => void; how: AttemptStart },
): Promise<Turn> {
  failpoint('attempt.claimed');
  await mkdir(turn.directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw storageError(turn.directory, error);
  });
  await keepTurnSecrets(turn.directory, ports.redactor ?? NOTHING_KNOWN);
  await ports.beforeSpawn?.(turn.attempt, turn.directory);
  const { directory, onEvent } = turn;
  const commit = async (identity: ProcessIdentity, at: number): Promise<void> => {
    ports.ledger.markSpawned(lease, turn.attempt.id, identity, at);
    ports.onStarted?.(turn.attempt.id, turn.how);
  };
  return withTrueIdentity({ runtime: runtime.name, marker: request.turnId }, commit, (onSpawned) =>
    runtime.start(request, { directory, onEvent, onSpawned }),
  );
}

/** Records the few events that the ledger keeps, each once. Passes every event on. */
function observer(ports: AttemptPorts, lease: Lease, attemptId: string): (event: TurnEvent) => void {
  const seen = new Set<string>();
  const note = (type: string, data: Json): void => {
    if (seen.has(type)) return;
    seen.add(type);
    try {
      ports.ledger.observe(lease, attemptId, type, data);
    } catch (error) {
      // The turn continues: its output has the fact too, and its settlement shows any other fault of the ledger. But a full
      // disk must stop the run now, because this write has freed the ballast that its pause needs.
      if (isStorageError(error)) ports.onBroken?.(attemptId, error);
    }
  };
  return (event) => {
    if (event.type === 'session-announced') {
      note('session-announced', { session: event.id, resumed: event.resumed, model: event.model ?? null });
    }
    if (event.type === 'tool-started') note('first-tool', { tool: event.tool, kind: event.kind });
    ports.onEvent?.(attemptId, event);
  };
}

/** A missing setting must not cost the work of a process that may still run. */
function notConfigured(attempt: Attempt): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `${attempt.id} runs on ${attempt.runtime}, which is not configured here`,
    next: `Configure ${attempt.runtime} again, then resume the run.`,
  });
}

function unknownRuntime(runtime: string): Failure {
  return {
    kind: 'setting-unsupported',
    setting: 'runtime',
    message: `no runtime is called ${runtime}`,
    mayHaveActed: false,
  };
}

function refusedTurn(failure: Failure): Turn {
  const result: TurnResult = { outcome: 'refused', text: '', denials: [], failure, stderrTail: '', durationMs: 0 };
  return {
    result: Promise.resolve(result),
    cancel: () => Promise.resolve(result),
    detach: () => Promise.resolve(),
    activity: () => ({ lastSignOfLifeAt: 0, openTools: 0 }),
  };
}

/** Open calls that are remembered. */
const MOST_OPEN = 1_000;

/** Commands of one turn that are kept. */
const MOST_COMMANDS = 100;

/**
 * Counts the tools that a turn used: those that ended, but for denied ones and the one that only gives the answer. `commands`: what it
 * ran; undefined: more than squad keeps.
 */
function countTools(): { take(event: TurnEvent): void; used(): number; commands(): string[] | undefined } {
  const answers = new Set<string>();
  const open = new Map<string, string>();
  const ran = new Set<string>();
  let used = 0;
  return {
    take: (event) => {
      if (event.type === 'tool-started') {
        if (event.answers === true && answers.size < MOST_OPEN) answers.add(event.id);
        if (RUNS.has(event.kind) && open.size < MOST_OPEN) open.set(event.id, toolTarget(event.input));
      }
      if (event.type !== 'tool-ended' || event.denied) return;
      if (!answers.has(event.id)) used += 1;
      const begun = open.get(event.id);
      open.delete(event.id);
      if (begun === undefined || ran.size > MOST_COMMANDS) return;
      const command = event.input === undefined ? begun : toolTarget(event.input);
      if (command !== '') ran.add(command);
    },
    used: () => used,
    commands: () => (ran.size > MOST_COMMANDS ? undefined : [...ran]),
  };
}

/** Kinds of tools that may run a command. */
const RUNS: ReadonlySet<ToolKind> = new Set(['execute', 'other', 'mcp', 'agent']);

/** The last few tool calls of one turn that failed or were denied, each once. A call that later succeeds is left out. */
export function collectToolErrors(): ToolErrors {
  const open = new Map<string, Pick<ToolError, 'tool' | 'input'>>();
  let errors: ToolError[] = [];
  return {
    take: (event) => {
      if (event.type === 'tool-started') {
        const { tool, server, input } = event;
        if (open.size >= MOST_TOOLS) open.clear();
        open.set(event.id, { tool: server === undefined ? tool : `${server}/${tool}`, input: toolTarget(input) });
        return;
      }
      if (event.type !== 'tool-ended') return;
      const begun = open.get(event.id) ?? { tool: 'a tool', input: '' };
      const call = event.input === undefined ? begun : { ...begun, input: toolTarget(event.input) };
      open.delete(event.id);
      const others = errors.filter(({ tool, input }) => tool !== call.tool || input !== call.input);
      const failed = { ...call, output: lastOf(event.output ?? ''), denied: event.denied };
      errors = event.ok ? others : [...others, failed].slice(-MOST_ERRORS);
    },
    list: () => errors,
  };
}

function lastOf(output: string): string {
  const text = output.trim();
  return text.length <= MOST_OUTPUT ? text : `…${text.slice(-MOST_OUTPUT).toWellFormed()}`;
}
