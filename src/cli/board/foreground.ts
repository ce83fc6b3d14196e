import { readFileSync } from 'node:fs';

/** Whether this process may use its terminal. A job in the background is stopped by the kernel if it changes the terminal's mode. */
export function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name before it may hold anything: state, parent, process group, session, terminal, the group in the foreground.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    // A system without /proc: most programs that people start are in the foreground.
    return true;
  }
}
