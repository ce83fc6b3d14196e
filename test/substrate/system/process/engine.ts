// A small engine of its own, so that tests can kill one: starts the turn of argv[2] (JSON: a TurnSpawn) and waits to be
// killed. argv[3] arms failpoints. Prints the turn's identity, then "gone" once the agent was let go.
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { armFailpoints } from '../../../../src/substrate/system/failpoint.ts';
import type { TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { seeProcessesBy } from '../../../../src/substrate/system/process/process-table.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';

armFailpoints(process.argv[3] ?? '');
if (process.env['SQUAD_PROCESSES'] === 'ps') seeProcessesBy('ps');
const processes = createSystemProcesses({ clock: createSystemClock() });
const held = await processes.spawnTurn(JSON.parse(process.argv[2] ?? '') as TurnSpawn);
process.stdout.write(`${JSON.stringify(held.identity)}\n`);
await held.go();
process.stdout.write('let go\n');
setInterval(() => undefined, 1000);
