import { z } from 'zod';
import { ACTIONS_EXAMPLE, actionsSchema, type ActionSettings } from '../../model/people/settings.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSection } from './read-section.ts';

const schema = z.looseObject({ actions: actionsSchema });

export interface RepositoryActions {
  readonly actions: Readonly<Record<string, ActionSettings>>;
  readonly source: SettingsFile;
}

/** The actions of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. */
export async function readActions(root: string): Promise<RepositoryActions> {
  const { value, source } = await readSection(root, 'actions', { schema, example: ACTIONS_EXAMPLE });
  return { actions: value.actions ?? {}, source };
}
