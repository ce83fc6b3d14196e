import { join } from 'node:path';
import { CheckpointReader } from '../src/engine/read-checkpoints.ts';
import { readMachine } from '../src/squad/machine.ts';
import { createStudioView, type StudioView } from '../src/studio/view.ts';
import { createSystemClock } from '../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../src/substrate/ledger/index.ts';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';
import { ended, openScriptedRoom, type Piece, type ScriptedRoom } from './shared/scripted-room.ts';
import { stateOf } from '../test/support/state.ts';

const CHAINS = 6;
const LENGTH = 4;
const TURN_MS = 500;
const READS = 1_000;
const PAUSES = 5;

/** LangGraph Studio's reads of a run of another process, beside the bare read of its newest checkpoint. What they cost the run: `studio`. */
export const view: Bench = {
  name: 'view',
  run: async (folder) => {
    const { states, bare } = await watched(join(folder, 'read'), readOften);
    const { shown, heard } = await watched(join(folder, 'steered'), steer);
    const most = (values: readonly number[]): string => `at most ${Math.round(Math.max(...values))}`;
    return [
      rowOf('state of a live run', 'ms', median(states), median(bare), {
        target: { of: 'squad', most: 50 },
        note: `${states.length} reads, ${most(states)}`,
      }),
      rowOf('a checkpoint, until a stream that joined has it', 'ms', median(shown), median(bare), {
        target: { of: 'squad', most: 1_000 },
        note: `${shown.length} checkpoints, ${most(shown)}`,
      }),
      rowOf('pause and resume, until the engine has heard it', 'ms', median(heard), median(bare), {
        target: { of: 'squad', most: 1_000 },
        note: `${heard.length} commands, ${most(heard)}`,
      }),
    ];
  },
};

interface Live {
  readonly view: StudioView;
  readonly reader: CheckpointReader;
  readonly id: string;
}

/** What `work` finds in a run of another process, from its first claim on. */
async function watched<T>(folder: string, work: (live: Live) => Promise<T>): Promise<T> {
  const pieces = Array.from({ length: CHAINS * LENGTH }, (_, index): Piece => {
    const [chain, place] = [Math.floor(index / LENGTH), index % LENGTH];
    return { id: `c${chain}-${place}`, needs: place === 0 ? [] : [`c${chain}-${place - 1}`] };
  });
  const room = openScriptedRoom(folder, { pieces, turnMs: TURN_MS, parallel: CHAINS });
  const environment = { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  const engine = room.startRun();
  const done = ended(engine);
  const id = await firstClaim(room);
  const host = readMachine({ cwd: room.repository, environment });
  const live = { view: await createStudioView({ host }), id, reader: readerOf(room) };
  const found = await work(live);
  await done;
  return found;
}

function readerOf({ repository }: ScriptedRoom): CheckpointReader {
  return new CheckpointReader(() => stateOf(repository));
}

async function firstClaim(room: ScriptedRoom): Promise<string> {
  for (;;) {
    if (room.events().some(({ type }) => type === 'attempt-claimed')) return runIn(room);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function runIn({ repository }: ScriptedRoom): string {
  const ledger = openLedger(stateOf(repository), { clock: createSystemClock(), readOnly: true });
  try {
    return ledger.runs()[0]?.id ?? '';
  } finally {
    ledger.close();
  }
}

async function readOften({ view: shownRun, reader, id }: Live): Promise<{ states: number[]; bare: number[] }> {
  const thread = { configurable: { thread_id: id } };
  const states: number[] = [];
  const bare: number[] = [];
  while (states.length < READS) {
    states.push(await milliseconds(async () => shownRun.getState(thread)));
    if (states.length % 10 === 0) bare.push(await milliseconds(async () => reader.getTuple(thread)));
  }
  return { states, bare };
}

async function steer({ view: shownRun, id }: Live): Promise<{ shown: number[]; heard: number[] }> {
  const thread = { configurable: { thread_id: id } };
  const heard: number[] = [];
  const steering = (async () => {
    for (let index = 0; index < PAUSES; index += 1) {
      for (const verb of ['pause', 'resume']) {
        heard.push(await milliseconds(async () => shownRun.updateState(thread, { verb })));
      }
    }
  })();
  const shown: number[] = [];
  const began = Date.now();
  for await (const { data } of shownRun.streamEvents(null, { ...thread, version: 'v2', streamMode: ['debug'] })) {
    const [, payload] = data.chunk as [string, { type: string; timestamp: string }];
    const at = Date.parse(payload.timestamp);
    if (payload.type === 'checkpoint' && at > began) shown.push(Date.now() - at);
  }
  await steering;
  // The last one is streamed a second time, as what the engine left.
  return { shown: shown.slice(0, -1), heard };
}
