import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSupervisor } from '../src/attempts/supervisor.ts';
import { DEFAULT_TURN_LIMITS } from '../src/model/turn-request.ts';
import { machineIn, openOwnLedger } from './shared/machine.ts';
import { median, milliseconds, rowOf, type Bench } from './shared/row.ts';

const TURNS = 20;
const PLAYER = fileURLToPath(new URL('../src/runtimes/scripted/player.mjs', import.meta.url));

/** From the claim to the settlement, against the player alone. */
export const turn: Bench = {
  name: 'turn',
  run: async (folder) => {
    const machine = machineIn(folder);
    const { ledger, lease, claim, turns, close } = openOwnLedger(machine, folder);
    const script = join(folder, 'script.json');
    writeFileSync(script, JSON.stringify({ turns: [{ steps: [{ answer: 'done' }] }] }));
    const runtime = () => machine.runtime('scripted', { config: { script } });
    const supervisor = createSupervisor(
      { ledger, processes: machine.processes, runtime, turnsDirectory: turns },
      lease,
    );
    const squad: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < TURNS; index += 1) {
      const id = `turn-${index}`;
      squad.push(
        await milliseconds(async () => {
          claim(id, JSON.stringify(requestOf(id, folder)));
          supervisor.ensure(id);
          await supervisor.settled(id);
        }),
      );
      const play = JSON.stringify({ script, home: join(folder, 'home'), session: id, resume: false });
      bare.push(await milliseconds(() => void spawnSync(process.execPath, [PLAYER, play], { input: 'go' })));
      if (ledger.settlement(id)?.result.outcome !== 'completed') throw new Error(`${id} did not complete`);
    }
    close();
    return [rowOf('claim to settlement, against its bare process', 'ms', median(squad), median(bare))];
  },
};

function requestOf(turnId: string, path: string) {
  return {
    turnId,
    workspace: { path },
    prompt: 'go',
    instructions: 'rules',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
  };
}
