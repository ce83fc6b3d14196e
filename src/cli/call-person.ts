import type { RunEvent } from '../model/run-event.ts';
import { createOccasions, type Occasion } from '../view/occasions.ts';
import type { RunEnd } from '../view/running-run.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';

/** Calls a person to the terminal once for each occasion; undefined: there is no terminal. */
export function callerAt({ output: { terminal }, host }: Pick<CommandContext, 'output' | 'host'>) {
  if (terminal === undefined) return undefined;
  const occasions = createOccasions();
  const call = (occasion: Occasion | undefined): void => {
    if (occasion !== undefined) terminal.write(callText(occasion.text, host.environment));
  };
  return {
    hear: (event: RunEvent): void => call(occasions.of(event)),
    ended: (end: Pick<RunEnd, 'name' | 'headline' | 'outcome'>): void => call(occasions.ofEnd(end)),
  };
}

/** The bell, and a notification in the dialect of the terminal; one that knows neither shows nothing. */
export function callText(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  const line = plainLine(text, 200).replaceAll(';', ',');
  const isOfVte = environment['VTE_VERSION'] !== undefined || /^(?:rxvt|foot)/.test(environment['TERM'] ?? '');
  return `\u0007\u001b]${isOfVte ? `777;notify;squad;${line}` : `9;${line}`}\u0007`;
}
