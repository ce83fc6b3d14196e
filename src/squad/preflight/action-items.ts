import type { ActionSettings } from '../../model/people/settings.ts';
import { counted } from '../../text/counted.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** One action, which a repository could change at any time. */
export function actionItems(name: string, { run, args }: ActionSettings, { file, text }: SettingsFile): TrustItem[] {
  const takes = args === 0 ? '' : `, with up to ${counted(args, 'argument')} of the one who asks`;
  const where = `${file}:${placeIn(text, ['actions', name]).line}`;
  return [{ from: 'action', run: `the action ${name}${takes} runs: ${run}`, where }];
}
