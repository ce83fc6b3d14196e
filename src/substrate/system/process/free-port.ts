import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../../../model/storage-error.ts';

const LOOPBACK = ['127.0.0.1', '::1'];
/** The machine has no such address. */
const NO_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/** Whether a program could listen there now, on this machine alone. */
export async function isPortFree(port: number): Promise<boolean> {
  for (const host of LOOPBACK) {
    const server = createServer();
    try {
      await once(server.listen({ port, host, exclusive: true }), 'listening');
      await once(server.close(), 'close');
    } catch (error) {
      if (!NO_ADDRESS.includes(errorCode(error) ?? '')) return false;
    }
  }
  return true;
}
