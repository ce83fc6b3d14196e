import type { Host } from '../../engine/machine.ts';
import type { PoolRun, PoolStore } from '../../substrate/ports/pool.ts';

export async function viewRun(
  _ports: { host: Host; store: PoolStore },
  _run: PoolRun,
  _where: 'apart' | 'here',
): Promise<Host> {
  throw new Error('todo');
}
