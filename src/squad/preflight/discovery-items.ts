import type { Discovery } from '../../model/sprint/settings.ts';
import { shellWord } from '../../text/shell-word.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** The commands and actions with which a team looks for work, which a repository could change at any time. An action is agreed to for itself, too. */
export function discoveryItems(discovery: readonly Discovery[], { file, text }: SettingsFile): TrustItem[] {
  return discovery.map((one, index) => ({
    from: 'schedule',
    run: `the team looks for work with ${typeof one === 'string' ? `the command: ${one}` : nameOf(one)}`,
    where: `${file}:${placeIn(text, ['sprint', 'discovery', index]).line}`,
  }));
}

/** As people read it. */
export function nameOf({ action, args }: Exclude<Discovery, string>): string {
  return ['the action', action, ...args.map((arg) => shellWord(arg))].join(' ');
}
