import type { RunEvent } from '../model/run-event.ts';
import type { RunEnd } from '../read-model/running-run.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';

/** Several questions at once are one occasion. */
const ONE_OCCASION_MS = 1_000;

/** Calls a person to the terminal once for each occasion; undefined: there is no terminal. */
export function callerAt({ output: { terminal }, host }: Pick<CommandContext, 'output' | 'host'>) {
  if (terminal === undefined) return undefined;
  let calledAt = -Infinity;
  let asks = false;
  const call = (text: string): void => {
    if (performance.now() - calledAt < ONE_OCCASION_MS) return;
    calledAt = performance.now();
    terminal.write(callText(text, host.environment));
  };
  return {
    hear: (event: RunEvent): void => {
      if (event.type !== 'question-asked') return;
      asks = true;
      call(`squad asks: ${event.text}`);
    },
    /** A run that ends because nobody has answered has called already. */
    ended: ({ name, headline, outcome }: Pick<RunEnd, 'name' | 'headline' | 'outcome'>): void => {
      if (outcome !== 'waiting' || !asks) call(`${name}: ${headline}`);
    },
  };
}

/** The bell, and a notification in the dialect of the terminal; one that knows neither shows nothing. */
export function callText(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  const line = plainLine(text, 200).replaceAll(';', ',');
  const isOfVte = environment['VTE_VERSION'] !== undefined || /^(?:rxvt|foot)/.test(environment['TERM'] ?? '');
  return `\u0007\u001b]${isOfVte ? `777;notify;squad;${line}` : `9;${line}`}\u0007`;
}
