import { findProgram } from './find-program.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';

/**
 * Whether the OS can confine a program here: Seatbelt on macOS, bubblewrap and user namespaces on Linux, with the other
 * programs that its sandbox needs there. Else only the program's own rules do.
 */
export async function findConfinement(
  { platform, environment }: RuntimeSettings,
  trial: Trial,
  others: readonly string[],
): Promise<'os' | 'rules'> {
  if (platform === 'darwin') return 'os';
  if (platform !== 'linux') return 'rules';
  const [bwrap, ...rest] = await Promise.all(
    ['bwrap', ...others].map((name) => findProgram(environment['PATH'], name)),
  );
  if (bwrap === undefined || rest.includes(undefined)) return 'rules';
  const args = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
  return (await trial(bwrap, args, { kind: 'cage-trial' })) === undefined ? 'os' : 'rules';
}
