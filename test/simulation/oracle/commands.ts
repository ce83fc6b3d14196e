/** What a command of these worlds says about files: all that their criteria and `verify` are made of. */
export function holds(command: string, files: ReadonlyMap<string, string>): boolean {
  const [, not, path] = /^(! )?test -f (\S+)$/.exec(command) ?? [];
  if (path !== undefined) return files.has(path) === (not === undefined);
  if (command === 'true') return true;
  if (command === 'false') return false;
  throw new Error(`no check here knows the command: ${command}`);
}
