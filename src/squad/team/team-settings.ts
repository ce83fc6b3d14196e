import { join } from 'node:path';
import { DEFAULT_POLICY } from '../../model/sprint/default-policy.ts';
import { sprintSettingsSchema, type SprintSettings } from '../../model/sprint/settings.ts';
import type { RoutingPolicy } from '../../model/sprint/options.ts';
import { readConfined } from '../preflight/read-input.ts';
import { readSettings } from '../preflight/read-settings.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { readPolicy, requireCommitPolicy } from './policy.ts';

/** All that the files of a repository say of its team. */
export interface TeamSettings extends SprintSettings {
  readonly policy: RoutingPolicy;
  /** Empty: there is no such file. */
  readonly commitPolicy: string;
}

const POLICY = 'agent_utilization/policy.yaml';
const COMMITS = 'COMMIT_POLICY.md';

/** Throws `bad-input` for all that is wrong with them. */
export async function readTeamSettings({ host, composition, repository }: OpenedWorkspace): Promise<TeamSettings> {
  const read = await readSettings(repository.root, composition, host);
  const settings = sprintSettingsSchema.parse(read.settings['sprint'] ?? {});
  const { folder } = settings;
  if (folder === undefined) return { ...settings, policy: DEFAULT_POLICY, commitPolicy: '' };
  const [policy, commits] = await Promise.all(
    [POLICY, COMMITS].map(async (name) => readConfined(repository.root, join(folder, name))),
  );
  if (commits?.type === 'text') requireCommitPolicy(commits.text, join(folder, COMMITS));
  return {
    ...settings,
    policy: policy?.type === 'text' ? readPolicy(policy.text, join(folder, POLICY)) : DEFAULT_POLICY,
    commitPolicy: commits?.type === 'text' ? commits.text : '',
  };
}
