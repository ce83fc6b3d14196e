import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { NO_TOOL, type MailTools } from './server.ts';
import type { Wire } from './wire.ts';

/** The library serves every revision of the protocol, and takes nine megabytes for that. */
export function serveNewer(tools: MailTools, version: string, wire: Wire): void {
  const { input, output, mostLineBytes: maxBufferSize, end, report } = wire;
  const transport = new StdioServerTransport(input, output, { maxBufferSize });
  const close = transport.close.bind(transport);
  // A transport that gives up stops reading, so it would never see the end of its input.
  transport.close = async () => {
    if (!input.readableEnded && !input.destroyed) process.exitCode = 1;
    await close();
    // Answer the requests that came in before the end first.
    setImmediate(end);
  };
  serveStdio(() => createServer(tools, version), { transport, onerror: report });
}

function createServer(tools: MailTools, version: string): Server {
  const server = new Server(
    { name: 'squad', version },
    { capabilities: { tools: {} }, instructions: tools.instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given } }, { mcpReq }) => {
    const result = tools.call(mcpReq.id, name, given);
    if (result === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, NO_TOOL);
    return { ...result };
  });
  return server;
}
