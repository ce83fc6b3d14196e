import { isAbsolute } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import type { Objective } from '../../model/objective.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { parseObjective } from '../objective/parse-objective.ts';
import { plainObjective, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/** A warning about a text that agents read without its secrets. */
export interface SecretWarning {
  readonly about: 'secret';
  readonly text: string;
  readonly next: string;
}

/** The objective that squad stores and agents read. Throws `bad-input` for a secret in a command or another fixed part. */
export function objectiveWithoutSecrets(objective: Objective, redactor: Redactor): Objective {
  const { file } = objective;
  const text = redactor.text(objective.text);
  if (text === objective.text) return objective;
  const secret = objective.criteria.find(({ command = '' }) => redactor.text(command) !== command);
  if (secret !== undefined) throw secretIn(file, secret.line, 'the command');
  if (objective.goals[0] === objective.text) return plainObjective(text, file, objective.title);
  // Only a text without sections has no criteria.
  const read = parseObjective(text, file, objective.criteria.length === 0);
  if (read.ok) return read.objective;
  throw secretIn(file, read.problems[0]?.line ?? 1, 'the text here');
}

/** Warns a person that agents will work without the secrets in these texts. */
export function secretWarnings(what: readonly string[]): readonly SecretWarning[] {
  return what.map((text) => ({
    about: 'secret',
    text: `squad found a secret in ${text}: it does not store it, and agents read [redacted] instead`,
    next: 'If they need it, pass them an environment variable: `runtimes.<name>.env` in squad.yaml.',
  }));
}

/** Refuses settings with a secret, because squad stores them with the run and uses them unchanged. Throws `bad-input`. */
export function refuseSecretSettings(read: SettingsRead, redactor: Redactor): void {
  const { limits: _limits, team: _team, ...stored } = read.settings;
  const found = findSecret(stored, redactor);
  if (found === undefined) return;
  const [key = ''] = found.split(/[.[]/);
  const { file, text } = fileOf(read, key);
  const line = text.split('\n').findIndex((one) => one.startsWith(`${key}:`));
  throw secretIn(file, Math.max(line, 0) + 1, found);
}

/** Refuses names of the run and its branch that hold a secret. Throws `bad-input`. */
export function refuseSecretNames(
  names: { readonly name: string | undefined; readonly branch: string | undefined; readonly base: string | undefined },
  redactor: Redactor,
): void {
  const refuse = (name: string | undefined, what: string, next: string): void => {
    if (name === undefined || redactor.text(name) === name) return;
    throw new SquadError({ code: 'bad-input', message: `${what} holds a secret, and it is stored with the run`, next });
  };
  refuse(names.name, '--name', 'Choose another name, for example `--name login-form`.');
  refuse(names.base, '--base', 'Name its commit: `git rev-parse <name>`.');
  refuse(names.branch, 'the name of the branch that you are on', 'Rename it: `git branch -m <name>`.');
}

/** The place of the first secret, such as `verify[0].run`. Absolute paths are exempt: they have to stay usable. */
export function findSecret(value: unknown, redactor: Redactor, at = ''): string | undefined {
  if (typeof value === 'string') return isAbsolute(value) || redactor.text(value) === value ? undefined : at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const path = Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    if (redactor.text(key) !== key) return at;
    const found = findSecret(part, redactor, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function secretIn(file: string, line: number, what: string): SquadError {
  return problemError(
    [{ file, line, message: `${what} holds a secret; squad stores it with the run and repeats it in reports` }],
    'Take the secret out: let a command read it from a file outside the repository.',
  );
}
