import type { Attempt } from '../model/attempt.ts';
import { attemptId, attemptScope } from '../model/attempt-id.ts';
import { usageError } from '../model/errors.ts';
import { noSuch } from '../model/unknown-name.ts';
import { openMachine, type Machine } from '../engine/machine.ts';
import { drivenRun, readHistory, type LockedBy, type RunHistory } from '../view/read-run.ts';
import { runIdOf, readLedger, workspaceIn, type OpenedRun } from '../squad/open-run.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';

/** A run, or one of its tasks or attempts. */
interface Target {
  readonly reading: RunHistory;
  readonly task?: string;
  readonly attempt?: Attempt;
}

export type OpenedTarget = OpenedRun<Machine> & Target;

/** `run`: by default the running or newest one. `name`: a name in that run, or of another run. */
interface Wanted {
  readonly run?: string | undefined;
  readonly name?: string | undefined;
  readonly kinds: 'run or task' | 'run, task or attempt';
}

/** Opens what the names mean, without the runtimes. Throws `usage` with the nearest known name. */
export async function openTarget({ host }: Pick<CommandContext, 'host'>, wanted: Wanted): Promise<OpenedTarget> {
  const workspace = await workspaceIn({ host, composition: openMachine(host) });
  const { directory, composition } = workspace;
  const lockedBy = probeLock(directory);
  const target = readLedger(workspace, (ledger) => findTarget(ledger, directory, lockedBy, wanted));
  return { ...workspace, ...target, now: composition.clock.now() };
}

function findTarget(
  ledger: Ledger,
  directory: string,
  lockedBy: LockedBy | null,
  { run, name, kinds }: Wanted,
): Target {
  const runNamed = (given: string) => ledger.run(runIdOf(directory, given)) ?? ledger.run(given);
  const readOne = (given: string | undefined): RunHistory =>
    readHistory(ledger, given === undefined ? drivenRun(ledger, lockedBy) : (runNamed(given)?.id ?? given), lockedBy);
  if (name === undefined) return { reading: readOne(run) };
  const whole = run === undefined ? runNamed(name) : undefined;
  if (whole !== undefined) return { reading: readOne(whole.id) };
  const takesAttempts = kinds === 'run, task or attempt';
  const stored = takesAttempts ? ledger.attempt(name) : undefined;
  if (stored !== undefined) return { reading: readOne(stored.runId), attempt: stored };
  const reading = readOne(run);
  if (reading.board.tasks.has(name)) return { reading, task: name };
  const scope = attemptScope(reading.row.name, reading.row.id);
  const attempt = takesAttempts ? ledger.attempt(attemptId(scope, name)) : undefined;
  if (attempt !== undefined) return { reading, attempt };
  throw unknown(ledger, reading, { run, name, kinds });
}

function unknown(ledger: Ledger, { row, board, attempts }: RunHistory, { run, name = '', kinds }: Wanted) {
  const tasks = [...board.tasks.keys()];
  const turns = attempts.map(({ attempt }) => attempt.id.slice(attempt.id.lastIndexOf('.') + 1));
  const own = kinds === 'run or task' ? tasks : [...tasks, ...turns];
  const runs = run === undefined ? ledger.runs().map((one) => one.name) : [];
  const kind = run === undefined ? kinds : kinds.replace('run, ', '').replace('run or ', '');
  const next = run === undefined ? 'List the runs with `squad runs`, and' : 'List';
  return usageError(
    noSuch(kind, plainLine(name, 80), [...runs, ...own]),
    `${next} the tasks of ${row.name} with \`squad status ${row.name}\`.`,
  );
}
