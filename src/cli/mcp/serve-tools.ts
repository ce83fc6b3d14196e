import { isNewer, servePlain } from './plain-server.ts';
import type { ServedTools, Wire } from './wire.ts';

/** The longest request. The longest message body, with every character escaped, needs less than half of it. */
export const MOST_LINE_BYTES = 4 * 1024 * 1024;

const NEWLINE = 10;

/** The first line says which revision of the protocol the client speaks. */
export function serveTools(wire: Wire, tools: ServedTools, version: string): void {
  const { input, mostLineBytes, end, report } = wire;
  let head = Buffer.alloc(0);
  const first = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf(NEWLINE);
    if (at === -1 && head.length <= mostLineBytes) return;
    input.off('data', first);
    if (at !== -1 && isNewer(head.toString('utf8', 0, at))) return serveByLibrary();
    const read = servePlain(tools, version, wire);
    input.on('data', read);
    read(head);
  };
  const serveByLibrary = (): void => {
    input.pause();
    for (const event of ['end', 'close'] as const) input.off(event, ended);
    input.off('error', report);
    input.unshift(head);
    import('./newer-server.ts').then(
      ({ serveNewer }) => {
        serveNewer(tools, version, wire);
        input.resume();
      },
      (error: unknown) => {
        report(error);
        process.exitCode = 1;
        end();
      },
    );
  };
  // Answer the requests that came in before the end first.
  const ended = (): void => void setImmediate(end);
  input.on('data', first);
  for (const event of ['end', 'close'] as const) input.on(event, ended);
  input.on('error', report);
}
