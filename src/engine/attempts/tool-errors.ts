import type { ToolError } from '../../model/tool-error.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { toolTarget } from '../../text/tool-target.ts';

const MOST_ERRORS = 5;
const MOST_OUTPUT = 800;
/** Open calls that are remembered. */
const MOST_OPEN = 1_000;

export interface ToolErrors {
  take(event: TurnEvent): void;
  /** Newest last. */
  list(): ToolError[];
}

/** The last few tool calls of one turn that failed or were denied, each once. A call that later succeeds is left out. */
export function collectToolErrors(): ToolErrors {
  const open = new Map<string, Pick<ToolError, 'tool' | 'input'>>();
  let errors: ToolError[] = [];
  return {
    take: (event) => {
      if (event.type === 'tool-started') {
        const { tool, server, input } = event;
        if (open.size >= MOST_OPEN) open.clear();
        open.set(event.id, { tool: server === undefined ? tool : `${server}/${tool}`, input: toolTarget(input) });
        return;
      }
      if (event.type !== 'tool-ended') return;
      const begun = open.get(event.id) ?? { tool: 'a tool', input: '' };
      const call = event.input === undefined ? begun : { ...begun, input: toolTarget(event.input) };
      open.delete(event.id);
      const others = errors.filter(({ tool, input }) => tool !== call.tool || input !== call.input);
      const failed = { ...call, output: lastOf(event.output ?? ''), denied: event.denied };
      errors = event.ok ? others : [...others, failed].slice(-MOST_ERRORS);
    },
    list: () => errors,
  };
}

function lastOf(output: string): string {
  const text = output.trim();
  return text.length <= MOST_OUTPUT ? text : `…${text.slice(-MOST_OUTPUT).toWellFormed()}`;
}
