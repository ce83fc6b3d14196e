import { FAILING_SCENARIOS } from '../runtime-scenarios.ts';
import { insist, type RuntimeCase } from '../runtime-stage.ts';

/** Each failure has its kind and ends within its bound. */
export const FAILURE_CASES: readonly RuntimeCase[] = [
  ...FAILING_SCENARIOS.map(
    ([scenario, kind]): RuntimeCase => ({
      title: `${scenario} ends as ${kind}`,
      scenario,
      check: async (stage) => {
        const end = await stage.run(stage.request());
        insist(end.result.outcome !== 'completed', 'a failed turn completed', end.result);
        insist(end.result.failure?.kind === kind, `the failure is not ${kind}`, end.result);
        insist(end.result.failure.message.length > 0, 'the failure has no message', end.result);
        insist(!end.result.failure.mayHaveActed, 'nothing can have happened', end.result);
        const spoke = end.events.some(({ type }) => type === 'text' || type === 'thinking' || type === 'tool-started');
        insist(spoke || end.result.session === undefined, 'a session that holds nothing would be resumed', end.result);
        insist(end.tookMs <= stage.failureBoundMs, `the failure took ${Math.round(end.tookMs)} ms`, end.result);
        if (scenario === 'usage-limit') {
          insist((end.result.failure.retryAt ?? 0) > Date.now(), 'the stated reset is lost', end.result);
        }
      },
    }),
  ),
  {
    title: 'a denied tool is reported, whatever the agent says afterwards',
    scenario: 'denied',
    check: async (stage) => {
      const end = await stage.run(stage.request({ access: { level: 'read-only' } }));
      const listed = end.result.denials.length > 0;
      const reported = end.events.some((event) => event.type === 'tool-ended' && (event.denied || !event.ok));
      insist(listed || reported, 'the denial is not reported', { result: end.result, events: end.events });
    },
  },
];
