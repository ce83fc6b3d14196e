import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityVariables, type Git, type GitCall, type GitPorts } from './git-call.ts';
import { gitSettingsEnvironment, REPOSITORY_ONLY } from '../../model/git-settings.ts';
import type { Repository } from './repository.ts';
import { harmlessSettings, makeBare } from './run-repository.ts';
import { sharedSetting } from './sharing-rule.ts';
import { decideIdentity, readUserConfiguration, withoutFilters, type ConfigEntry } from './user-configuration.ts';

/** The calls of a merge into the user's checkout. */
export interface MergeCalls {
  /** On objects and attributes, with no setting of the user that names a program. New objects go to the user's repository. */
  readonly objects: GitCall;
  /** On the user's checkout, with the user's settings, but for filters. */
  readonly checkout: GitCall;
  /** The checkout's files beside an index of the merge. */
  readonly target: GitCall;
  readonly settings: readonly ConfigEntry[];
  /** For files that the merge needs only while it lasts. */
  readonly folder: string;
}

export async function prepareCalls(
  ports: GitPorts,
  git: Git,
  { root, commonDirectory, gitDirectory }: Repository,
  folder: string,
): Promise<MergeCalls> {
  const settings = await readUserConfiguration(ports, git, gitDirectory);
  const bare = join(folder, 'objects.git');
  await makeBare(bare, harmlessSettings(settings), [], commonDirectory);
  const identity = decideIdentity(settings, ports.environment);
  const who = identity === undefined ? {} : identityVariables(identity);
  const environment = { ...withoutFilters(ports, settings), ...who };
  const shared = sharedSetting(settings);
  const objectStore = {
    GIT_OBJECT_DIRECTORY: join(commonDirectory, 'objects'),
    // Others who share the repository have to read them.
    ...gitSettingsEnvironment(shared === undefined ? [] : [['core.sharedRepository', shared]]),
  };
  return {
    objects: {
      cwd: root,
      gitDirectory: bare,
      workTree: root,
      environment: { ...REPOSITORY_ONLY, ...objectStore, ...who },
    },
    checkout: { cwd: root, environment },
    target: { cwd: root, environment, index: join(folder, 'index') },
    settings,
    folder,
  };
}

/** The output of a `diff` of git, which can be longer than what a helper may print. */
export async function readDiffText(
  git: Git,
  { folder }: MergeCalls,
  [verb = '', ...args]: readonly string[],
  call: GitCall,
): Promise<string> {
  const output = join(folder, 'diff');
  await git.text([verb, `--output=${output}`, ...args], call);
  return readFile(output, 'utf8');
}
