import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { fenceTag } from '../../text/fence.ts';
import type { CoordinateOptions } from './options.ts';

/** More of a kept file would not help its reader. */
const MOST_OF_FILE = 20_000;

export function briefOf({ kept }: Pick<CoordinateOptions, 'kept'>, prompts?: ChangedPrompts): string {
  const files = kept.map(({ path, text }) => `${path}:\n${fenceTag('file', text, MOST_OF_FILE)}`);
  return renderPrompt('coordinator/first', { kept: files.join('\n\n') }, prompts);
}
