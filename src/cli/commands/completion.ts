import type { CommandContext } from '../command-context.ts';
import { SCRIPTS } from '../completion/scripts.ts';

export async function completion({ output }: CommandContext, shell: keyof typeof SCRIPTS): Promise<void> {
  output.line(SCRIPTS[shell], 'exact');
  return Promise.resolve();
}
