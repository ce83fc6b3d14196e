import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A PostgreSQL of a test, on loopback, with its data in a temporary folder. */
export interface TestPostgres {
  /** Of a database, which is made where it is new. */
  url(database: string): Promise<string>;
  readonly port: number;
  stop(): void;
  /** After `stop`: with the same data, at the same port. */
  start(): void;
  /** Ends the server and deletes its data. */
  close(): void;
}

const SYSTEM = '/usr/lib/postgresql';

/** The folder with `initdb` and `pg_ctl`; undefined: the machine has no PostgreSQL. */
function programs(): string | undefined {
  const versions = existsSync(SYSTEM) ? readdirSync(SYSTEM).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((one) => join(SYSTEM, one, 'bin')), '/usr/local/bin', '/usr/bin'];
  return folders.find((folder) => ['initdb', 'pg_ctl', 'postgres'].every((name) => existsSync(join(folder, name))));
}

/** It refuses to run as root. */
function account(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return {} as { uid: number; gid: number };
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Why the tests with a PostgreSQL are left out here; undefined: they are not. */
export function whyNoPostgres(): string | undefined {
  if (programs() === undefined) return 'no PostgreSQL is installed here';
  return account() === undefined ? 'PostgreSQL does not run as root, and there is no user postgres' : undefined;
}

export async function startPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const [bin, who] = [programs(), account()];
  if (bin === undefined || who === undefined) throw new Error(whyNoPostgres());
  const folder = mkdtempSync(join(tmpdir(), 'squad-pg-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  if (who.uid !== undefined) {
    chownSync(folder, who.uid, who.gid);
    chownSync(data, who.uid, who.gid);
  }
  const port = await freePort();
  const environment = { PATH: bin, HOME: folder, LC_ALL: 'C' };
  const options = { ...who, cwd: folder, env: environment, stdio: 'ignore', timeout: 120_000 } as const;
  const run = (program: string, args: readonly string[]): void => {
    execFileSync(join(bin, program), args, options);
  };
  run('initdb', ['-D', data, '-U', 'squad', '-A', 'trust', '-N', '--no-instructions']);
  const line = [`-p ${port}`, '-h 127.0.0.1', `-k ${folder}`, '-F', ...settings.map((one) => `-c ${one}`)].join(' ');
  const server: TestPostgres = {
    port,
    start: () => {
      run('pg_ctl', ['-D', data, '-w', '-t', '60', '-l', join(folder, 'log'), '-o', line, 'start']);
    },
    stop: () => {
      run('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
    },
    url: async (database) => {
      const { Client } = await import('pg');
      const client = new Client({ connectionString: `postgres://squad@127.0.0.1:${port}/postgres` });
      await client.connect();
      try {
        const found = await client.query('select from pg_database where datname = $1', [database]);
        if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
      } finally {
        await client.end();
      }
      return `postgres://squad@127.0.0.1:${port}/${database}`;
    },
    close: () => {
      if (existsSync(join(data, 'postmaster.pid')) && statSync(data).isDirectory()) server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  server.start();
  return server;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
