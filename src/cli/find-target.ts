import type { Attempt } from '../model/attempt.ts';
import { attemptId, attemptScope } from '../model/attempt-id.ts';
import { usageError } from '../model/errors.ts';
import { noSuch } from '../model/unknown-name.ts';
import { openMachine, type Machine } from '../engine/machine.ts';
import { readHistory, type RunHistory } from '../view/read-run.ts';
import { withRun, type OpenedRun } from '../squad/open-run.ts';
import { openWorkspace, runNamed } from '../squad/open-workspace.ts';
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
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const { run, name, kinds } = wanted;
  return withRun(workspace, run, (ledger, given, { lockedBy }): Target => {
    const readOne = (id: string | undefined): RunHistory => readHistory(ledger, id, lockedBy);
    if (name === undefined) return { reading: readOne(given) };
    const whole = run === undefined ? runNamed(workspace, ledger, name) : undefined;
    if (whole !== undefined) return { reading: readOne(whole.id) };
    const stored = kinds === 'run, task or attempt' ? ledger.attempt(name) : undefined;
    if (stored !== undefined) return { reading: readOne(stored.runId), attempt: stored };
    return partOf(ledger, readOne(given), { ...wanted, name });
  });
}

function partOf(ledger: Ledger, reading: RunHistory, wanted: Wanted & { readonly name: string }): Target {
  const { name, kinds } = wanted;
  if (reading.board.tasks.has(name)) return { reading, task: name };
  const scope = attemptScope(reading.row.name, reading.row.id);
  const attempt = kinds === 'run, task or attempt' ? ledger.attempt(attemptId(scope, name)) : undefined;
  if (attempt !== undefined) return { reading, attempt };
  throw unknown(ledger, reading, wanted);
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
