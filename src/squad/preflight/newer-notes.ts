import { isOlder } from '../../runtimes/shared/find-program.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';

/** A note for people about a program that is newer than the one that squad was tested with. */
export interface NewerNote {
  readonly about: 'newer-program';
  readonly text: string;
  readonly next?: undefined;
  readonly once: string;
}

export function newerNote(runtime: string, { version, tested }: Probe): NewerNote[] {
  if (version === undefined || tested === undefined || !isOlder(tested, version)) return [];
  const text = `${runtime} ${version} is newer than ${tested}, which squad was tested with`;
  return [{ about: 'newer-program', text, once: `newer-program ${runtime} ${version}` }];
}
