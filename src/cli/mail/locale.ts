import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locale, MailOptions } from './options.ts';

/**
 * As it was asked for, else as `mail.locale` of squad.yaml says. The file is parsed only where it could say something: that
 * costs more than reading one's mail.
 */
export async function localeOf(root: string, { locale }: MailOptions): Promise<Locale> {
  if (locale !== undefined) return locale;
  if (!mentions(join(root, 'squad.yaml'), 'locale')) return 'en';
  const { readSettings } = await import('../../preflight/read-input.ts');
  return (await readSettings(root)).settings.mail.locale;
}

function mentions(path: string, word: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(word);
  } catch {
    // Absent, or whoever parses it will say what is wrong with it.
    return false;
  }
}
