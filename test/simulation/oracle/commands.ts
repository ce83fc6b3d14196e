/** How a command of these worlds ends, by the files that it runs on. `luck`: from 0 to 1, for one that says something else each time. */
export function outcomeOfCommand(
  command: string,
  files: ReadonlyMap<string, string>,
  luck: number,
): { readonly code: number; readonly text: string } {
  if (command.startsWith('npm run ')) return { code: 1, text: `npm error Missing script: "${command.slice(8)}"` };
  if (command.startsWith('no-such-program')) return { code: 127, text: '/bin/sh: 1: no-such-program: not found' };
  const passed = command === 'flaky-check' ? luck < 0.5 : holds(command, files) === true;
  return passed ? { code: 0, text: 'ok' } : { code: 1, text: `${command} says no` };
}

/** What the files alone say of a command: all that criteria and `verify` are made of; undefined: they say nothing. */
export function holds(command: string, files: ReadonlyMap<string, string>): boolean | undefined {
  const [, not, path] = /^(! )?test -f (\S+)$/.exec(command) ?? [];
  if (path !== undefined) return files.has(path) === (not === undefined);
  if (command === 'true') return true;
  if (command === 'flaky-check') return undefined;
  if (command === 'false' || isMissing(command)) return false;
  throw new Error(`no check here knows the command: ${command}`);
}

/** Nothing can run it. */
export function isMissing(command: string): boolean {
  return command.startsWith('npm run ') || command.startsWith('no-such-program');
}
