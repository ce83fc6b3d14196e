import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { insideTurn } from './process-table.ts';

/** The two ends of a connection over IPv4, as the server's socket names them. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/**
 * Who is at the other end. `own`: a process of this user outside all turns. `agent`: one of squad's turns. `unseen`: no process that
 * squad can see has the connection open. `gone`: it has left already.
 */
export type Client = 'own' | 'agent' | 'other-user' | 'unseen' | 'gone';

/** A row of /proc/net/tcp. */
export interface SocketRow {
  readonly user: number;
  /** Inode of the socket; 0: no process has it any more. */
  readonly inode: number;
}

/**
 * Who connected to a server on loopback: the kernel's table of sockets names the user, and a process outside all turns has to be seen
 * with the socket open. A socket that is on its way between two processes is open in none.
 */
export function findClient(connection: Connection): Client {
  // No other system shows its sockets so that a program without privileges finds who has one open.
  if (process.platform !== 'linux') return 'unseen';
  const row = findRow(readFileSync('/proc/net/tcp', 'latin1'), connection);
  if (row === undefined || row.inode === 0) return 'gone';
  const user = process.getuid?.();
  // Root may do everything anyway; and no agent of another user makes a socket of root's.
  if (row.user === 0 && user !== 0) return 'own';
  if (row.user !== 0 && row.user !== user) return 'other-user';
  let client: Client = 'unseen';
  for (const name of readdirSync('/proc').toReversed()) {
    if (!/^\d+$/.test(name) || !hasOpen(name, row.inode)) continue;
    // The second look is for a process that has ended since, and whose ancestors could not be named any more.
    if (!insideTurn({}, Number(name)) && hasOpen(name, row.inode)) return 'own';
    client = 'agent';
  }
  return client;
}

/** The client's row; its own end is the server's other end. */
export function findRow(table: string, connection: Connection): SocketRow | undefined {
  const local = hexOf(connection.remoteAddress, connection.remotePort);
  const remote = hexOf(connection.localAddress, connection.localPort);
  for (const line of table.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1] !== local || fields[2] !== remote) continue;
    return { user: Number(fields[7]), inode: Number(fields[9]) };
  }
  return undefined;
}

/** As the kernel prints it: the address as a number of this machine's byte order, which is little-endian wherever squad runs. */
function hexOf(address = '', port = -1): string {
  const bytes = address
    .replace(/^::ffff:/, '')
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'));
  return `${bytes.toReversed().join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

/** false also where the process hides what it has open. */
function hasOpen(pid: string, inode: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => targetOf(`/proc/${pid}/fd/${name}`) === `socket:[${inode}]`);
  } catch {
    return false;
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    // It was closed in between.
    return '';
  }
}
