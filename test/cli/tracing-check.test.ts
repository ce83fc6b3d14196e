import { expect, it } from 'vitest';
import { decideTracingCheck } from '../../src/cli/doctor-checks.ts';

it.each([
  {},
  { PATH: '/bin' },
  { LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: '' },
  { LANGSMITH_API_KEY: 'k', MY_LANGSMITH_TRACING: 'true' },
])('says nothing where no switch is on: %j', (environment) => {
  expect(decideTracingCheck(environment)).toEqual([]);
});

it('names the switches that are on, and that they have no effect', () => {
  const environment = { LANGSMITH_TRACING: 'true', LANGCHAIN_VERBOSE: '1', LANGCHAIN_TRACING: 'false' };
  expect(decideTracingCheck(environment)).toEqual([
    {
      name: 'tracing',
      ok: true,
      found:
        'LANGCHAIN_VERBOSE, LANGSMITH_TRACING set without effect: ' +
        'squad sends traces only if --trace or “tracing” in squad.yaml asks for them',
      problems: [],
    },
  ]);
});
