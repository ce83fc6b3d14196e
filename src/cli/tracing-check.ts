import type { DoctorCheck } from './render/doctor-report.ts';

/** Each of these makes LangChain show or send what a graph does. */
const SWITCH = /^(?:LANGSMITH|LANGCHAIN)_(?:TRACING(?:_V2)?|VERBOSE|OTEL_ENABLED|RUNS_ENDPOINTS)$/;

/** Switches of LangChain's that are on, and do nothing in squad. None: no check. Pure. */
export function decideTracingCheck(environment: Readonly<Record<string, string | undefined>>): DoctorCheck[] {
  const set = Object.entries(environment).flatMap(([name, value = '']) =>
    SWITCH.test(name) && !['', '0', 'false'].includes(value.toLowerCase()) ? [name] : [],
  );
  if (set.length === 0) return [];
  const found = `${set.toSorted().join(', ')} set, without effect: squad sends no traces`;
  return [{ name: 'tracing', ok: true, found, problems: [] }];
}
