import type { Schedule } from '../../model/schedule.ts';
import { placeIn } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** All that one schedule starts by itself, which a repository could change at any time. `notify`: of the same file, called for its slots. */
export function scheduleItems(
  schedule: Schedule,
  index: number,
  { file, text }: SettingsFile,
  notify?: string,
): TrustItem[] {
  const { name, cron, timezone, objective, from, playbook, skipIf } = schedule;
  const where = `${file}:${placeIn(text, ['schedules', index]).line}`;
  const by = playbook === undefined ? '' : ` with the playbook ${playbook}`;
  const unless = skipIf === undefined ? '' : `, skipped if ${skipIf}`;
  const what = objective ?? 'what the command of its `from` prints';
  const starts = `${name} starts a run${by} at ${cron} in ${timezone}${unless}: ${what}`;
  const runs = [starts, ...(from === undefined ? [] : [`${name} runs the command: ${from}`])];
  return [
    ...runs.map((run): TrustItem => ({ from: 'schedule', run, where })),
    ...(notify === undefined ? [] : [{ from: 'notify' as const, run: notify, where }]),
  ];
}
