import type { ToolError } from '../model/tool-error.ts';
import type { TurnEvent } from '../model/turn-event.ts';

const MOST_ERRORS = 5;
const MOST_INPUT = 300;
const MOST_PARTS = 20;
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
        open.set(event.id, { tool: server === undefined ? tool : `${server}/${tool}`, input: inputText(input) });
        return;
      }
      if (event.type !== 'tool-ended') return;
      const call = open.get(event.id) ?? { tool: 'a tool', input: '' };
      open.delete(event.id);
      const others = errors.filter(({ tool, input }) => tool !== call.tool || input !== call.input);
      const failed = { ...call, output: lastOf(event.output ?? ''), denied: event.denied };
      errors = event.ok ? others : [...others, failed].slice(-MOST_ERRORS);
    },
    list: () => errors,
  };
}

/** The part of the input by which people recognise a call. The rest may be large, or too deep for JSON. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  for (const key of ['command', 'argv', 'file_path', 'path', 'pattern', 'url']) {
    const value: unknown = Reflect.get(input, key);
    if (typeof value === 'string') return value.slice(0, MOST_INPUT);
    if (Array.isArray(value)) return joined(value, ' ');
  }
  const changes: unknown = Reflect.get(input, 'changes');
  return Array.isArray(changes) ? joined(changes.slice(0, MOST_PARTS).map(inputText), ', ') : '';
}

function joined(parts: readonly unknown[], separator: string): string {
  const texts = parts.slice(0, MOST_PARTS).filter((part) => typeof part === 'string');
  return texts.join(separator).slice(0, MOST_INPUT);
}

function lastOf(output: string): string {
  const text = output.trim();
  return text.length <= MOST_OUTPUT ? text : `…${text.slice(-MOST_OUTPUT).toWellFormed()}`;
}
