import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** git's own server for one bare repository, by the protocol that git speaks with GitHub. */
export async function serveGit(
  { method = 'GET', headers }: IncomingMessage,
  response: ServerResponse,
  { bare, url, body }: { readonly bare: string; readonly url: URL; readonly body: Buffer },
): Promise<void> {
  const path = url.pathname.replace(/^\/[^/]+\/[^/]+/, `/${bare.slice(dirname(bare).length + 1)}`);
  const sent = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const env = {
    ...{
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: dirname(bare),
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'squad-bot',
    },
    ...{ PATH_INFO: path, QUERY_STRING: url.search.slice(1), REQUEST_METHOD: method },
    ...{ CONTENT_TYPE: headers['content-type'] ?? '', CONTENT_LENGTH: String(sent.length) },
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  };
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on('error', () => undefined).end(sent);
  await new Promise((done) => child.once('close', done));
  const out = Buffer.concat(chunks);
  const end = out.indexOf('\r\n\r\n');
  const lines = out.subarray(0, end).toString().split('\r\n');
  const given = lines.map((line) => line.split(': ') as [string, string]);
  const status = Number(given.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
  response.writeHead(status, Object.fromEntries(given.filter(([name]) => name !== 'Status')));
  response.end(out.subarray(end + 4));
}
