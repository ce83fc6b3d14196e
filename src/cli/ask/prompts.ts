import { isCancel, S_BAR, select, text } from '@clack/prompts';
import { plainLine } from '../../text/plain-text.ts';
import { reasons } from '../../text/reasons.ts';
import { wrap } from '../render/cells.ts';

/** One thing to choose. */
interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

/** Asks at the terminal. Each resolves with undefined on Ctrl-C, on Escape, and once `signal` is aborted. */
export interface Prompts {
  choose<T extends string>(message: string, choices: readonly Choice<T>[], signal: AbortSignal): Promise<T | undefined>;
  /** `refuse`: why a text cannot be taken. */
  write(
    message: string,
    signal: AbortSignal,
    refuse?: (text: string) => string | undefined,
  ): Promise<string | undefined>;
}

/** On standard error, where squad talks to people. */
export const TERMINAL_PROMPTS: Prompts = {
  choose: async (message, choices, signal) => {
    const options = choices.map(({ value, label, hint }) => ({
      value: value as string,
      label: plainLine(label, 120),
      ...(hint === undefined ? {} : { hint: plainLine(reasons(hint), 80) }),
    }));
    const chosen = await select({
      ...ends(signal),
      message: plainLine(message, 300),
      options,
      showInstructions: false,
    });
    return isCancel(chosen) ? undefined : choices.find(({ value }) => value === chosen)?.value;
  },
  write: async (message, signal, refuse = () => undefined) => {
    const validate = (given: string | undefined): string | undefined =>
      given === undefined || given.trim() === '' ? 'Write something, or press Ctrl-C to go back.' : refuse(given);
    const given = await text({ ...ends(signal), message: behindBar(plainLine(message, 300)), validate });
    return isCancel(given) ? undefined : given.trim();
  },
};

/** The question of a `text`, whose further lines clack would begin in the first column. */
export function behindBar(message: string, columns = process.stderr.columns ?? 80): string {
  return wrap(message, Math.max(20, columns - 4)).join(`\n${S_BAR}  `);
}

function ends(signal: AbortSignal) {
  return { input: process.stdin, output: process.stderr, signal };
}
