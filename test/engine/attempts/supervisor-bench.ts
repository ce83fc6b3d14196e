import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSupervisor, type Supervisor } from '../../../src/engine/attempts/supervisor.ts';
import type { AttemptPorts } from '../../../src/engine/attempts/start-attempt.ts';
import { compose } from '../../../src/engine/compose.ts';
import type { AgentRuntime } from '../../../src/runtimes/port/agent-runtime.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { ledgerPath, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Lease, Ledger } from '../../../src/substrate/ports/ledger.ts';
import { testHost } from '../../support/test-host.ts';

export interface SupervisorBench {
  readonly ledger: Ledger;
  readonly workspace: string;
  readonly turns: string;
  /** The scripted one. */
  readonly runtime: AgentRuntime;
  /** `<attempt> <how>` of everything taken up. */
  readonly taken: string[];
  /** Types of all events. */
  readonly events: string[];
  claim(id: string, runtime?: string, changes?: Partial<TurnRequest>): void;
  supervisor(changes?: Partial<AttemptPorts>, lease?: Lease): Supervisor;
  outcomeOf(id: string): string | undefined;
  /** A process that carries the attempt's marker; resolves with the signal that ended it. */
  spawnMarked(id: string): Promise<string>;
  until(holds: () => boolean): Promise<void>;
  /** Throws when the ledger's history breaks a rule. */
  close(): Promise<void>;
}

/** A real ledger under its lock, and the scripted runtime on real processes. The run is called `run`. */
export function openSupervisorBench(steps: readonly Record<string, unknown>[]): SupervisorBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-supervisor-')));
  const [workspace, state, turns] = ['workspace', '.squad', '.squad/turns'].map((name) => join(root, name));
  for (const folder of [workspace, state, turns]) mkdirSync(folder!, { mode: 0o700 });
  const script = join(root, 'script.json');
  writeFileSync(script, JSON.stringify({ turns: [{ steps }] }));
  const { clock, processes, runtime } = compose(testHost(root));
  const lock = lockWorkspace(state!, { pid: process.pid, host: 'here', since: 0 });
  const ledger = openLedger(state!, { clock, lock, ballastBytes: 4096 });
  ledger.createRun({ id: 'run', name: 'run' });
  const ownLease = ledger.acquireLease('run', 'test');
  const taken: string[] = [];
  const events: string[] = [];
  const scripted = runtime('scripted', { config: { script } });
  const ids: string[] = [];

  return {
    ledger,
    workspace: workspace!,
    turns: turns!,
    runtime: scripted,
    taken,
    events,
    claim: (id, name = 'scripted', changes = {}) => {
      const request: TurnRequest = {
        turnId: id,
        workspace: { path: workspace! },
        prompt: 'go',
        instructions: 'rules',
        access: { level: 'edit' },
        mcp: [],
        limits: { ...DEFAULT_TURN_LIMITS, wallMs: 60_000 },
        ...changes,
      };
      const attempt = {
        id,
        taskId: 'task',
        kind: 'turn' as const,
        agent: 'builder',
        runtime: name,
        request: JSON.stringify(request),
      };
      const seq = ledger.append('run', 'poke', null);
      const cursor = ledger.run('run')?.applied ?? 0;
      const decisions = [{ do: 'claim-attempt' as const, attempt, limits: {} }];
      ledger.apply({ lease: ownLease, cursor, seq, driver: `claim-${id}`, decisions });
      ids.push(id);
    },
    supervisor: (changes = {}, lease = ownLease) =>
      createSupervisor(
        {
          ledger,
          processes,
          runtime: (name) => (name === 'scripted' ? scripted : undefined),
          turnsDirectory: turns!,
          onEvent: (_, event) => events.push(event.type),
          onStarted: (id, how) => taken.push(`${id} ${how}`),
          ...changes,
        },
        lease,
      ),
    outcomeOf: (id) => ledger.settlement(id)?.result.outcome,
    spawnMarked: async (id) => {
      const child = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], SQUAD_TURN_ID: id }, stdio: 'ignore' });
      const [, signal] = (await once(child, 'exit')) as [number | null, string];
      return signal;
    },
    until: async (holds) => {
      for (const end = clock.monotonic() + 10_000; !holds(); await clock.sleep(10)) {
        if (clock.monotonic() > end) throw new Error('did not happen within 10 s');
      }
    },
    close: async () => {
      for (const id of ids) await processes.sweep(id);
      ledger.close();
      lock.release();
      const violations = checkHistory(ledgerPath(state!));
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      if (violations.length > 0) throw new Error(JSON.stringify(violations));
    },
  };
}
