import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { openPreloaded } from './preloaded.ts';

/** An endpoint of traces that is not reached at all, and does not say so. */
export interface SilentEndpoint {
  readonly environment: Readonly<Record<string, string>>;
  close(): unknown;
}

/** undefined: it cannot be made here. */
export async function openSilent(where: 'connection' | 'name'): Promise<SilentEndpoint | undefined> {
  return where === 'connection' ? openFull() : openNameless();
}

const LISTEN = `const server = require('net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;

/** A stopped process accepts nothing, and once its queue is full the kernel drops what would connect, as a firewall does. */
async function openFull(): Promise<SilentEndpoint> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  const sockets: Socket[] = [];
  for (let isFull = false; !isFull;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => void setTimeout(() => resolve(true), 1000)),
    ]);
  }
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  };
  return { environment: variablesFor(`http://127.0.0.1:${port}`), close };
}

function openNameless(): SilentEndpoint | undefined {
  const library = openPreloaded('names/silent.c');
  if (library === undefined) return undefined;
  return {
    environment: { ...library.environment, ...variablesFor('http://silent.invalid:4318') },
    close: library.close,
  };
}

function variablesFor(url: string): Readonly<Record<string, string>> {
  return { LANGSMITH_ENDPOINT: `${url}/api/v1`, LANGSMITH_API_KEY: 'lsv2_of_no_one', OTEL_EXPORTER_OTLP_ENDPOINT: url };
}
