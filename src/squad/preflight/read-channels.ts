import { z } from 'zod';
import { CHANNELS_EXAMPLE, channelsSchema, type ChannelSettings } from '../../model/people/settings.ts';
import { channelFindings } from '../settings/channel-findings.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSection } from './read-section.ts';

const schema = z.looseObject({ channels: channelsSchema });

export interface RepositoryChannels {
  readonly channels: Readonly<Record<string, ChannelSettings>>;
  readonly source: SettingsFile;
}

/** The channels of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. */
export async function readChannels(root: string): Promise<RepositoryChannels> {
  const { value, source } = await readSection(root, 'channels', {
    schema,
    example: CHANNELS_EXAMPLE,
    findings: (section) => channelFindings(section, 'repository'),
  });
  return { channels: value.channels ?? {}, source };
}
