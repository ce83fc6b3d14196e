import { usageError, type SquadError } from './errors.ts';
import { plainLine } from '../text/plain-text.ts';

/** A repository on a machine that ssh reaches. */
export interface SshAddress {
  /** Name, address or alias of the machine, as `ssh` takes it. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** Absolute. */
  readonly path: string;
  /** Without a password, which no address has. */
  readonly url: string;
}

const URL_FORM = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@]*)(?::([^/]*))?(\/.*)?$/s;
/** No word that ssh could take for an option, and none that a shell reads in another way. */
const USER = /^[A-Za-z0-9_][\w.-]{0,63}$/;
const HOST = /^[A-Za-z0-9_](?:[\w.-]{0,252}\w)?$/;
const NUMBERS = /^[\da-f:.]{2,45}(?:%\w{1,15})?$/i;
const MOST_PATH = 4096;

/** Throws `usage` for what is no `ssh://[user@]host[:port]/path`. */
export function parseSshAddress(text: string): SshAddress {
  const [, user, named = '', port, path = ''] = URL_FORM.exec(text) ?? [];
  if (named === '') throw noAddress(text, 'it names no machine');
  const host = named.startsWith('[') ? named.slice(1, -1) : named;
  if (!(named.startsWith('[') ? NUMBERS : HOST).test(host)) throw noAddress(text, 'its machine is no name or address');
  if (user?.includes(':') === true) throw noAddress('ssh://…', 'it has a password; ssh takes a key');
  if (user !== undefined && !USER.test(user)) throw noAddress(text, 'its user is no name');
  if (port !== undefined && !/^[1-9]\d{0,4}$/.test(port)) throw noAddress(text, 'its port is no number');
  if (Number(port ?? 0) > 65_535) throw noAddress(text, 'its port is no number up to 65535');
  const real = pathIn(text, path);
  const login = user === undefined ? '' : `${user}@`;
  const url = `ssh://${login}${named}${port === undefined ? '' : `:${port}`}${path}`;
  return {
    ...{ host, path: real, url },
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

function pathIn(text: string, path: string): string {
  let real: string;
  try {
    real = decodeURIComponent(path);
  } catch {
    throw noAddress(text, 'its path has a % that begins no character');
  }
  if (real === '' || real === '/') throw noAddress(text, 'it has no path');
  if (real.includes('\0') || real.length > MOST_PATH) throw noAddress(text, 'its path is none');
  return real;
}

function noAddress(text: string, why: string): SquadError {
  return usageError(
    `${plainLine(text, 300)} is no address of a repository on another machine: ${why}`,
    'Give one such as `squad move ssh://me@server/home/me/project`.',
  );
}
