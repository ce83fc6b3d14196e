import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import { namesChannels, readSettingsText } from '../preflight/read-settings-text.ts';
import { stampOf } from './watched-files.ts';

/** Has the channels hosted once squad.yaml names one. Before that nothing of them is loaded. Never waits for a channel. */
export function createServiceChannels(root: string, host: () => Promise<void>, say: (text: string) => void) {
  const files = [join(root, 'squad.yaml')];
  let stamp: string | undefined;
  let hosted: Promise<void> | undefined;
  return {
    look: async (): Promise<void> => {
      const now = stampOf(files);
      if (hosted !== undefined || now === stamp) return;
      stamp = now;
      const { text } = await readSettingsText(root).catch(() => ({ text: '' }));
      if (namesChannels(text)) hosted = host().catch((error: unknown) => say(`the channels: ${errorText(error)}`));
    },
    ended: async (): Promise<void> => hosted,
  };
}
