// A build plugin: Node reads a file of plain ASCII faster, and keeps it in half the memory.

/** Writes every other character as its escape, which means the same in strings, patterns and names. */
export function asciiOnly() {
  return {
    name: 'ascii-only',
    generateBundle(_options: unknown, bundle: Readonly<Record<string, { type: string; code?: string }>>): void {
      for (const output of Object.values(bundle)) {
        if (output.type === 'chunk' && output.code !== undefined) output.code = escapeAll(output.code);
      }
    },
  };
}

function escapeAll(code: string): string {
  const escaped = /\\[^\0-\x7f]|\braw`[^`]*[^\0-\x7f`]/.exec(code);
  if (escaped !== null) throw new Error(`${escaped[0]} would mean something else with an escape in it`);
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
