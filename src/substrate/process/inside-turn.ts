import { carriesAnyMarker, isMark, readProcess } from './process-table.ts';

/** A process is rarely deeper; a table that changes while it is read could even lead round in a circle. */
const MOST_ANCESTORS = 100;

/**
 * Whether the process with this environment and pid belongs to a turn: by its own mark, or by that of a process it comes from,
 * so that a command whose environment was scrubbed is still known.
 */
export function insideTurn(environment: Readonly<Record<string, string | undefined>>, pid: number): boolean {
  if (Object.entries(environment).some(([name, value]) => isMark(`${name}=${value ?? ''}`))) return true;
  let at = readProcess(pid);
  for (let steps = 0; at !== undefined && steps < MOST_ANCESTORS; steps += 1) {
    if ([at.pid, at.session, at.group].some((member) => carriesAnyMarker(member) === true)) return true;
    // Checks process 1 too, because in a turn's PID namespace it belongs to the turn.
    at = at.parent > 0 ? readProcess(at.parent) : undefined;
  }
  return false;
}
