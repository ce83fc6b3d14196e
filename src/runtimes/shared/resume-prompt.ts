import type { TurnRequest } from '../../model/turn-request.ts';

/**
 * The prompt as the runtime gets it. A session resumed in another folder still remembers the old one (its transcript is
 * full of those paths), so the change is named first.
 */
export function promptFor(request: TurnRequest): string {
  const { session, workspace, prompt } = request;
  if (session === undefined || session.workspace === workspace.path) return prompt;
  return [
    `Your working directory has changed. It is now ${workspace.path} (before: ${session.workspace}).`,
    'Paths from earlier in this conversation that start with the old directory are no longer yours to use.',
    '',
    prompt,
  ].join('\n');
}
