import { join } from 'node:path';
import { namesSection, readSettingsText } from '../preflight/read-settings-text.ts';
import { stampOf } from './watched-files.ts';

const SECTIONS = ['sprint', 'channels', 'forge'] as const;
export type Sections = Readonly<Record<(typeof SECTIONS)[number], boolean>>;

/** Which of the sections that the service goes by squad.yaml has, read again when the file changes. */
export function sectionsNow(root: string): () => Promise<Sections> {
  let known: Sections = { sprint: false, channels: false, forge: false };
  let stamp: string | undefined;
  return async () => {
    const now = stampOf([join(root, 'squad.yaml')]);
    if (now === stamp) return known;
    stamp = now;
    const { text } = await readSettingsText(root).catch(() => ({ text: '' }));
    const [sprint, channels, forge] = SECTIONS.map((section) => namesSection(text, section));
    known = { sprint: sprint === true, channels: channels === true, forge: forge === true };
    return known;
  };
}
