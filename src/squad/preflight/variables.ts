import { wrongEnvironment, type SquadError } from '../../model/errors.ts';
import { commandVariables } from '../../model/let-through.ts';
import type { RunDefinition } from '../../model/run.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws for the first variable of `env` that is not set here: every command that needs it would fail, hours later. */
export function refuseUnset(
  read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>,
  environment: Environment,
): void {
  const name = commandVariables(read.settings).find((one) => environment[one] === undefined);
  if (name === undefined) return;
  const { file, line } = placeOf(read, name);
  throw unset(`${file}:${line}: env: the variable ${name} is not set here`, name, `take it out of ${file}`);
}

/** Throws for a run whose commands need a variable that is not set in this shell. */
export function refuseRunUnset({ name: run, ...definition }: RunDefinition, environment: Environment): void {
  const name = commandVariables(definition).find((one) => environment[one] === undefined);
  if (name === undefined) return;
  const next = `take it out of squad.yaml and run \`squad resume ${run} --reload\``;
  throw unset(`commands of run ${run} need the variable ${name}, which is not set here`, name, next);
}

function unset(message: string, name: string, otherwise: string): SquadError {
  return wrongEnvironment(message, `Set it: \`export ${name}=…\`, then run the command again. Or ${otherwise}.`);
}

function placeOf(read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>, name: string) {
  const { env, setup } = read.settings;
  const ofSetup = setup.some((step) => step.env?.includes(name)) ? 'setup' : 'verify';
  const key = env.includes(name) ? 'env' : ofSetup;
  const { file, text } = fileOf(read, key);
  const lines = text.split('\n');
  const from = Math.max(
    0,
    lines.findIndex((line) => line.startsWith(key)),
  );
  const at = lines.findIndex((line, index) => index >= from && line.split(/\W+/).includes(name));
  return { file, line: (at === -1 ? from : at) + 1 };
}
