import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { exists } from '../files/exists.ts';
import type { TurnIsolation } from '../../ports/processes.ts';
import { sourceName } from './process-table.ts';
import { runChild } from './run-child.mjs';

const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];
const TRIAL_MS = 10_000;
const TRIAL_STATUS = 7;
/** Checks that the tool survives a signal to the group, and that /proc shows the namespace: `ps` and `kill` must agree. */
const TRIAL = `trap : TERM; kill -TERM 0; read -r pid rest </proc/self/stat; [ "$pid" = "$$" ] && exit ${TRIAL_STATUS}`;

/** Every kernel allows pids below 32768. */
const PIDS = { from: 1_000, to: 30_000 };

/** The isolation of this machine, as a prefix to a turn's command. */
interface Isolation {
  readonly says: TurnIsolation;
  /**
   * `keepsUser`: a command of the person's. It may have to become another user (sudo), which a user namespace prevents, and it keeps
   * the System V memory and queues of the person's programs, which others do not see.
   */
  before(command: { keepsUser: boolean }): readonly string[];
}

/** Tries namespaces once, with a real process. The answer can change only with a restart of the machine. */
export function createIsolation(folders: readonly string[] = FOLDERS): () => Promise<Isolation> {
  let found: Promise<Isolation> | undefined;
  return () => (found ??= findIsolation(folders));
}

async function findIsolation(folders: readonly string[]): Promise<Isolation> {
  if (sourceName === 'ps') return none('squad sees processes by `ps` here');
  // The build puts the script next to the bundle.
  const init = fileURLToPath(new URL('./turn-init.sh', import.meta.url));
  const unshare = await findIn(folders, 'unshare');
  const setpriv = await findIn(folders, 'setpriv');
  if (unshare === undefined) return none('unshare, of util-linux, is not installed');
  const options = ['--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'slave'];
  const inNamespace = [...options, '--', '/bin/sh', init];
  const start = (): string => String(randomInt(PIDS.from, PIDS.to));
  const asRoot = (more: readonly string[] = []): readonly string[] => [unshare, ...more, ...inNamespace, start()];
  let why = 'only root may';
  if (process.getuid?.() === 0) {
    const problem = await problemOf(asRoot());
    if (problem === undefined) {
      const more = await allowed(asRoot);
      return { says: { type: 'pid-namespace' }, before: ({ keepsUser }) => asRoot(keepsUser ? [] : more) };
    }
    why = problem;
  }
  if (setpriv === undefined) return none(why);
  // Only process 1 keeps the namespace's privileges, to set the first pid. `setpriv` drops them for the command.
  const asUser = (more: readonly string[] = []): readonly string[] => [
    ...[unshare, '--user', '--map-current-user', '--keep-caps', ...more, ...inNamespace, start()],
    ...[setpriv, '--ambient-caps=-all', '--inh-caps=-all', '--'],
  ];
  const problem = await problemOf(asUser());
  if (problem !== undefined) return none(problem);
  const more = await allowed(asUser);
  return {
    says: { type: 'user-namespace' },
    before: ({ keepsUser }) => (keepsUser ? [] : asUser(more)),
  };
}

/** Some kernels have no namespace for System V memory and queues. */
async function allowed(command: (more: readonly string[]) => readonly string[]): Promise<readonly string[]> {
  return (await problemOf(command(['--ipc']))) === undefined ? ['--ipc'] : [];
}

/** Why the command does not work here; undefined if it works. */
async function problemOf([command = '', ...args]: readonly string[]): Promise<string | undefined> {
  const { code, stderr, problem } = await runChild({
    command,
    args: [...args, '/bin/sh', '-c', TRIAL],
    cwd: '/',
    env: {},
    timeoutMs: TRIAL_MS,
  });
  return code === TRIAL_STATUS
    ? undefined
    : ((stderr.trim().split('\n')[0] || problem) ?? `a trial ended with ${code}`);
}

function none(why: string): Isolation {
  return { says: { type: 'none', why }, before: () => [] };
}

async function findIn(folders: readonly string[], name: string): Promise<string | undefined> {
  const paths = folders.map((folder) => `${folder}/${name}`);
  const found = await Promise.all(paths.map(exists));
  return paths.find((_, index) => found[index]);
}
