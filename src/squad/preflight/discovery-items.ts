import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** The commands with which a team looks for work, which a repository could change at any time. */
export function discoveryItems(commands: readonly string[], { file, text }: SettingsFile): TrustItem[] {
  return commands.map((command, index) => ({
    from: 'schedule',
    run: `the team looks for work with the command: ${command}`,
    where: `${file}:${placeIn(text, ['sprint', 'discovery', index]).line}`,
  }));
}
