import { isAbsolute } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { isSquadError } from '../../model/errors.ts';
import type { RunDefinition } from '../../model/run.ts';
import { findProgram, isExecutable } from '../../runtimes/shared/find-program.ts';
import { createProbes } from './runtimes.ts';
import { refuseRunUnset } from './variables.ts';

/** All that a recorded run needs and this machine lacks, in words. Starts no program that the repository names. */
export async function missingForRun(
  composition: Composition,
  host: Host,
  definition: RunDefinition,
): Promise<readonly string[]> {
  const { agents, runtimes } = definition;
  const names = [...new Set(agents.map(({ runtime }) => runtime))];
  const probeOf = createProbes(composition, runtimes);
  const programs = await Promise.all(
    names.map(async (name): Promise<string[]> => {
      const command = runtimes[name]?.command;
      if (command === undefined) {
        const { binary, ok, problems } = await probeOf(name);
        return ok || binary !== undefined ? [] : problems.map(({ text }) => text);
      }
      const isThere = isAbsolute(command)
        ? await isExecutable(command)
        : (await findProgram(host.environment['PATH'], command)) !== undefined;
      return isThere ? [] : [`runtimes.${name}.command: ${command} is not there`];
    }),
  );
  return [...programs.flat(), ...unsetIn(definition, host)];
}

function unsetIn(definition: RunDefinition, { environment }: Host): string[] {
  try {
    refuseRunUnset(definition, environment);
    return [];
  } catch (error) {
    if (isSquadError(error)) return [error.message];
    throw error;
  }
}
