import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { CliAdapter, NativeLine } from './cli-adapter.ts';
import type { OutputLine, TextLine, Processes } from '../../substrate/ports/processes.ts';

/** Makes reports of one turn's output, from its first line on. */
export interface OutputReader<State> {
  /** A line that breaks the translator is lost, with a notice; the turn, which somebody pays for, is not. */
  read(line: OutputLine): readonly TurnReport[];
  state(): State;
}

export function createOutputReader<Facts, State>(
  adapter: Pick<CliAdapter<Facts, State>, 'begin' | 'translate'>,
  request: TurnRequest,
): OutputReader<State> {
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
        case 'gap':
          // Also as a line of text, so that a translator that needs the whole output knows that some is missing.
          return [notice(gapNote(line.bytes)), ...translated({ type: 'text', text: gapNote(line.bytes) })];
        default:
          return translated(nativeLine(line));
      }
    },
    state: () => state,
  };
}

function gapNote(bytes: number): string {
  return `${bytes} bytes of output were not read: there was too much of it`;
}

function notice(text: string): TurnReport {
  return { type: 'notice', text };
}

const MAY_BE_JSON = /^\s*[{["\-\dtfn]/;

/** Agents' output is untrusted: parsed here, once, and never revived into anything but plain JSON. */
export function nativeLine(line: TextLine): NativeLine {
  // The first character rules out most prose. Letting the parser refuse it costs ten times as much.
  if (line.type === 'cut' || !MAY_BE_JSON.test(line.text)) return { type: 'text', text: line.text };
  try {
    return { type: 'json', value: JSON.parse(line.text) as unknown };
  } catch (error) {
    // Prose, half a line at exit, or nesting deeper than the parser's stack: kept as text, the reason is of no use.
    void errorText(error);
    return { type: 'text', text: line.text };
  }
}

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
