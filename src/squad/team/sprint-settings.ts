import { join } from 'node:path';
import { z } from 'zod';
import type { Machine } from '../../engine/machine.ts';
import { SPRINT_EXAMPLE, sprintSettingsSchema, type SprintSettings } from '../../model/sprint/settings.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { readConfinedStart } from '../../substrate/system/files/open-confined.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { readSection } from '../preflight/read-section.ts';
import { namesSection } from '../preflight/read-settings-text.ts';

const schema = z.looseObject({ sprint: sprintSettingsSchema.optional() });
const MOST_BYTES = 300 * 1024;

/** The section `sprint` alone, for what only looks. All settings are read where the user's own file may have a part of it. */
export async function readSprintSettings({
  host,
  repository,
}: Pick<OpenedWorkspace<Machine>, 'host' | 'repository'>): Promise<SprintSettings> {
  const { root } = repository;
  if (await isInOwnFile(host.configHome)) {
    const { compose } = await import('../../engine/compose.ts');
    const { readSettings } = await import('../preflight/read-settings.ts');
    const { settings } = await readSettings(root, compose(host), host);
    return sprintSettingsSchema.parse(settings['sprint'] ?? {});
  }
  const { value } = await readSection(root, 'sprint', { schema, example: SPRINT_EXAMPLE });
  return value.sprint ?? sprintSettingsSchema.parse({});
}

async function isInOwnFile(configHome: string): Promise<boolean> {
  const file = join('squad', 'config.yaml');
  const read = await readConfinedStart(configHome, file, MOST_BYTES);
  return read === undefined ? exists(join(configHome, file)) : read.cut || namesSection(read.text, 'sprint');
}
