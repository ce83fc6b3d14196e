import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { NO_TOOL, type Caller, type ServedTools, type Wire } from './wire.ts';

/** The library serves every revision of the protocol, and takes nine megabytes for that. */
export function serveNewer(tools: ServedTools, version: string, wire: Wire): void {
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

function createServer(tools: ServedTools, version: string): Server {
  const server = new Server(
    { name: 'squad', version },
    { capabilities: { tools: {} }, instructions: tools.instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tools.list() }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given } }, { mcpReq }) => {
    const { id, signal, _meta: { progressToken } = {} } = mcpReq;
    const progress: Caller['progress'] = (done, total, message) => {
      const params = { progressToken, progress: done, total, message };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    };
    const result = tools.call(id, name, given, { signal, ...(progressToken === undefined ? {} : { progress }) });
    if (result === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, NO_TOOL);
    return { ...(await result) };
  });
  return server;
}
