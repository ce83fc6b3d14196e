import { access, constants, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { decideIdentity, readUserConfiguration } from './agent-settings.ts';
import { SQUAD_IDENTITY, type Git, type GitPorts } from './git-call.ts';
import type { Repository } from './repository.ts';
import { defined } from '../../text/defined.ts';
import type { RepositoryWarning } from '../ports/workspaces.ts';

/** Differences between the user's own commits and those that agents make. */
interface CommitFacts {
  readonly identity: boolean;
  readonly signed: boolean;
  readonly hooks: { readonly folder: string; readonly names: readonly string[] };
}

const YES = /^(?:true|yes|on|[1-9]\d*)$/i;

export async function lookAtCommits(
  ports: GitPorts,
  git: Git,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
): Promise<CommitFacts> {
  const entries = await readUserConfiguration(ports, git, commonDirectory);
  const set = (key: string): string => entries.findLast((entry) => entry.key === key)?.value ?? '';
  const hooks = set('core.hookspath').replace(/^~(?=\/)/, () => ports.environment['HOME'] ?? '~');
  const folder = hooks === '' ? resolve(commonDirectory, 'hooks') : resolve(root, hooks);
  return {
    identity: decideIdentity(entries, ports.environment) !== undefined,
    signed: YES.test(set('commit.gpgsign')),
    hooks: { folder, names: await hooksIn(folder) },
  };
}

/** A warning, if the condition holds. */
export function warn(
  condition: boolean,
  about: RepositoryWarning['about'],
  text: string,
  next?: string,
): RepositoryWarning | undefined {
  return condition ? defined({ about, text, next }) : undefined;
}

/** Warnings about these differences. None of them stops a run. */
export function commitWarnings({ identity, signed, hooks }: CommitFacts): readonly (RepositoryWarning | undefined)[] {
  const { name, email } = SQUAD_IDENTITY;
  return [
    warn(
      !identity,
      'identity',
      `git has no name and e-mail address for you: agents commit as ${name} <${email}>`,
      'Set them with `git config --global user.name …` and `git config --global user.email …`.',
    ),
    warn(
      signed,
      'signing',
      'git signs your commits (commit.gpgSign); commits by agents and squad are not signed, because they have no key',
      'Sign what you merge, with `git merge -S`.',
    ),
    warn(
      hooks.names.length > 0,
      'hooks',
      `no hook runs for agents or squad; ${hooks.folder} has ${hooks.names.join(', ')}`,
      'Put what they check into `verify` of squad.yaml.',
    ),
  ];
}

/** Hooks that git would run. git ignores files with an extension and files that are not executable. */
async function hooksIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => !entry.isDirectory() && /^[a-z0-9-]+$/.test(entry.name));
  const executable = await Promise.all(names.map(({ name }) => isExecutable(join(folder, name))));
  return names.flatMap(({ name }, index) => (executable[index] === true ? [name] : [])).toSorted();
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
