import { join } from 'node:path';
import { sha256Of } from '../../model/sha256.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { asObject } from '../../text/json.ts';
import type { RepositoryNote } from './repository-notes.ts';
import type { Skill } from './skills.ts';

/**
 * The prompt for the runtime. It first names a change of folder, because the transcript of a session is full of the old paths. `notes`:
 * those of the repository, for the first prompt of a program that does not read them itself.
 */
export function promptFor(
  request: TurnRequest,
  notes: readonly { readonly name: string; readonly text: string }[] = [],
): string {
  const { session, workspace, prompt, prompts } = request;
  if (session === undefined) {
    return notes.length === 0
      ? prompt
      : `${renderPrompt('runtime/notes', { notes: quoteNotes(notes) }, prompts)}\n\n${prompt}`;
  }
  const facts = { folder: workspace.path, oldFolder: session.workspace };
  return facts.oldFolder === facts.folder ? prompt : `${renderPrompt('runtime/moved', facts, prompts)}\n\n${prompt}`;
}

/** `promptFor` with the instructions in front, once: for a program that takes none. */
export function instructedPrompt(request: TurnRequest, notes: Parameters<typeof promptFor>[1] = []): string {
  const prompt = promptFor(request, notes);
  const isOpen = request.session !== undefined || request.instructions === '';
  return isOpen ? prompt : `${request.instructions}\n\n${prompt}`;
}

/**
 * The prompt with the form of its answer below it: for a program that takes no schema. A session that is resumed has the schema of an
 * answer that its turn does not owe already.
 */
export function withAnswer(prompt: string, request: TurnRequest): string {
  const { outputSchema, outputIsOptional, session, prompts } = request;
  if (outputSchema === undefined) return prompt;
  const isOptional = outputIsOptional === true;
  const facts = { schema: JSON.stringify(outputSchema), alone: isOptional ? '' : 'yes' };
  const fields = Object.keys(asObject(outputSchema['properties']));
  const how =
    isOptional && session !== undefined
      ? renderPrompt('runtime/answer-again', { fields }, prompts)
      : renderPrompt('runtime/answer', facts, prompts);
  return `${prompt}\n\n${how}`;
}

/** Skills as a part of the instructions, for a program that lists only those in its own folders. */
export function skillList(skills: readonly Skill[], prompts: TurnRequest['prompts']): string[] {
  const list = skills.map(({ name, folder, description }) => {
    return `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()} (file: ${join(folder, 'SKILL.md')})`;
  });
  return list.length === 0 ? [] : [renderPrompt('runtime/skills', { skills: list.join('\n') }, prompts)];
}

/**
 * The notes as data in a prompt, not in the instructions: these carry squad's authority, their hash decides about a resume,
 * and the agent may edit the notes. The fence has a hash of its content, which that cannot contain.
 */
function quoteNotes(notes: readonly RepositoryNote[]): string {
  const fence = sha256Of(JSON.stringify(notes)).slice(0, 16);
  return notes.map(({ name, text }) => `<<<${name} ${fence}\n${text}\n${fence} ${name}>>>`).join('\n');
}
