import { z } from 'zod';
import { ACTIONS_EXAMPLE, actionsSchema, type ActionSettings } from '../../model/people/settings.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSettingsText } from './read-settings-text.ts';

const schema = z.looseObject({ actions: actionsSchema });

export interface RepositoryActions {
  readonly actions: Readonly<Record<string, ActionSettings>>;
  readonly source: SettingsFile;
}

/** The actions of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. */
export async function readActions(root: string): Promise<RepositoryActions> {
  const source = await readSettingsText(root);
  const parsed = parseYaml(
    { ...source, firstLine: 1, examples: { '': ACTIONS_EXAMPLE, actions: ACTIONS_EXAMPLE } },
    schema,
  );
  if (!parsed.ok) throw (await import('./read-input.ts')).problemError(parsed.problems);
  return { actions: parsed.value.actions ?? {}, source };
}
