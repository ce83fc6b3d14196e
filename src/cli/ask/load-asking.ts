import type { Asking, AskingPorts } from './asking.ts';

/** Asks questions at this terminal. Only then is the code for it loaded. */
export async function loadAsking(ports: Omit<AskingPorts, 'prompts'>): Promise<Asking> {
  const [{ Asking: Made }, { TERMINAL_PROMPTS }] = await Promise.all([import('./asking.ts'), import('./prompts.ts')]);
  return new Made({ ...ports, prompts: TERMINAL_PROMPTS });
}
