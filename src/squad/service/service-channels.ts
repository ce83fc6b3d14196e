import { errorText } from '../../model/errors.ts';
import type { Sections } from './sections-now.ts';

/** Has the channels hosted once squad.yaml names one. Before that nothing of them is loaded. Never waits for a channel. */
export function createServiceChannels(host: () => Promise<void>, say: (text: string) => void) {
  let hosted: Promise<void> | undefined;
  return {
    look: ({ channels }: Pick<Sections, 'channels'>): void => {
      if (channels) hosted ??= host().catch((error: unknown) => say(`the channels: ${errorText(error)}`));
    },
    ended: async (): Promise<void> => hosted,
  };
}
