import { createHash } from 'node:crypto';
import type { Objective } from '../model/objective.ts';
import type { Settings } from '../model/settings.ts';

/** Something from the objective or the repository that will run on this machine, as it is shown before it is trusted. */
export interface TrustedCommand {
  readonly from: 'setup' | 'verify' | 'criterion' | 'runtime';
  readonly run: string;
}

/** All of it. A runtime's program and its own configuration, which can name programs too, come from the repository as well. */
export function commandsToTrust(settings: Settings, objective: Pick<Objective, 'criteria'>): TrustedCommand[] {
  const runtimes = Object.entries(settings.runtimes).flatMap(([name, { command, config }]) => [
    ...(command === undefined || command === name ? [] : [`${name}: ${command}`]),
    ...(config === undefined ? [] : [`${name} with ${JSON.stringify(config)}`]),
  ]);
  return [
    ...settings.setup.map(({ run }) => ({ from: 'setup' as const, run })),
    ...settings.verify.map(({ run }) => ({ from: 'verify' as const, run })),
    ...objective.criteria.flatMap(({ command }) =>
      command === undefined ? [] : [{ from: 'criterion' as const, run: command }],
    ),
    ...runtimes.map((run) => ({ from: 'runtime' as const, run })),
  ];
}

/** Names a set of commands by its content. Order and repetition change nothing; every character of every command does. */
export function trustHash(commands: readonly string[]): string {
  const content = JSON.stringify(['squad-trust-1', ...[...new Set(commands)].sort()]);
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
