import { z } from 'zod';
import { FORGE_EXAMPLE, forgeSchema } from '../../model/forge/settings.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSection } from './read-section.ts';

const schema = z.looseObject({ forge: forgeSchema });

export interface RepositoryForge {
  /** Absent: the repository has no such section. */
  readonly forge?: z.infer<typeof forgeSchema>;
  readonly source: SettingsFile;
}

/** The settings of a repository about its forge. Throws `bad-input` for all that is wrong with it. */
export async function readForge(root: string): Promise<RepositoryForge> {
  const { value, source } = await readSection(root, 'forge', { schema, example: FORGE_EXAMPLE });
  return { forge: value.forge, source };
}
