import { z } from 'zod';
import { SCHEDULES_EXAMPLE, schedulesSchema } from '../../model/schedule.ts';
import { commandSchema } from '../../model/settings-text.ts';
import { parseYaml, type YamlResult } from '../../text/yaml-file.ts';
import { scheduleFindings } from './schedule-findings.ts';

const schema = z.looseObject({ schedules: schedulesSchema, notify: commandSchema.optional() });

/** The schedules of a settings file alone, for the service, which knows no runtimes or playbooks. */
export function parseSchedules(text: string, file: string): YamlResult<z.infer<typeof schema>> {
  const source = { file, text, firstLine: 1, examples: { '': SCHEDULES_EXAMPLE, schedules: SCHEDULES_EXAMPLE } };
  return parseYaml(source, schema, (raw) =>
    raw['schedules'] === undefined ? [] : scheduleFindings(raw['schedules'], 'repository'),
  );
}
