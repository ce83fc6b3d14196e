import { createHash } from 'node:crypto';
import type { Objective } from '../model/objective.ts';
import type { Settings } from '../model/settings.ts';

/** A command from the objective or the repository that would run on this machine, as squad shows it. */
export interface TrustedCommand {
  readonly from: 'setup' | 'verify' | 'criterion' | 'runtime';
  readonly run: string;
}

/** All commands, including a runtime's program and configuration, which can name programs too. */
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

/** Hash of a set of commands. Order and repetition do not matter; every character does. */
export function trustHash(commands: readonly string[]): string {
  const content = JSON.stringify(['squad-trust-1', ...[...new Set(commands)].sort()]);
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
