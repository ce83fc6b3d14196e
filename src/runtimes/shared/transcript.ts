import { join } from 'node:path';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { CliAdapter } from './cli-adapter.ts';
import { createOutputReader } from './output-reader.ts';

/**
 * What a turn has reported since its first byte, and goes on to report, until `ended` aborts and all is read. By its folder
 * alone, whoever drives it; the folder need not be there yet. Not redacted.
 */
export type ReadTranscript = (request: TurnRequest, directory: string, ended: AbortSignal) => AsyncIterable<TurnReport>;

export function createTranscriptReader<Facts, State>(
  adapter: Pick<CliAdapter<Facts, State>, 'begin' | 'translate'>,
  processes: Pick<Processes, 'tail'>,
): ReadTranscript {
  return async function* read(request, directory, ended) {
    const reader = createOutputReader(adapter, request);
    for await (const line of processes.tail(join(directory, 'stdout'), ended)) yield* reader.read(line);
  };
}
