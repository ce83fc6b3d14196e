import type { Host } from '../engine/machine.ts';
import type { NewRunOptions } from './command-context.ts';

/** Node and squad's own entry, as this process was started. */
export function ownProgram({ node }: Pick<Host, 'node'>): readonly string[] {
  return [node, ...process.argv.slice(1, 2)];
}

/** Options of a `squad run` in another process. */
export function newRunArguments(options: NewRunOptions): readonly string[] {
  const { name, playbook, runtime, model = {}, yes, allowFullAccess } = options;
  const named = Object.entries({ '--name': name, '--playbook': playbook, '--runtime': runtime });
  return [
    ...named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...Object.entries(model).flatMap(([who, of]) => ['--model', `${who}=${of}`]),
    ...(yes === true ? ['--yes'] : []),
    ...(allowFullAccess === true ? ['--allow-full-access'] : []),
  ];
}
