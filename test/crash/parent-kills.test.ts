import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALL, some } from '../support/lane.ts';
import { endStateOf, expectUnharmed, inRunRoom, type EndState, type RunRoom } from '../support/run-room.ts';
import { REVIEW } from '../support/run-scenarios.ts';

const PARENT = fileURLToPath(new URL('../fixtures/embedding/parent.ts', import.meta.url));

/** Of the parent's own nodes, and points that an engine passes on the way from the first check to the end of a run. */
const MOMENTS = [
  'prepare',
  'armory.stored',
  'run.defined',
  'attempt.claimed',
  'process.before-go',
  'process.after-go:2',
  'attempt.settled:2',
  'git.candidate-made',
  'publish.before',
  'out',
  'report',
];

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function parent({ root }: RunRoom, how: 'resume' | 'again', moment = ''): Promise<Ended> {
  const child = spawn(process.execPath, [PARENT, root, how, moment], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join(''));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' };
}

function expectOneRun(room: RunRoom, ended: Ended, reference: EndState): void {
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: expect.stringMatching(/^DONE, /) });
  const ledger = room.ledger();
  expect(ledger.runs()).toHaveLength(1);
  ledger.close();
  expect(endStateOf(room)).toEqual(reference);
  expectUnharmed(room);
}

describe('an application’s graph that is killed while a run works in it', { ...ALL, timeout: 240_000 }, () => {
  let reference: EndState;
  beforeAll(async () => {
    reference = await inRunRoom(REVIEW, async (room) => {
      const ended = await parent(room, 'resume');
      expect(ended.stderr).toBe('');
      expectUnharmed(room);
      return endStateOf(room);
    });
  });

  it.concurrent.each(some(MOMENTS, 0, 1))('at %s has done everything once when it was resumed', async (moment) => {
    await inRunRoom(REVIEW, async (room) => {
      expect(await parent(room, 'resume', moment)).toMatchObject({ signal: 'SIGKILL' });
      const ended = await parent(room, 'resume');
      expectOneRun(room, ended, reference);
      expect(JSON.parse(ended.stdout)).toMatchObject({ log: ' prepared built reported' });
    });
  });

  it.concurrent.each(some(['run.defined', 'process.after-go:2', 'publish.before'], 0, 1))(
    'at %s goes on with the same run when it is called with its input again',
    async (moment) => {
      await inRunRoom(REVIEW, async (room) => {
        expect(await parent(room, 'resume', moment)).toMatchObject({ signal: 'SIGKILL' });
        expectOneRun(room, await parent(room, 'again'), reference);
      });
    },
  );
});
