import { squadOn } from '../../squad/squad.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Exit 0 once no process of the run is left. */
export async function stop(
  { output, host, remote }: CommandContext,
  run: string | undefined,
  options: JsonOptions,
): Promise<void> {
  let said = output.terminal === undefined;
  const onWait = (attempts: number): void => {
    if (!said) output.problem(`Waiting for the engine to end ${attempts} attempts.`);
    said = true;
  };
  const { over, ...stopped } = await (remote ?? squadOn(host)).stop(run, { onWait });
  const { name, ended } = stopped;
  const what = ended.length === 0 ? 'no turn was running' : `ended ${ended.join(', ')}`;
  printResult(output, options, { type: 'run-stopped', at: Date.now(), ...stopped }, [
    `${name} is ${over ? 'over' : 'stopped'}: ${what}.`,
    ...(over ? [] : [`Continue with \`squad resume ${name}${remote === undefined ? '' : ' --pool URL'}\`.`]),
  ]);
}
