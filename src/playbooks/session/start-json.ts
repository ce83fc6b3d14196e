import { exactJson } from '../../text/exact-json.ts';
import type { Json } from '../../text/json.ts';
import { INDEX_FILE, MEMORY_FILE } from './finding.ts';
import type { SessionStart } from './session.ts';

/** The memory that the folder held, with its numbers as they stood there. Only to be written. */
export function startMemory({ memory, texts }: SessionStart): SessionStart['memory'] {
  return (exactIn(texts, MEMORY_FILE) as SessionStart['memory'] | undefined) ?? memory;
}

/** The `cache-index.json` that the folder held, with its numbers as they were written. Only to be written. */
export function startIndexFile({ explorations, texts }: SessionStart): Json {
  return exactIn(texts, INDEX_FILE) ?? explorations.index;
}

function exactIn(texts: SessionStart['texts'], file: string): Json | undefined {
  const text = texts?.[file];
  return text === undefined ? undefined : exactJson(text);
}
