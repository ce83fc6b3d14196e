import { MOST_NOTE, type InterventionRequest } from '../../model/plan/verbs.ts';
import type { AskNote } from '../board/board.ts';
import type { Prompts } from './prompts.ts';

type Note = Extract<InterventionRequest, { verb: 'tell' }>;

const WHEN = [
  { value: 'next', label: 'In its next turn' },
  { value: 'now', label: 'At once', hint: 'ends its turn, and continues the same conversation' },
] as const;

/** A person's note to an agent. undefined: they write none. `chosen`: the agent that it is for. */
export async function askNote(
  prompts: Prompts,
  { agents, chosen, signal }: Parameters<AskNote>[0],
): Promise<Note | undefined> {
  const choices = agents.map((value) => ({ value, label: value }));
  const only = agents.length === 1 ? agents[0] : undefined;
  const agent = chosen ?? only ?? (await prompts.choose('A note to which agent?', choices, signal));
  if (agent === undefined) return undefined;
  const text = await prompts.write(`What should ${agent} know?`, signal, refuseLong);
  if (text === undefined) return undefined;
  const when = await prompts.choose('When?', WHEN, signal);
  return when === undefined ? undefined : { verb: 'tell', agent, text, now: when === 'now' };
}

/** At this terminal; loaded only then. */
export const askNoteHere: AskNote = async (about) => askNote((await import('./prompts.ts')).TERMINAL_PROMPTS, about);

function refuseLong(text: string): string | undefined {
  return text.length > MOST_NOTE ? `A note may have ${MOST_NOTE} characters; this one has ${text.length}.` : undefined;
}
