import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { effectsOf, type RunRoom } from '../../test/support/run-room.ts';
import { LABELS } from './scenario.ts';
import { stateOf } from '../../test/support/state.ts';

export interface Begun {
  readonly label: string;
  /** Of the attempt. */
  readonly id: string;
}

/** As the agents themselves left it, in their order. */
export function turnsBegun(room: RunRoom): Begun[] {
  const lines = effectsOf(room).map((line) => line.split(' '));
  return lines.flatMap(([label = '', id = '']) => (LABELS.some((one) => one === label) ? [{ label, id }] : []));
}

/** What the agent printed says so, whatever squad made of it. */
export function hasResult({ repository }: RunRoom, id: string): boolean {
  const path = join(stateOf(repository), 'turns', id, 'stdout');
  return existsSync(path) && /^\{"type":"result".*\}$/m.test(readFileSync(path, 'utf8'));
}
