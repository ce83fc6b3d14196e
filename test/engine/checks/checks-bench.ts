import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor, type Supervisor } from '../../../src/engine/attempts/supervisor.ts';
import type { AttemptPorts } from '../../../src/engine/attempts/start-attempt.ts';
import { createChecks, type CheckOrder, type Checks } from '../../../src/engine/checks/run-checks.ts';
import { compose, type Composition } from '../../../src/engine/compose.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { ledgerPath, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Lease, Ledger } from '../../../src/substrate/ports/ledger.ts';
import { testHost } from '../../support/test-host.ts';

/** One engine's life: a ledger that was opened, a lease, a supervisor and its checks. */
export interface CheckEngine {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly supervisor: Supervisor;
  readonly checks: Checks;
}

export interface ChecksBench {
  /** Of this bench alone: attempts' ids mark processes, and other tests run at the same time. */
  readonly run: string;
  readonly workspace: string;
  readonly turns: string;
  readonly engine: CheckEngine;
  /** `<attempt> <how>` of everything taken up, over all engines. */
  readonly taken: string[];
  order(command: string, changes?: Partial<CheckOrder>): CheckOrder;
  /** The former engine lets go of everything; what it left running goes on. */
  reopen(options?: EngineOptions): Promise<CheckEngine>;
  read(name: string): string;
  until(holds: () => boolean): Promise<void>;
  /** Throws when the ledger's history breaks a rule. */
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly environment?: Record<string, string>;
  readonly variables?: readonly string[];
  readonly maxOutputBytes?: number;
  readonly supervising?: (ports: AttemptPorts) => AttemptPorts;
}

/** A real ledger, the real wrapper, real processes. */
export function openChecksBench(options: EngineOptions = {}): ChecksBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-checks-')));
  const [workspace, state, turns] = [join(root, 'work tree'), join(root, 'state'), join(root, 'state/turns')];
  for (const folder of [workspace, state, turns]) mkdirSync(folder, { mode: 0o700 });
  const taken: string[] = [];
  const run = `run-${randomUUID().slice(0, 8)}`;
  const composition = compose(hostOf(root, options.environment ?? {}));
  const lock = lockWorkspace(state, { pid: process.pid, host: 'here', since: 0 });
  const openEngine = ({ variables, maxOutputBytes, supervising = (ports) => ports }: EngineOptions): CheckEngine => {
    const ledger = openLedger(state, { clock: composition.clock, lock, ballastBytes: 4096 });
    if (ledger.run(run) === undefined) ledger.createRun({ id: run, name: run });
    const lease = ledger.acquireLease(run, 'test');
    const supervisor = superviseWith(composition, { ledger, lease, turns, taken }, supervising);
    const checks = createChecks(
      { ledger, supervisor, clock: composition.clock, variables },
      lease,
      run,
      maxOutputBytes,
    );
    return { ledger, lease, supervisor, checks };
  };
  let engine = openEngine(options);
  return {
    run,
    workspace,
    turns,
    taken,
    get engine() {
      return engine;
    },
    order: (command, changes = {}) => ({
      id: 'verify-1',
      task: 'task',
      command,
      workspace: async () => ({ path: workspace }),
      wallMs: 30_000,
      purpose: 'verify',
      ...changes,
    }),
    reopen: async (again = options) => {
      await engine.supervisor.detach();
      engine.ledger.close();
      engine = openEngine(again);
      return engine;
    },
    read: (name) => (existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : ''),
    until: async (holds) => {
      const { clock } = composition;
      for (const end = clock.monotonic() + 10_000; !holds(); await clock.sleep(10)) {
        if (clock.monotonic() > end) throw new Error('did not happen within 10 s');
      }
    },
    close: async () => {
      for (const { id } of engine.ledger.attempts({})) await composition.processes.sweep(id);
      engine.ledger.close();
      lock.release();
      const violations = checkHistory(ledgerPath(state));
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      if (violations.length > 0) throw new Error(JSON.stringify(violations));
    },
  };
}

function superviseWith(
  { processes, checkRuntime }: Composition,
  of: { ledger: Ledger; lease: Lease; turns: string; taken: string[] },
  supervising: (ports: AttemptPorts) => AttemptPorts,
): Supervisor {
  const runtime = checkRuntime();
  const ports: AttemptPorts = {
    ledger: of.ledger,
    processes,
    runtime: (name) => (name === runtime.name ? runtime : undefined),
    turnsDirectory: of.turns,
    onStarted: (id, how) => of.taken.push(`${id} ${how}`),
  };
  return createSupervisor(supervising(ports), of.lease);
}

function hostOf(root: string, environment: Record<string, string>) {
  return testHost(root, {
    environment: { PATH: process.env['PATH'], HOME: root, ...environment },
    stateDirectory: join(root, 'xdg', 'squad'),
  });
}
