import { useText } from '../model/amount.ts';
import { capUseOf, type CapUse } from '../read-model/cap-use.ts';
import { code, inline } from './markdown.ts';
import type { RunReading } from '../read-model/read-run.ts';

/** Which limits were reached, and which ones could not see everything. */
export function limitsSection(reading: RunReading): string | undefined {
  const caps = capUseOf(reading);
  const lines = [
    ...caps.filter(({ reached }) => reached).map((cap) => `${ownerOf(cap)}: ${useOf(cap)} reached`),
    ...caps
      .filter(({ unknownTurns }) => unknownTurns > 0)
      .map((cap) => `${ownerOf(cap)}: ${useOf(cap)}, with ${turns(cap.unknownTurns)} of unknown use by estimate`),
    ...caps
      .filter(({ blind }) => blind.length > 0)
      .map(
        (cap) => `${ownerOf(cap)}: ${cap.limit} not enforceable for ${cap.blind.map((one) => inline(one)).join(', ')}`,
      ),
  ];
  return lines.length === 0 ? undefined : `## Limits\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function ownerOf({ level, name }: CapUse): string {
  return name === null ? 'The run' : `${level === 'agent' ? 'Agent' : 'Task'} ${code(name)}`;
}

function useOf({ limit, used, most }: CapUse): string {
  return `${limit} ${useText({ cap: limit, used, most })}`;
}

function turns(count: number): string {
  return count === 1 ? '1 turn' : `${count} turns`;
}
