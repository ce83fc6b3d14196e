import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { OutputLine, Processes, TextLine } from '../../substrate/ports/processes.ts';
import { parseJson } from '../../text/json.ts';
import type { CliAdapter, NativeLine } from './cli-adapter.ts';

/** Translates one turn's output into reports, from its first line on. */
export interface OutputReader<State> {
  /** A line on which the translator throws is replaced by a notice; the turn continues. */
  read(line: OutputLine): readonly TurnReport[];
  state(): State;
}

type Translator<State> = Pick<CliAdapter<unknown, State>, 'begin' | 'translate'>;

export function createOutputReader<State>(adapter: Translator<State>, request: TurnRequest): OutputReader<State> {
  let state = adapter.begin(request);
  const translated = (line: NativeLine): readonly TurnReport[] => {
    try {
      const next = adapter.translate(state, line);
      state = next.state;
      return next.reports;
    } catch (error) {
      return [notice(`a line of output could not be read: ${errorText(error)}`)];
    }
  };
  return {
    read: (line) => {
      switch (line.type) {
        case 'cut':
          return [notice(`a line of ${line.bytes} bytes was cut`), ...translated(nativeLine(line))];
        case 'gap': {
          const text = `${line.bytes} bytes of output were not read: there was too much of it`;
          // The translator gets it as a line too, so that it knows that output is missing.
          return [notice(text), ...translated({ type: 'text', text })];
        }
        default:
          return translated(nativeLine(line));
      }
    },
    state: () => state,
  };
}

function notice(text: string): TurnReport {
  return { type: 'notice', text };
}

const MAY_BE_JSON = /^\s*[{["\-\dtfn]/;

/** Parses a line of untrusted output, once, as plain JSON; text that is not JSON stays text. */
export function nativeLine(line: TextLine): NativeLine {
  const { text } = line;
  // Looking at the first character rules out most prose at a tenth of the parser's cost.
  const value = line.type === 'cut' || !MAY_BE_JSON.test(text) ? undefined : parseJson(text);
  return value === undefined ? { type: 'text', text } : { type: 'json', value };
}

/**
 * The reports of a turn from its first byte on, until `ended` aborts and everything is read. Reads only the turn's folder,
 * which need not exist yet, so any process can use it. Not redacted.
 */
export type ReadTranscript = (request: TurnRequest, directory: string, ended: AbortSignal) => AsyncIterable<TurnReport>;

export function createTranscriptReader<State>(
  adapter: Translator<State>,
  processes: Pick<Processes, 'tail'>,
): ReadTranscript {
  return async function* read(request, directory, ended) {
    const reader = createOutputReader(adapter, request);
    for await (const line of processes.tail(join(directory, 'stdout'), ended)) yield* reader.read(line);
  };
}
