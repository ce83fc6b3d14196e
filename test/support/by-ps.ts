import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { seeProcessesBy } from '../../src/substrate/system/process/process-table.ts';

/*
 * With SQUAD_PROCESSES=ps every process of squad that a test starts sees processes by `ps`, as on a Mac: here, and in each Node that a
 * test starts with an environment of its own.
 */
seeProcessesBy('ps');
process.env['SQUAD_PROCESSES'] = 'ps';

interface Options {
  readonly env?: Readonly<Record<string, string | undefined>>;
}

type Start = (command: string, ...rest: (readonly string[] | Options | undefined)[]) => unknown;

function isOptions(one: readonly string[] | Options | undefined): one is Options {
  return typeof one === 'object' && !Array.isArray(one);
}

const starts = child as unknown as Record<'spawn' | 'spawnSync' | 'execFile' | 'execFileSync', Start>;
for (const name of ['spawn', 'spawnSync', 'execFile', 'execFileSync'] as const) {
  const start = starts[name].bind(child);
  starts[name] = (command, ...rest) => {
    const isNode = command === process.execPath || command === 'node';
    const given = rest.map((one) =>
      isNode && isOptions(one) && one.env !== undefined ? { ...one, env: { SQUAD_PROCESSES: 'ps', ...one.env } } : one,
    );
    return start(command, ...given);
  };
}
syncBuiltinESMExports();
