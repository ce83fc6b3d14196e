// LangGraph's Agent Server as `langgraphjs dev` starts it, with the two files of docs/studio.md. Prints its port.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@langchain/langgraph-api/server';

const cwd = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'own-server-'));
const studio = new URL('../../src/exports/studio.ts', import.meta.url).href;
writeFileSync(join(cwd, 'squad-graph.mjs'), `export { graph, routes } from ${JSON.stringify(studio)};\n`);
const { host } = await startServer({
  ...{ port: 0, host: '127.0.0.1', cwd, nWorkers: 2, graphs: { squad: './squad-graph.mjs:graph' } },
  http: {
    app: './squad-graph.mjs:routes',
    ...{ disable_assistants: false, disable_threads: false, disable_runs: false, disable_store: true },
    disable_meta: false,
  },
});
console.log(JSON.stringify({ port: Number(host.slice(host.lastIndexOf(':') + 1)) }));
