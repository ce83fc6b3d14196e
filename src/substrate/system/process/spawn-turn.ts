import { type ChildProcess, spawn as spawnProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, rm, stat, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { badInput, errorText, SquadError, wrongEnvironment } from '../../../model/errors.ts';
import type { ProcessIdentity } from '../../../model/process-identity.ts';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WaitingTurn, TurnSpawn } from '../../ports/processes.ts';
import { sweep, sendSignal } from './end-turn.ts';
import { ownFilesIn, requireOwnFiles } from './own-files.ts';
import { readEnding, UNRECORDED_EXIT } from './ending.ts';
import { requireRoomForTurn } from './user-limits.ts';
import { identifyChild, isSameProcess, MARKER_VARIABLE, sourceName } from './process-table.ts';

const ABANDON_MS = 2000;
/** The build puts the script next to the bundle. */
const WRAPPER = fileURLToPath(new URL('./turn-wrapper.sh', import.meta.url));

/** Starts the wrapper and returns while it holds the agent back. `before`: a prefix to the command. See the port. */
export async function spawnTurn(spawn: TurnSpawn, before: readonly string[], clock: Clock): Promise<WaitingTurn> {
  await requireOwnFiles([WRAPPER, ...ownFilesIn([...before, ...spawn.args])], clock);
  await checkSpawn(spawn);
  requireRoomForTurn();
  await clearEarlierTry(spawn, clock);
  // `wx`: does not overwrite or follow what an agent may have left there.
  await writeFile(join(spawn.directory, 'prompt'), spawn.stdin, { mode: 0o600, flag: 'wx' });
  await writeFile(join(spawn.directory, UNRECORDED_EXIT), '', { mode: 0o600, flag: 'wx' });

  const child = await startWrapper(spawn, before);
  failpoint('process.spawned');
  const goPipe = child.stdio[3] as Socket;
  // `waitForEnding` sees a wrapper that is gone, so a broken pipe needs no report.
  goPipe.on('error', () => undefined);
  // Neither keeps the engine alive, because a turn outlives it.
  child.unref();
  goPipe.unref();

  const identity = child.pid === undefined ? undefined : await identifyChild(child.pid, spawn.marker, clock);
  if (identity === undefined) {
    goPipe.destroy();
    throw cannotStart(spawn, 'it ended at once');
  }
  return {
    identity,
    async go() {
      failpoint('process.before-go');
      await new Promise<void>((resolve) => {
        goPipe.end('go\n', resolve);
        goPipe.once('close', resolve);
      });
      failpoint('process.after-go');
    },
    async abandon() {
      goPipe.destroy();
      await waitUntilGone(identity, clock);
    },
  };
}

/**
 * Clears the folder of a turn whose engine died between spawn and commit, so that no agent ran. Refuses a folder in which an
 * agent has run, because finished work is never repeated.
 */
async function clearEarlierTry({ directory, marker }: TurnSpawn, clock: Clock): Promise<void> {
  if (!(await exists(join(directory, 'prompt')))) return;
  await sweep(marker, clock);
  const ending = await readEnding(directory);
  const agentHasRun = ending?.type === 'exited' || (await exists(join(directory, 'stdout')));
  if (agentHasRun) {
    throw badInput(`The turn in ${directory} has already run.`);
  }
  for (const name of ['prompt', 'exit', UNRECORDED_EXIT, 'ended-by']) await rm(join(directory, name), { force: true });
}

async function startWrapper(spawn: TurnSpawn, before: readonly string[]): Promise<ChildProcess> {
  const limits = [String(Math.ceil(spawn.wallMs / 1000)), String(spawn.maxOutputBytes)];
  const mode = before.length > 0 ? '--isolated' : sourceName === 'ps' ? '--by-ps' : '--';
  const args = [WRAPPER, spawn.directory, ...limits, mode, ...before, spawn.command, ...spawn.args];
  try {
    const child = spawnProcess('/bin/sh', args, {
      cwd: spawn.cwd,
      env: { ...spawn.env, [MARKER_VARIABLE]: spawn.marker },
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    await once(child, 'spawn');
    return child;
  } catch (error) {
    throw cannotStart(spawn, errorText(error), error);
  }
}

async function waitUntilGone(identity: ProcessIdentity, clock: Clock): Promise<void> {
  const startedAt = clock.monotonic();
  while (isSameProcess(identity)) {
    const waited = clock.monotonic() - startedAt;
    if (waited > ABANDON_MS * 2) return;
    if (waited > ABANDON_MS) sendSignal(-identity.pid, 'SIGKILL');
    await clock.sleep(10);
  }
}

function cannotStart(spawn: TurnSpawn, why: string, cause?: unknown): SquadError {
  const tooLong = (cause as NodeJS.ErrnoException | undefined)?.code === 'E2BIG';
  return new SquadError({
    code: tooLong ? 'bad-input' : 'wrong-environment',
    message: tooLong
      ? `The arguments and environment for ${spawn.command} are longer than the system allows.`
      : `${spawn.command} could not be started: ${why}`,
    cause,
  });
}

/** Throws a SquadError for everything that is known to fail, before anything is started or written. */
async function checkSpawn(spawn: TurnSpawn): Promise<void> {
  checkText(spawn);
  await checkDirectory(spawn.directory, 'turn folder');
  await checkDirectory(spawn.cwd, 'working directory');
  await checkProgram(spawn.command);
}

function checkText(spawn: TurnSpawn): void {
  const texts = [spawn.directory, spawn.command, spawn.cwd, ...spawn.args, ...Object.entries(spawn.env).flat()];
  if (texts.some((text) => text.includes('\0'))) {
    throw badInput(
      'An argument or environment variable of the agent contains a NUL byte, which programs cannot receive.',
    );
  }
  if (!/^[\x21-\x7e]{1,200}$/.test(spawn.marker)) throw badInput(`"${spawn.marker}" cannot mark a turn.`);
  if (!Number.isFinite(spawn.wallMs)) throw badInput('A turn needs a limit on its time.');
  if (!Number.isSafeInteger(spawn.maxOutputBytes) || spawn.maxOutputBytes < 1) {
    throw badInput('A turn needs a limit on its output.');
  }
}

async function checkDirectory(path: string, what: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!isAbsolute(path) || found?.isDirectory() !== true) {
    throw wrongEnvironment(`The ${what} ${path} is not there.`, 'Create it, or name another.');
  }
}

/** Only a program, or a script that names its interpreter: a shell would run any other executable file as a shell script. */
async function checkProgram(path: string): Promise<void> {
  const next = 'Check the runtime\'s "command" in squad.yaml, or run: squad doctor';
  if (!isAbsolute(path)) throw wrongEnvironment(`The command ${path} is not an absolute path.`, next);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw wrongEnvironment(`The command ${path} does not exist.`, next);
  if ((found.mode & 0o111) === 0) throw wrongEnvironment(`The command ${path} is not executable.`, next);
  const start = await readStart(path);
  if (start !== undefined && !start.startsWith('#!') && start !== '\x7fELF') {
    throw wrongEnvironment(`The command ${path} is neither a program nor a script that names its interpreter.`, next);
  }
}

/** undefined: unreadable, which an executable program may be. */
async function readStart(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
