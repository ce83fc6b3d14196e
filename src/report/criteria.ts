import { z } from 'zod';
import type { TaskState } from '../model/plan/board.ts';
import type { RunReading } from './read-run.ts';

export const criterionStatusSchema = z.strictObject({
  text: z.string(),
  state: z.enum(['met', 'failed', 'unknown']),
  /** Who established it; null: nobody has. */
  by: z.literal('engine').nullable(),
  evidence: z.string().nullable(),
});
export type CriterionStatus = z.infer<typeof criterionStatusSchema>;

type Sources = Pick<RunReading, 'definition' | 'board' | 'evidence'>;

/**
 * Only a command that the engine itself ran on the run branch says anything. A checkbox, an agent's word and a run from
 * before the branch moved on are no evidence.
 */
export function criteriaOf(reading: Sources): CriterionStatus[] {
  return reading.definition.objective.criteria.map(({ text, command }) => {
    const ran = command === undefined ? undefined : lastRun(reading, command);
    if (ran === undefined) return { text, state: 'unknown', by: null, evidence: null };
    return { text, state: ran.passed ? 'met' : 'failed', by: 'engine', evidence: evidenceOf(ran) };
  });
}

function lastRun({ board, evidence }: Sources, command: string) {
  const checks = [...board.tasks.values()].filter(isCheckOfRunBranch).toReversed();
  for (const { task, work } of checks) {
    const found = evidence.get(task.id);
    // Opened anew, it is to be run again: what it said before no longer counts.
    if (found === undefined || found.stale || work.phase.at !== 'ended') continue;
    const ran = found.facts.commands.find(({ run }) => run === command);
    if (ran !== undefined) return ran;
  }
  return undefined;
}

function isCheckOfRunBranch({ task }: TaskState): boolean {
  return task.kind === 'check' && (typeof task.workspace !== 'object' || task.workspace.read === 'run');
}

function evidenceOf({ run, passed, output }: { run: string; passed: boolean; output: string }): string {
  if (passed) return `${run}: exited with 0`;
  const last = output.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? `${run}: failed` : `${run}: failed: ${last}`;
}
