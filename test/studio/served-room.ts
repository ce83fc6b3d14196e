import { Client } from '@langchain/langgraph-sdk';
import type { Entry } from '../runs/run-script.ts';
import type { Engine } from '../support/engine.ts';
import { openStudioBench, type StudioBench } from './studio-bench.ts';

/** A repository whose runs `squad studio` serves, as a process of its own. */
export interface ServedRoom extends StudioBench {
  serve(...more: string[]): Promise<Serving>;
}

interface Serving extends Pick<Engine, 'child' | 'finished'> {
  readonly url: string;
  readonly client: Client;
}

export async function openServedRoom(script?: readonly Entry[]): Promise<ServedRoom> {
  const bench = await openStudioBench(script);
  return {
    ...bench,
    serve: async (...more) => {
      const { child, finished, line } = bench.start(['studio', '--port', '0', '--json', ...more]);
      const { url } = (await line(({ type }) => type === 'studio-started')) as { url: string };
      return { child, finished, url, client: new Client({ apiUrl: url, apiKey: null }) };
    },
  };
}
