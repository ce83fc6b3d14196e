import type { Note } from '../../model/plan/board.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { fenceTag } from '../../text/fence.ts';
import { plainLine } from '../../text/plain-text.ts';

/** The notes of people that this turn is the first to have. Empty: there are none. */
export function renderNotes(
  notes: readonly Note[],
  { attempt }: { readonly attempt: string },
  changed: ChangedPrompts = {},
): string {
  const own = notes.filter((note) => note.attempt === attempt);
  if (own.length === 0) return '';
  const texts = own.map(({ by, text }) => `From ${plainLine(by, 60)}:\n${fenceTag('note', text)}`);
  return renderPrompt('squad/note', { notes: texts.join('\n\n') }, changed);
}
