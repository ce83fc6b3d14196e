import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compose, type Composition, type Host } from '../../src/engine/compose.ts';
import { lockWorkspace, openLedger } from '../../src/substrate/ledger/index.ts';
import type { Lease, Ledger } from '../../src/substrate/ports/ledger.ts';

export interface Machine extends Composition {
  readonly host: Host;
}

/** This machine, with a home and a state folder of the bench's own. */
export function machineIn(folder: string): Machine {
  const host: Host = {
    environment: { PATH: process.env['PATH'], HOME: folder },
    workingDirectory: folder,
    userHome: folder,
    stateDirectory: join(folder, 'state', 'squad'),
    configHome: join(folder, 'config'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    node: process.execPath,
    pid: process.pid,
  };
  return { ...compose(host), host };
}

export interface OwnLedger {
  readonly ledger: Ledger;
  readonly lease: Lease;
  /** `.squad/turns`. */
  readonly turns: string;
  /** `task`: absent, one of the same id. */
  claim(id: string, request: string, task?: string): void;
  close(): void;
}

/** A ledger with one run in it. */
export function openOwnLedger({ clock }: Machine, folder: string): OwnLedger {
  const state = join(folder, '.squad');
  mkdirSync(state, { mode: 0o700 });
  const lock = lockWorkspace(state, { pid: process.pid, host: 'bench', since: clock.now() });
  const ledger = openLedger(state, { clock, lock });
  ledger.createRun({ id: 'bench', name: 'bench' });
  const lease = ledger.acquireLease('bench', 'bench');
  return {
    ledger,
    lease,
    turns: join(state, 'turns'),
    claim: (id, request, task = id) => {
      const attempt = { id, taskId: task, kind: 'turn' as const, agent: 'bench', runtime: 'scripted', request };
      const seq = ledger.append('bench', 'poke', null);
      const cursor = ledger.run('bench')?.applied ?? 0;
      ledger.apply({ lease, cursor, seq, driver: id, decisions: [{ do: 'claim-attempt', attempt, limits: {} }] });
    },
    close: () => {
      ledger.close();
      lock.release();
    },
  };
}
