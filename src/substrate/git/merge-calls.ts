import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityVariables, type Git, type GitCall, type GitPorts } from './git-call.ts';
import { REPOSITORY_ONLY } from '../../model/git-settings.ts';
import type { Repository } from './repository.ts';
import { harmlessSettings, makeBare } from './run-repository.ts';
import { shareObjects } from './share-objects.ts';
import { parseSharingRule, sharedSetting } from './sharing-rule.ts';
import { decideIdentity, readUserConfiguration, withoutFilters, type ConfigEntry } from './user-configuration.ts';

/** The calls of a merge into the user's checkout. */
export interface MergeCalls {
  /** On objects and attributes, with no setting of the user that names a program. */
  readonly objects: GitCall;
  /** Gives the user's repository the new ones. They are on the disk then. */
  share(): Promise<void>;
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
  const store = join(commonDirectory, 'objects');
  makeBare(bare, harmlessSettings(settings), [store], commonDirectory);
  const identity = decideIdentity(settings, ports.environment);
  const who = identity === undefined ? {} : identityVariables(identity);
  const environment = { ...withoutFilters(ports, settings), ...who };
  const rule = parseSharingRule(sharedSetting(settings));
  return {
    objects: {
      cwd: root,
      gitDirectory: bare,
      workTree: root,
      environment: { ...REPOSITORY_ONLY, ...who },
    },
    share: async () => shareObjects(join(bare, 'objects'), store, { names: new Set(), folders: new Map() }, rule),
    checkout: { cwd: root, environment, durable: true },
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
