import { SquadError, usageError } from './errors.ts';
import { nearest } from '../text/nearest.ts';

/** Limit on listed names, so that the message stays readable. */
const MOST_NAMES = 10;

/** `there is no task grete; did you mean greet?`, or a list of the known names. */
export function noSuch(kind: string, name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  if (close !== undefined) return `there is no ${kind} ${name}; did you mean ${close}?`;
  if (known.length === 0) return `there is no ${kind} ${name}, nor any other`;
  if (known.length === 1) return `there is no ${kind} ${name}; there is only ${known[0]}`;
  const more = known.length > MOST_NAMES ? ` and ${known.length - MOST_NAMES} more` : '';
  return `there is no ${kind} ${name}; there are ${known.slice(0, MOST_NAMES).join(', ')}${more}`;
}

/** `known`: names, oldest first. */
export function unknownRun(name: string, known: readonly string[]): SquadError {
  const close = nearest(name, known);
  return new SquadError({
    code: 'usage',
    message: `no run is called ${name}${close === undefined ? '' : `; did you mean ${close}?`}`,
    next:
      known.length === 0
        ? 'There is none yet in this repository.'
        : `There is: ${known.slice(-MOST_NAMES).join(', ')}.`,
  });
}

/** `next`: what helps besides. */
export function noRunYet(next = ''): SquadError {
  return usageError('there is no run here yet', `Start one: \`squad run objective.md\`.${next}`);
}

export function unknownRuntime(name: string, registered: readonly string[]): SquadError {
  const close = nearest(name, registered);
  return new SquadError({
    code: 'usage',
    message: `no runtime is called ${name}${close === undefined ? '' : `; did you mean ${close}?`}`,
    next: `Use one of these: ${registered.join(', ')}.`,
  });
}
