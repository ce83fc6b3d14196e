import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { processesOfTurns } from './process-table.ts';

/** The two ends of a connection over IPv4, as the server's socket names them. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Who is at the other end. `agent`: a process of one of squad's turns. `gone`: it has left already. */
export type Client = 'own' | 'agent' | 'other-user' | 'gone';

/** A row of /proc/net/tcp. */
export interface SocketRow {
  readonly user: number;
  /** Of the socket; 0: no process has it any more. */
  readonly inode: number;
}

/**
 * Who connected to a server on loopback. The kernel's table of sockets names the user, and the processes of turns are asked
 * whether they have the socket open. Where one of them hides what it has open, the client has to be seen in another process.
 */
export function findClient(connection: Connection): Client {
  const row = findRow(readFileSync('/proc/net/tcp', 'latin1'), connection);
  if (row === undefined || row.inode === 0) return 'gone';
  if (row.user !== 0 && row.user !== process.getuid?.()) return 'other-user';
  const has = processesOfTurns().map((pid) => hasOpen(String(pid), row.inode));
  if (has.includes('yes')) return 'agent';
  if (!has.includes('hidden')) return 'own';
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && hasOpen(name, row.inode) === 'yes')
    ? 'own'
    : 'agent';
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

function hasOpen(pid: string, inode: number): 'yes' | 'no' | 'hidden' {
  try {
    const names = readdirSync(`/proc/${pid}/fd`);
    return names.some((name) => targetOf(`/proc/${pid}/fd/${name}`) === `socket:[${inode}]`) ? 'yes' : 'no';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'hidden' : 'no';
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
