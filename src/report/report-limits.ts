import { useText } from '../model/amount.ts';
import { capNotes, capUseOf, type CapUse } from '../read-model/cap-use.ts';
import { code, inline } from './markdown.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** The limits that were reached or could not see all use; undefined if there are none. */
export function limitsSection(reading: RunReading): string | undefined {
  const caps = capUseOf(reading);
  const lines = [
    ...caps.filter(({ reached }) => reached).map((cap) => `${useOf(cap)} reached`),
    ...caps.flatMap((cap) => capNotes(cap).map((note) => `${useOf(cap)}: ${inline(note)}`)),
  ];
  return lines.length === 0 ? undefined : `## Limits\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function useOf({ level, name, limit, used, most }: CapUse): string {
  const owner = name === null ? 'The run' : `${level === 'agent' ? 'Agent' : 'Task'} ${code(name)}`;
  return `${owner}: ${limit} ${useText({ cap: limit, used, most })}`;
}
