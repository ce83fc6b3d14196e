import { createServer } from 'node:net';
import { errorCode } from '../../../model/storage-error.ts';

const LOOPBACK = ['127.0.0.1', '::1'];
/** The machine has no such address. */
const NO_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/** Whether a program could listen there now, on this machine alone. */
export async function isPortFree(port: number): Promise<boolean> {
  for (const host of LOOPBACK) if (!(await canListen(port, host))) return false;
  return true;
}

async function canListen(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(NO_ADDRESS.includes(errorCode(error) ?? '')));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
