import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One system call that succeeded. */
export interface SystemCall {
  /** When it was made, or a sync returned, in nanoseconds. */
  readonly at: number;
  /** The thread that made it. */
  readonly thread: number;
  readonly name: string;
  readonly args: readonly string[];
  readonly result: number;
  /** The path of the file that it opened. */
  readonly opened: string | undefined;
}

/** What changes files, names or descriptors, and what brings them to the disk. */
const TRACED = [
  'openat,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,sendfile,lseek',
  'rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat',
  'fsync,fdatasync,sync_file_range,syncfs,sync,dup,dup2,dup3,fcntl,clone,clone3,fork,vfork,chdir,fchdir',
].join(',');

/** Whether this machine has strace, and lets it trace. */
export function canRecord(): boolean {
  return spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
}

/** The command by which a program and all that it starts are recorded, each thread in a file of its own. */
export function recorded(folder: string, command: readonly string[]): readonly [string, readonly string[]] {
  const how = ['-ff', '-y', '-xx', '-q', '-T', '-s', '33554432', '--seccomp-bpf', '--decode-pids=pidns'];
  return ['strace', [...how, '--timestamps=unix,ns', '-e', `trace=${TRACED}`, '-o', join(folder, 'calls'), ...command]];
}

/** Their effect counts from their return on. */
const SYNCS = new Set(['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync']);

/** With the path of what they are about. */
const OF_FILES = /^\S+ (?:openat|creat|p?write|lseek|ftruncate|fallocate|fsync|fdatasync|sync_file|fchmod\()/;

/** All calls of a recording about files below `root`, in the order in which they took effect. */
export function readCalls(folder: string, root: string): readonly SystemCall[] {
  const calls: SystemCall[] = [];
  const path = [...Buffer.from(root)].map((byte) => String.raw`\x` + byte.toString(16).padStart(2, '0')).join('');
  for (const name of readdirSync(folder)) {
    const thread = Number(name.slice(name.lastIndexOf('.') + 1));
    for (const line of readFileSync(join(folder, name), 'latin1').split('\n')) {
      const call = OF_FILES.test(line) && !line.includes(path) ? undefined : readLine(line, thread);
      if (call !== undefined) calls.push(call);
    }
  }
  return calls.toSorted((one, other) => one.at - other.at);
}

const LINE = /^(\d+)\.(\d{9}) (\w+)\((.*)\) += (\d+)(.*) <(\d+)\.(\d{6})>$/s;

function readLine(line: string, thread: number): SystemCall | undefined {
  const found = LINE.exec(line);
  if (found === null) return undefined;
  const [, seconds = '', nanoseconds = '', name = '', args = '', result = '', more = '', long = '', micro = ''] = found;
  if (name === 'fcntl' && !args.includes('F_DUPFD')) return undefined;
  // A double has no room for nanoseconds since 1970.
  const made = (Number(seconds) % 1_000_000) * 1e9 + Number(nanoseconds);
  const inOurNumbers = /\/\* (\d+) in strace's PID NS \*\//.exec(more)?.[1];
  return {
    at: SYNCS.has(name) ? made + Number(long) * 1e9 + Number(micro) * 1e3 : made,
    thread,
    name,
    args: splitArguments(args),
    result: Number(inOurNumbers ?? result),
    opened: pathOf(more),
  };
}

/** Texts are hexadecimal, so that no comma is in one. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = text.indexOf('"', at + 1);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 2;
    }
  }
  return [...parts, text.slice(from)];
}

/** The bytes of a text, or of all texts of a list. */
export function bytesOf(argument: string): Buffer {
  const texts = [...argument.matchAll(/(?:iov_base=|^)"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)];
  if (texts.length === 0 || texts.some(([, , cut]) => cut !== undefined)) {
    throw new Error(`strace did not record all of ${argument.slice(0, 80)}`);
  }
  return Buffer.concat(texts.map(([, text = '']) => Buffer.from(text.replaceAll(String.raw`\x`, ''), 'hex')));
}

export function textOf(argument: string): string {
  return bytesOf(argument).toString();
}

/** The path that strace adds to a descriptor: `7<\x2f\x74>`. */
export function pathOf(argument: string): string | undefined {
  const text = /<((?:\\x[0-9a-f]{2})+)>/.exec(argument)?.[1];
  return text === undefined ? undefined : Buffer.from(text.replaceAll(String.raw`\x`, ''), 'hex').toString();
}

/** The number of a descriptor, or another number. */
export function numberOf(argument: string): number {
  return Number.parseInt(argument, 10);
}
