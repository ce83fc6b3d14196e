const MOST_LENGTH = 300;
const MOST_PATH = 4096;
const MOST_PARTS = 20;

/** From what says most about a call to what says least. */
const KEYS = [
  'command',
  'argv',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'question',
  'summary',
];

/** The folder of a task: `…/squad/<repository>-<hash>/<run>/<task>/`. */
const TASK_FOLDER = /^\/(?:.*?\/)?squad\/[^/]+-[0-9a-f]{8}\/[^/]+\/[^/]+\/(?=.)/;

/** The part of a tool's input by which people recognise a call. The rest may be large, or too deep for JSON. A file of a task is named from its folder. */
export function toolTarget(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  for (const key of KEYS) {
    const value: unknown = Reflect.get(input, key);
    if (typeof value === 'string') return value.slice(0, MOST_PATH).replace(TASK_FOLDER, '').slice(0, MOST_LENGTH);
    if (Array.isArray(value)) return joined(value, ' ');
  }
  const changes: unknown = Reflect.get(input, 'changes');
  return Array.isArray(changes) ? joined(changes.slice(0, MOST_PARTS).map(toolTarget), ', ') : '';
}

function joined(parts: readonly unknown[], separator: string): string {
  const texts = parts.slice(0, MOST_PARTS).filter((part) => typeof part === 'string');
  return texts.join(separator).slice(0, MOST_LENGTH);
}
