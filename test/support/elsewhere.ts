import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { git } from './git.ts';
import { effectsOf, type RunRoom } from './run-room.ts';

/** Its script is a file of the repository, and its environment has a secret. */
export function prepare(room: RunRoom): void {
  const { repository } = room;
  const settings = readFileSync(join(repository, 'squad.yaml'), 'utf8');
  const [script = ''] = /\S+script\S*\.json/.exec(settings)?.map((path) => path.replaceAll(/["',]/g, '')) ?? [];
  renameSync(script, join(repository, 'script.json'));
  writeFileSync(join(repository, 'squad.yaml'), settings.replaceAll(script, 'script.json'));
}

/** Clone with another path, home and state folder, and nothing of the source but the commit that the run began with. */
export function elsewhere(room: RunRoom): { clone: string; home: string } {
  const home = join(room.root, 'other home');
  mkdirSync(home);
  const clone = join(home, 'pro ject');
  execFileSync('git', ['clone', '-q', '--no-hardlinks', '--single-branch', room.repository, clone]);
  git(clone, 'config', 'user.name', 'Test');
  git(clone, 'config', 'user.email', 'test@example.invalid');
  writeFileSync(join(clone, 'script.json'), readFileSync(join(room.repository, 'script.json')));
  return { clone, home };
}

/** How often a task's turn was really had. */
export function timesOf(room: RunRoom, task: string): number {
  return effectsOf(room).filter((line) => line.split(' ')[0] === task).length;
}

/** The tasks with a paid turn. */
export function settledIn(directory: string): string[] {
  const ledger = openLedger(directory, { clock: createSystemClock(), readOnly: true });
  try {
    const paid = ledger
      .attempts({ status: 'settled' })
      .filter(({ id }) => ledger.settlement(id)?.result.outcome === 'completed');
    return [...new Set(paid.flatMap(({ kind, taskId }) => (kind === 'turn' ? [taskId] : [])))];
  } finally {
    ledger.close();
  }
}

/** The folder with the ledger below a home of `elsewhere`. */
export function stateBelow(home: string): string {
  const folder = join(home, 'state', 'squad');
  const [state = ''] = readdirSync(folder).filter((name) => /-[0-9a-f]{16}$/.test(name));
  return join(folder, state);
}
