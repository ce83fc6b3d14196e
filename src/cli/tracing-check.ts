import type { DoctorCheck } from './render/doctor-report.ts';

/** Each of these variables makes LangChain print or send what a graph does. */
const SWITCH = /^(?:LANGSMITH|LANGCHAIN)_(?:TRACING(?:_V2)?|VERBOSE|OTEL_ENABLED|RUNS_ENDPOINTS)$/;

/** LangChain switches that are on, and have no effect in squad. Returns no check if none is on. Pure. */
export function decideTracingCheck(environment: Readonly<Record<string, string | undefined>>): DoctorCheck[] {
  const set = Object.entries(environment).flatMap(([name, value = '']) =>
    SWITCH.test(name) && !['', '0', 'false'].includes(value.toLowerCase()) ? [name] : [],
  );
  if (set.length === 0) return [];
  const found = `${set.toSorted().join(', ')} set without effect: squad sends no traces`;
  return [{ name: 'tracing', ok: true, found, problems: [] }];
}
