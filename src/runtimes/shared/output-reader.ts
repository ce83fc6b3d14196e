import { errorText } from '../../model/errors.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { OutputLine } from '../../substrate/ports/processes.ts';
import type { CliAdapter, NativeLine } from './cli-adapter.ts';

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
  const translated = (line: OutputLine): readonly TurnReport[] => {
    try {
      const next = adapter.translate(state, nativeLine(line));
      state = next.state;
      return next.reports;
    } catch (error) {
      return [{ type: 'notice', text: `a line of output could not be read: ${errorText(error)}` }];
    }
  };
  return {
    read: (line) => {
      if (line.type !== 'cut') return translated(line);
      return [{ type: 'notice', text: `a line of ${line.bytes} bytes was cut` }, ...translated(line)];
    },
    state: () => state,
  };
}

/** Agents' output is untrusted: parsed here, once, and never revived into anything but plain JSON. */
export function nativeLine(line: OutputLine): NativeLine {
  if (line.type === 'cut') return { type: 'text', text: line.text };
  try {
    return { type: 'json', value: JSON.parse(line.text) as unknown };
  } catch (error) {
    // Prose, half a line at exit, or nesting deeper than the parser's stack: kept as text, the reason is of no use.
    void errorText(error);
    return { type: 'text', text: line.text };
  }
}
