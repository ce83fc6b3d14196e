import { open, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import type { TurnSpawn } from '../ports/processes.ts';

/** Throws a SquadError for whatever can be known to fail, before anything is started or written. */
export async function checkSpawn(spawn: TurnSpawn): Promise<void> {
  checkText(spawn);
  await checkDirectory(spawn.directory, 'turn folder');
  await checkDirectory(spawn.cwd, 'working directory');
  await checkProgram(spawn.command);
}

function checkText(spawn: TurnSpawn): void {
  const texts = [spawn.directory, spawn.command, spawn.cwd, ...spawn.args, ...Object.entries(spawn.env).flat()];
  if (texts.some((text) => text.includes('\0'))) {
    throw badInput('An argument or environment variable of the agent holds a NUL byte, which no program can be given.');
  }
  if (!/^[\x21-\x7e]{1,200}$/.test(spawn.marker)) throw badInput(`"${spawn.marker}" cannot mark a turn.`);
  if (!Number.isFinite(spawn.deadline)) throw badInput('A turn needs a deadline.');
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

/**
 * A shell would run any other executable file as a script of its own; only a real program or a script that names its
 * interpreter gets that far.
 */
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

/** undefined: a program may be executable and yet unreadable. */
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

function badInput(message: string): SquadError {
  return new SquadError({ code: 'bad-input', message });
}

function wrongEnvironment(message: string, next: string): SquadError {
  return new SquadError({ code: 'wrong-environment', message, next });
}
