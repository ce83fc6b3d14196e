// @module-tag all
import { errorLineSchema } from '../../src/model/error-line.ts';
import { expect, it } from 'vitest';
import { fullDiskTrial, type Moment } from '../support/full-disk-trial.ts';
import { ALL } from '../support/lane.ts';
import { openRunRoom } from '../support/run-room.ts';
import { FAN_OUT } from '../support/run-scenarios.ts';
import { canMount, openSmallDisk } from '../support/small-disk.ts';

const mountable = canMount();
const title = (text: string): string => (mountable ? text : `${text} (skipped: no tmpfs can be mounted here)`);

/** The chaos lane tries every other moment. */
const BOTH_WORK: Moment = (line) => line['type'] === 'attempt-taken' && line['task'] === 'left';

it.skipIf(!mountable)(
  title(
    'T7 a disk that is full while two pieces are in work pauses the run with its reason; with space it is completed',
  ),
  async () => {
    const took = await fullDiskTrial(BOTH_WORK);
    console.log(`paused after ${took === 'over' ? took : Math.round(took)} ms`);
    expect(took).not.toBe('over');
  },
  60_000,
);

it.skipIf(!mountable)(
  title('T7 a disk that became read-only is named with what to do, and the run goes on once it is not'),
  { ...ALL, timeout: 60_000 },
  async () => {
    const disk = openSmallDisk(64);
    if (disk === undefined) throw new Error('no disk can be mounted here');
    try {
      const room = disk.within(() => openRunRoom(FAN_OUT));
      const first = await room.begin({ SQUAD_FAILPOINTS: 'attempt.settled:1=kill' }).finished;
      expect(first.signal).toBe('SIGKILL');
      disk.remount('ro');
      // The same objective would be refused as a repeat of the run that is not over.
      const another = ['run', 'Write another file', '--runtime', 'scripted', '--yes', '--json'];
      for (const { finished } of [room.resume(), room.start(another)]) {
        const refused = await finished;
        expect(refused.code, refused.stderr).toBe(78);
        expect(errorLineSchema.parse(JSON.parse(refused.stdout))).toMatchObject({
          code: 'wrong-environment',
          exitCode: 78,
        });
        expect(refused.stderr).toMatch(
          /^squad: \/\S+ [^\n]*can only be read[^\n]*\nNext: [^\n]*Mount it for writing[^\n]*\n$/,
        );
      }
      disk.remount('rw');
      const last = await room.resume().finished;
      expect(last.code, last.stderr).toBe(0);
    } finally {
      disk.close();
    }
  },
);
