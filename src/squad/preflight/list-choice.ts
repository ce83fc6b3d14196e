import type { Playbook } from '../../model/plan.ts';
import type { Settings } from '../../model/settings.ts';
import { createPlaybookOfList } from '../../playbooks/registry.ts';
import { checkList } from '../../playbooks/stages/check-list.ts';
import type { StageList } from '../../playbooks/stages/stage-list.ts';
import { stageListSchema } from '../../playbooks/stages/stage-schema.ts';
import { defined } from '../../text/defined.ts';
import { isJsonObject } from '../../text/json.ts';
import { orderProblems, type Problem } from '../../text/problem.ts';
import { placeIn } from '../../text/yaml-file.ts';
import { problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/** A whole list, as `squad.yaml` has it. */
export const LIST_EXAMPLE = `playbook:
  stages:
    - { id: BUILD, by: [builder], brief: "Do what it says. {objective}", makes: code }`;

/** The list of stages in these settings, which were checked when they were read. */
export function listIn({ playbook }: Pick<Settings, 'playbook'>): StageList | undefined {
  return isJsonObject(playbook) ? stageListSchema.parse(playbook) : undefined;
}

/** The playbook that plays the list of the settings; undefined: there is none. Throws if the agents do not suit it. */
export function playList(read: SettingsRead): Playbook<unknown> | undefined {
  const list = listIn(read.settings);
  if (list === undefined) return undefined;
  const problems = listProblems(read);
  if (problems.length > 0) throw problemError(problems);
  return createPlaybookOfList(list);
}

/** The agents may be in another file than the list, which was read without them. */
function listProblems(read: SettingsRead): Problem[] {
  const { playbook, agents, publish } = read.settings;
  if (!isJsonObject(playbook)) return [];
  const { file, text } = fileOf(read, 'playbook');
  const found = checkList(
    playbook,
    agents?.map(({ role }) => role),
    publish?.pr === true,
  );
  return orderProblems(
    found.map(({ path, message, example }) => ({ file, ...placeIn(text, path), message, ...defined({ example }) })),
  );
}
