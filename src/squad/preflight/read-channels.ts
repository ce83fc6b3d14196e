import { z } from 'zod';
import { CHANNELS_EXAMPLE, channelsSchema, type ChannelSettings } from '../../model/people/settings.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import { channelFindings } from '../settings/channel-findings.ts';
import { readSettingsText } from './read-settings-text.ts';
import type { SettingsFile } from './read-settings.ts';

const schema = z.looseObject({ channels: channelsSchema });

export interface RepositoryChannels {
  readonly channels: Readonly<Record<string, ChannelSettings>>;
  readonly source: SettingsFile;
}

/** The channels of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. */
export async function readChannels(root: string): Promise<RepositoryChannels> {
  const source = await readSettingsText(root);
  const examples = { '': CHANNELS_EXAMPLE, channels: CHANNELS_EXAMPLE };
  const parsed = parseYaml({ ...source, firstLine: 1, examples }, schema, (raw) =>
    raw['channels'] === undefined ? [] : channelFindings(raw['channels'], 'repository'),
  );
  if (!parsed.ok) throw (await import('./read-input.ts')).problemError(parsed.problems);
  return { channels: parsed.value.channels ?? {}, source };
}
