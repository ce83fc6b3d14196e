import { timetableProblem } from '../../text/cron.ts';
import type { Finding } from '../../text/explain-issue.ts';
import { isJsonObject, type Json } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';
import { finding, sameNames } from './agent-findings.ts';

/** Problems of schedules that no schema can say: times and zones that are none, and names that are there twice. */
export function scheduleFindings(schedules: Json, whose: 'repository' | 'own'): Finding[] {
  if (whose === 'own')
    return [finding(['schedules'], 'this file is for all repositories; schedules belong in the squad.yaml of one')];
  if (!Array.isArray(schedules)) return [];
  const timetables = schedules.flatMap((schedule, index) => {
    const { cron, timezone } = isJsonObject(schedule) ? schedule : {};
    if (typeof cron !== 'string' || typeof timezone !== 'string') return [];
    const problem = timetableProblem({ cron, timezone });
    if (problem === undefined) return [];
    const value = problem.key === 'cron' ? cron : timezone;
    return [finding(['schedules', index, problem.key], `${quote(value)} ${problem.why}`)];
  });
  return [...sameNames(schedules, ['schedules'], 'name', 'each schedule needs its own'), ...timetables];
}
